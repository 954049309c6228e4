/** `migrate`: brings the store's schema to this version, or says what it has. The only command that needs the store. */
import { HealthError } from '../../receipts/errors.ts';
import type { SchemaState } from '../../receipts/postgres/index.ts';
import type { Configuration } from './configuration.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import { EXIT } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { write } from './output.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';
import { lines } from './table.ts';

export function addMigrate(program: Program, finish: Finish): void {
  const group = program
    .command('migrate')
    .description("bring the store's schema to this version")
    .addHelpText('before', examples('migrate', 'migrate status'));
  group
    .command('up', { isDefault: true })
    .description('apply what is missing; two at once are safe')
    .addHelpText('before', examples('migrate', 'migrate up -o json'))
    .action(async (_options, command) => {
      finish(await up(contextOf(command.optsWithGlobals())));
    });
  group
    .command('status')
    .description('what the database has and needs; changes nothing')
    .addHelpText('before', examples('migrate status', 'migrate status -o json'))
    .action(async (_options, command) => {
      finish(await status(contextOf(command.optsWithGlobals())));
    });
}

/** @throws HealthError CONFIG_MISSING */
export function requireDatabase({ databaseUrl }: Configuration): string {
  if (databaseUrl !== null) return databaseUrl;
  throw new HealthError(
    'CONFIG_MISSING',
    'No database is given: set TEMPORAL_HEALTH_DATABASE_URL, or --database-url.',
    {
      field: 'TEMPORAL_HEALTH_DATABASE_URL',
      hint: "For example postgres://user@host:5432/database. An application's DATABASE_URL is never used.",
    },
  );
}

async function up(context: Context): Promise<ExitCode> {
  const { migrate } = await import('../../receipts/postgres/index.ts');
  const report = await migrate(requireDatabase(context.configuration()));
  const text = [
    ...report.applied.map((name) => `applied ${name}`),
    report.applied.length === 0 ? `Nothing to do: version ${report.to}.` : `Version ${report.from} to ${report.to}.`,
  ];
  await print(context, text, report);
  return EXIT.done;
}

const SAYS: Readonly<Record<SchemaState, string>> = {
  missing: 'no schema yet; run: temporal-health migrate',
  older: 'older than this version; run: temporal-health migrate',
  current: 'up to date',
  newer: 'newer than this version; use a later temporal-health',
  changed: 'made by other files than this version has',
};

async function status(context: Context): Promise<ExitCode> {
  const { schemaStatus } = await import('../../receipts/postgres/index.ts');
  const found = await schemaStatus(requireDatabase(context.configuration()));
  const text = [
    `${SAYS[found.state]} (needed ${found.need}, found ${found.have})`,
    ...found.pending.map((name) => `pending ${name}`),
    ...found.changed.map((name) => `changed ${name}`),
  ];
  await print(context, text, found);
  return found.state === 'current' ? EXIT.done : EXIT.failure;
}

async function print({ format }: Context, text: readonly string[], document: object): Promise<void> {
  if (format === 'text') await write(lines(text));
  else if (format !== 'none') await write(`${JSON.stringify({ schemaVersion: 1, ...document })}\n`);
}
