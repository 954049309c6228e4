/** What `doctor` looks at: what stands between this machine and a right report, one line each, with the exact remedy. */
import { isHealthError } from '../../receipts/errors.ts';
import type { HealthError } from '../../receipts/errors.ts';
import { openPostgresStore, registeredTypes, schemaStatus } from '../../receipts/postgres/index.ts';
import { terminalText } from '../../receipts/text.ts';
import { temporalError } from '../gather.ts';
import { DEFAULT_POLICY } from '../policy.ts';
import type { Configuration } from './configuration.ts';
import { CONFIG_VARIABLE, loadConfigModule } from './config-module.ts';
import type { Context } from './context.ts';
import { asHealthError, EXIT, exitCodeOf } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { dim, inColor, write } from './output.ts';
import { openTemporal } from './sources.ts';
import type { OpenTemporal } from './sources.ts';
import { lines } from './table.ts';
import { lengthText } from './times.ts';
import { packageVersion } from './version.ts';

interface Line {
  readonly name: string;
  /** `note` is shown and changes nothing. */
  readonly state: 'ok' | 'note' | 'fail';
  readonly says: string;
  readonly fix?: string;
  readonly exit?: ExitCode;
}

/** Task queues that are looked at, found among this many open runs. */
const QUEUES = 10;
const RUNS = 200;

export async function examine(context: Context): Promise<ExitCode> {
  const found = await lookAtAll(context);
  await print(found, context);
  const failed = found.filter(({ state }) => state === 'fail');
  if (failed.some(({ exit }) => exit === EXIT.unreachable)) return EXIT.unreachable;
  return failed.length > 0 ? EXIT.failure : EXIT.done;
}

async function lookAtAll(context: Context): Promise<readonly Line[]> {
  const configuration = context.configuration();
  const all: Line[] = [ok('node', `${process.versions.node}, temporal-health ${packageVersion()}`)];
  if (configuration.discovered) all.push(note('environment', 'the local environment of this checkout'));
  const temporal = await openTemporal(configuration).catch((error: unknown) => asHealthError(error));
  if (isHealthError(temporal)) all.push(fail('temporal', temporal));
  else all.push(...(await temporalLines(temporal, configuration)));
  all.push(...(await storeLines(configuration, isHealthError(temporal) ? null : temporal.clusterId)));
  all.push(await moduleLine());
  if (!isHealthError(temporal)) await temporal.connection.close();
  return all;
}

const ok = (name: string, says: string): Line => ({ name, state: 'ok', says });
const note = (name: string, says: string): Line => ({ name, state: 'note', says });

function fail(name: string, error: HealthError): Line {
  const { message, hint, code } = error;
  return {
    name,
    state: 'fail',
    says: `${message} (${code})`,
    ...(hint === undefined ? {} : { fix: hint }),
    exit: exitCodeOf(error),
  };
}

async function temporalLines(
  { connection, clusterId, reader }: OpenTemporal,
  { address, namespace, callTimeoutMs }: Configuration,
): Promise<readonly Line[]> {
  const all: Line[] = [];
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    all.push(ok('temporal', `${address}, server ${serverVersion}`), ok('cluster', clusterId));
    await connection.withDeadline(Date.now() + callTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    all.push(ok('namespace', namespace));
    const { runs } = await reader.list(namespace, 'ExecutionStatus = "Running"', RUNS, null);
    const queues = [...new Set(runs.map(({ taskQueue }) => taskQueue))].filter((name) => name !== null);
    for (const name of queues.slice(0, QUEUES)) all.push(await queueLine(name, namespace, reader));
  } catch (error) {
    all.push(fail('temporal', temporalError(error, address)));
  }
  return all;
}

async function queueLine(name: string, namespace: string, reader: OpenTemporal['reader']): Promise<Line> {
  const kinds = ['workflow', 'activity'] as const;
  const states = await Promise.all(kinds.map((kind) => reader.taskQueue(namespace, { name, kind })));
  const nowMs = Date.now();
  const says = states.map(({ kind, lastPollAtMs }) =>
    lastPollAtMs === null ? `no ${kind} worker` : `${kind} worker polled ${lengthText(nowMs - lastPollAtMs)} ago`,
  );
  const workflow = states[0]?.lastPollAtMs ?? null;
  const served = workflow !== null && nowMs - workflow < DEFAULT_POLICY.noPollerGraceMs;
  const line = { name: 'task queue', says: `${name}: ${says.join(', ')}` };
  return served ? { ...line, state: 'ok' } : { ...line, state: 'fail', fix: `Start a worker on task queue ${name}.` };
}

async function storeLines(configuration: Configuration, clusterId: string | null): Promise<readonly Line[]> {
  const { databaseUrl, namespace } = configuration;
  if (databaseUrl === null) {
    return [
      note('store', 'none: set TEMPORAL_HEALTH_DATABASE_URL for receipts; without them only Temporal itself is judged'),
    ];
  }
  try {
    const status = await schemaStatus(databaseUrl);
    if (status.state !== 'current') {
      return [
        ok('postgres', 'reachable'),
        {
          name: 'schema',
          state: 'fail',
          says: `${status.state} (needed ${status.need}, found ${status.have})`,
          fix:
            status.state === 'missing' || status.state === 'older'
              ? 'Run: temporal-health migrate'
              : 'Use the temporal-health that migrated it, or a later one.',
        },
      ];
    }
    const all = [ok('postgres', 'reachable'), ok('schema', `version ${status.have}`)];
    return [...all, ...(await contactLines(databaseUrl, clusterId, namespace))];
  } catch (error) {
    return [fail('postgres', asHealthError(error))];
  }
}

async function contactLines(url: string, clusterId: string | null, namespace: string): Promise<readonly Line[]> {
  const store = openPostgresStore({ url, clusterId: clusterId ?? 'unknown' });
  const all: Line[] = [];
  try {
    await store.readGaps(namespace, Date.now());
    all.push(ok('settings', 'fsync, full_page_writes and synchronous_commit are on'));
    const apart = store.nowMs() - Date.now();
    const says = `the store's is ${lengthText(Math.abs(apart))} ${apart < 0 ? 'behind' : 'ahead of'} this machine's`;
    all.push(
      Math.abs(apart) <= DEFAULT_POLICY.skewMs
        ? ok('clock', says)
        : { name: 'clock', state: 'fail', says, fix: 'Let a time service set both clocks.' },
    );
  } catch (error) {
    all.push(fail('settings', asHealthError(error)));
  } finally {
    await store.close();
  }
  if (clusterId === null) return all;
  const types = await registeredTypes(url, clusterId, namespace);
  const says = types.length === 0 ? 'none registered: a worker with HealthPlugin registers them' : types.join(', ');
  return [...all, types.length === 0 ? note('contracts', says) : ok('contracts', says)];
}

async function moduleLine(): Promise<Line> {
  try {
    const module = await loadConfigModule(process.env);
    if (module === null) return note('checks', `${CONFIG_VARIABLE} is not set: \`explain\` runs no check by itself`);
    const locates = module.locate === null ? 'does not say where results lie' : 'says where results lie';
    return ok('checks', `${module.contracts.length} contracts, and ${locates}`);
  } catch (error) {
    return fail('checks', asHealthError(error));
  }
}

async function print(found: readonly Line[], { format, terminal }: Context): Promise<void> {
  if (format === 'json') {
    const checks = found.map(({ name, state, says, fix }) => ({ name, state, says, ...(fix ? { fix } : {}) }));
    await write(`${JSON.stringify({ schemaVersion: 1, checks }, null, 2)}\n`);
  } else if (format === 'jsonl') {
    await write(lines(found.map(({ name, state, says, fix }) => JSON.stringify({ name, state, says, fix }))));
  } else if (format === 'text') {
    const width = Math.max(...found.map(({ name }) => name.length));
    const words = {
      ok: inColor('healthy', 'ok  ', terminal),
      note: dim('note', terminal),
      fail: inColor('stuck', 'FAIL', terminal),
    };
    const text = found.flatMap(({ name, state, says, fix }) => [
      `${words[state]}  ${name.padEnd(width)}  ${terminalText(says)}`,
      ...(fix === undefined ? [] : [`${' '.repeat(width + 8)}${terminalText(fix)}`]),
    ]);
    await write(lines(text));
  }
}
