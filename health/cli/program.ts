/**
 * The command's frame: its global flags, which may stand before or after the subcommand (the Temporal CLI moves `-o` and
 * `--profile` to the front when it runs us as `temporal health …`), and how commander's own refusals become ours.
 */
import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { HealthError } from '../../receipts/errors.ts';
import { examples } from './examples.ts';
import { COLOR_WISHES, OUTPUTS } from './output.ts';
import { TIME_FORMATS } from './times.ts';

const repeated = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value];

/** Commands of ours, in the order of the help text. */
export function createProgram() {
  return new Command('temporal-health')
    .description('Says how Temporal runs really are: working, waiting, stuck, uncertain, false-success or healthy.')
    .addHelpText('before', examples('report', 'explain -w crawl-7'))
    .addOption(new Option('-o, --output <format>', 'form of the output').choices(OUTPUTS))
    .option('-n, --namespace <name>', 'Temporal namespace (env: TEMPORAL_NAMESPACE)')
    .option('--address <host:port>', 'Temporal frontend (env: TEMPORAL_ADDRESS; default: localhost:7233)')
    .option('--profile <name>', "profile of Temporal's configuration file (env: TEMPORAL_PROFILE)")
    .addOption(new Option('--env <name>', "the Temporal CLI's own environments; use --profile").hideHelp())
    .option('--config-file <path>', "Temporal's configuration file (env: TEMPORAL_CONFIG_FILE)")
    .addOption(new Option('--disable-config-file', 'read no configuration file').conflicts(['configFile', 'profile']))
    .option('--disable-config-env', 'read no TEMPORAL_* connection settings')
    .option('--api-key <key>', 'API key (env: TEMPORAL_API_KEY)')
    .addOption(new Option('--tls', 'use TLS').conflicts('disableTls'))
    .addOption(new Option('--disable-tls', 'use no TLS, whatever the profile says'))
    .option('--tls-server-name <name>', 'name expected in the server certificate')
    .addOption(new Option('--tls-cert-path <path>', 'client certificate').conflicts(['tlsCertData', 'disableTls']))
    .addOption(new Option('--tls-cert-data <pem>', 'client certificate, inline').conflicts('disableTls'))
    .addOption(new Option('--tls-key-path <path>', 'client key').conflicts(['tlsKeyData', 'disableTls']))
    .addOption(new Option('--tls-key-data <pem>', 'client key, inline').conflicts('disableTls'))
    .addOption(new Option('--tls-ca-path <path>', 'CA of the server').conflicts(['tlsCaData', 'disableTls']))
    .addOption(new Option('--tls-ca-data <pem>', 'CA of the server, inline').conflicts('disableTls'))
    .option('--grpc-meta <key=value>', 'header of every call, repeatable', repeated)
    .option(
      '--command-timeout <seconds>',
      'longest time of one call to Temporal or Postgres (default: 10)',
      lengthOfTime,
    )
    .option('--client-connect-timeout <seconds>', 'longest time to connect (default: 5)', lengthOfTime)
    .option('--database-url <url>', 'store of receipts (env: TEMPORAL_HEALTH_DATABASE_URL)')
    .addOption(new Option('--time-format <format>', 'times in text output').choices(TIME_FORMATS))
    .addOption(new Option('--color <when>', 'colours in text output').choices(COLOR_WISHES))
    .option('--no-header', 'no header lines in text output')
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: false })
    .helpCommand('help [command]', 'help for a command')
    .exitOverride();
}

export type Program = ReturnType<typeof createProgram>;
export type GlobalOptions = ReturnType<Program['opts']>;

/** A Go duration as Temporal's own flags take it, or a bare number of seconds; in ms. @throws HealthError USAGE */
export function lengthOfTime(text: string): number {
  const parts = /^\d+(?:\.\d+)?$/.test(text) ? [`${text}s`] : (text.match(/\d+(?:\.\d+)?(?:ms|s|m|h)/g) ?? []);
  const whole = parts.join('') === (parts.length === 1 && /\d$/.test(text) ? `${text}s` : text);
  const ms = parts.reduce((sum, part) => sum + Number.parseFloat(part) * (UNIT_MS[part.replace(/[\d.]/g, '')] ?? 0), 0);
  if (!whole || !(ms > 0)) throw usage(`'${text}' is not a length of time, for example 10s.`);
  return ms;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function usage(message: string, hint?: string): HealthError {
  return new HealthError('USAGE', message, hint === undefined ? {} : { hint });
}

/** A whole number from `least` to `most`. @throws HealthError USAGE, LIMIT_REQUIRED above `most`. */
export function wholeNumber(flag: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least)) throw usage(`${flag} takes a whole number from ${least} to ${most}.`);
    if (value > most) {
      throw new HealthError('LIMIT_REQUIRED', `${flag} may be ${most} at most.`, {
        field: flag,
        limit: most,
        hint: 'Narrow it with --query or --type, or read everything as -o jsonl, which is a stream.',
      });
    }
    return value;
  };
}

/** Help and version are no failures: commander has printed them. */
export function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}

/** Commander's refusals: its sentence, with its suggestion, under our code. */
export function usageOf(error: unknown): HealthError | null {
  if (!(error instanceof CommanderError)) return null;
  const said = error.message.replace(/^error: /, '').trim();
  const [first = '', ...rest] = said.split('\n');
  const message = first.replace(/\.$/, '');
  return usage(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`, rest.join(' ') || 'See: temporal-health help');
}
