/** What every command is given: the merged flags, the form of its output, and where to connect. */
import { configurationOf } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { terminalOf } from './output.ts';
import type { OutputFormat, Terminal } from './output.ts';
import { usage } from './program.ts';
import type { GlobalOptions } from './program.ts';
import type { ExitCode } from './errors.ts';
import type { TimeFormat } from './times.ts';

export interface Context {
  readonly format: OutputFormat;
  readonly terminal: Terminal;
  readonly timeFormat: TimeFormat;
  readonly header: boolean;
  /** Read when it is needed: `classify`, `schema` and `version` work with a broken configuration. */
  readonly configuration: () => Configuration;
}

const ENV_REMEDY =
  'Put it into a profile, for example: temporal config set --profile NAME --prop address --value HOST:7233; then give --profile.';

/** How a command hands its exit code back. */
export type Finish = (code: ExitCode) => void;

/** @throws HealthError USAGE for `-o nagios` where a command gives no state of health. */
export function contextOf(options: GlobalOptions, defaultFormat: OutputFormat = 'text', nagios = false): Context {
  if (options.output === 'nagios' && !nagios) throw usage('-o nagios is for report, explain and wait-for.');
  if (options.env !== undefined)
    throw usage('--env names an environment that only the Temporal CLI reads.', ENV_REMEDY);
  return {
    format: options.output ?? defaultFormat,
    terminal: terminalOf(options.color ?? 'auto', process.env),
    timeFormat: options.timeFormat ?? 'relative',
    header: options.header,
    configuration: () => configurationOf(options, process.env),
  };
}
