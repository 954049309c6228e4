/**
 * The parts of the local stack: Temporal, Postgres, the worker. Each is brought up in the same way: the one that runs and
 * answers is kept; one that runs and does not answer, or whose record was lost, is ended; else it is started, on the
 * ports of last time if they are free. What this command started itself is remembered, so that a failure takes back
 * exactly that.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ensureDatabase, startPostgres } from './postgres.ts';
import {
  DevServerError,
  endProcess,
  isPortFree,
  processesRunning,
  signal,
  waitForExit,
  waitUntil,
} from './processes.ts';
import { changeState, readState, recordOf, runs } from './stack-state.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { endTemporal, startTemporal, temporalAnswers } from './temporal-server.ts';

export interface StackPlace {
  /** The checkout. */
  root: string;
  stateDir: string;
  env: NodeJS.ProcessEnv;
  /** The program of the worker; the checkout's `worker.ts` unless a test has another. */
  workerFile: string;
  note: (line: string) => void;
  /** True once somebody asked this command to end: long waits look at it. */
  interrupted: () => boolean;
  /** What this command started, to be ended in the reverse order. */
  started: { part: string; pid: number; end: () => Promise<void> }[];
}

export interface StackAddresses {
  temporal: string;
  webUi: string;
  databaseUrl: string;
  /** Where the worker promises its reports, and where a check made by the command must look for them. */
  outputRoot: string;
}

export const DATABASE = 'temporal_health';
const USUAL_PORTS = { temporal: 7233, ui: 8233, postgres: 15432 };
const WORKER_MARK = '--of-the-local-stack';
const WORKER_TIMEOUT_MS = 120_000;

export const placesOf = (stateDir: string) => ({
  database: join(stateDir, 'temporal.db'),
  postgres: join(stateDir, 'postgres'),
  temporalLog: join(stateDir, 'temporal.log'),
  workerLog: join(stateDir, 'worker.log'),
  bin: join(stateDir, 'bin'),
});

type PortName = keyof typeof USUAL_PORTS;

/** Last time's port, else the usual one, else any: a taken port moves the part and never stops the start. */
async function portFor(place: StackPlace, name: PortName, label: string): Promise<number | 'free'> {
  const wished = [readState(place.stateDir).ports[name], USUAL_PORTS[name]];
  for (const port of wished) {
    if (port !== undefined && (await isPortFree(port))) return port;
  }
  place.note(`port ${USUAL_PORTS[name]} is taken by another program: ${label} gets another one`);
  return 'free';
}

function remember(place: StackPlace, part: string, pid: number, end: () => Promise<void>): void {
  place.started.push({ part, pid, end });
}

export async function bringUpTemporal(place: StackPlace): Promise<void> {
  const { stateDir, note } = place;
  const { database, temporalLog } = placesOf(stateDir);
  const cli = await findTemporalCli({ env: place.env, onNote: note });
  const { temporal: known } = changeState(stateDir, { cli: cli.path });
  if (known !== undefined && runs(known)) {
    if (await waitUntil(() => temporalAnswers(known.address), 10_000)) return;
    note('Temporal runs but does not answer: it is started anew');
  }
  // Two servers on one database file would ruin it.
  for (const pid of processesRunning(`--db-filename ${database}`)) await endTemporal(pid);
  const server = await startTemporal({
    cli: cli.path,
    logFile: temporalLog,
    dbFile: database,
    port: await portFor(place, 'temporal', 'Temporal'),
    uiPort: await portFor(place, 'ui', "Temporal's Web UI"),
  });
  remember(place, 'Temporal', server.pid, () => server.stop());
  const { address, port, pid, uiAddress = '', uiPort = 0 } = server;
  const { ports } = readState(stateDir);
  changeState(stateDir, {
    temporal: { ...recordOf(pid), address, port, uiAddress, uiPort },
    ports: { ...ports, temporal: port, ui: uiPort },
  });
}

/** Fails with the reason in words when the database cannot be used; the address is shown without its password. */
async function requireDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer';
    throw new DevServerError(
      'POSTGRES_UNREACHABLE',
      `The database of TEMPORAL_HEALTH_DATABASE_URL (${withoutPassword(url)}) does not answer: ${reason}. ` +
        'Start it, correct the address, or unset the variable to get a PostgreSQL of this checkout.',
      { cause },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'an address that cannot be read';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  for (const name of [...parsed.searchParams.keys()]) if (/password/i.test(name)) parsed.searchParams.set(name, '***');
  return parsed.toString();
}

export async function bringUpPostgres(place: StackPlace): Promise<void> {
  const { stateDir, env, note } = place;
  const given = env['TEMPORAL_HEALTH_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    await requireDatabase(given);
    changeState(stateDir, { postgres: { url: given } });
    return;
  }
  const dataDir = placesOf(stateDir).postgres;
  const known = readState(stateDir).postgres;
  if (known !== undefined && known.pid === undefined) {
    // Receipts so far lie there: nobody should wonder where they are.
    note(
      `TEMPORAL_HEALTH_DATABASE_URL is not set any more: from ${withoutPassword(known.url)} to one of this checkout`,
    );
  }
  const server = await startPostgres({
    dataDir,
    port: runs(known) ? 'free' : await portFor(place, 'postgres', 'Postgres'),
  });
  if (!server.reused) remember(place, 'Postgres', server.pid, () => server.stop());
  const url = await ensureDatabase(server, DATABASE);
  const { ports } = readState(stateDir);
  changeState(stateDir, {
    postgres: { ...recordOf(server.pid), url },
    ports: { ...ports, postgres: server.port },
  });
}

export async function bringUpSchema({ stateDir, note }: StackPlace): Promise<void> {
  const { postgres } = readState(stateDir);
  const { migrate } = await import('../../receipts/postgres/migrate.ts');
  try {
    const { applied } = await migrate(postgres?.url ?? '');
    if (applied.length > 0) note(`the store has its schema (${applied.length} migrations)`);
  } catch (error) {
    // Ours to remove: what another version of this checkout stored here is no loss to anybody else.
    if (postgres?.pid !== undefined) note('"./temporal-dev.sh reset" removes this database, to start with a fresh one');
    throw error;
  }
}

export function addressesOf({ stateDir, env }: StackPlace): StackAddresses | undefined {
  const { temporal, postgres } = readState(stateDir);
  const outputRoot = env['TEMPORAL_HEALTH_OUTPUT_ROOT'] || join(stateDir, 'output');
  if (temporal === undefined || postgres === undefined) return undefined;
  return { temporal: temporal.address, webUi: temporal.uiAddress, databaseUrl: postgres.url, outputRoot };
}

/** Holds what `env` of a local stack has put into the shell: a JSON list of values. */
export const STACK_VARIABLE = 'TEMPORAL_HEALTH_LOCAL_STACK';

/**
 * The variables as a person set them. What an earlier `env` left in the shell is no wish: its database would be taken for
 * somebody else's, and after `down` nothing could start for want of it.
 */
export function personsEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const values = stackValues(env[STACK_VARIABLE]);
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name !== STACK_VARIABLE && !values.includes(value ?? '')),
  );
}

function stackValues(text: string | undefined): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(values) ? values : [];
  } catch {
    return []; // Not ours, so nothing is known to be from us.
  }
}

/**
 * The variables that lead every program of ours to this stack. A person's other TEMPORAL_* variables (a profile, an
 * API key) are for another cluster and are left out; the settings of this product stay.
 */
export function stackEnvironment(env: NodeJS.ProcessEnv, addresses: StackAddresses): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('TEMPORAL_') || name.startsWith('TEMPORAL_HEALTH_'),
  );
  return {
    ...Object.fromEntries(kept),
    TEMPORAL_ADDRESS: addresses.temporal,
    TEMPORAL_NAMESPACE: 'default',
    TEMPORAL_HEALTH_DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_HEALTH_OUTPUT_ROOT: addresses.outputRoot,
  };
}

export async function endWorker(pid: number): Promise<void> {
  const gone = await endProcess(pid, [['SIGTERM', 20_000]]);
  if (gone) return;
  signal(-pid, 'SIGKILL');
  signal(pid, 'SIGKILL');
  await waitForExit(pid, 5_000);
}

/**
 * What the command line of this stack's worker holds, whichever program it is. The folder is part of it, since a checkout may
 * have several stacks; the mark stands behind it, so that one folder's name may begin with another's.
 */
const workerArguments = ({ stateDir }: StackPlace): string[] => ['--state-dir', stateDir, WORKER_MARK];
export const workerMark = (place: StackPlace): string => ` ${workerArguments(place).join(' ')}`;

export async function bringUpWorker(place: StackPlace): Promise<void> {
  const { stateDir, workerFile } = place;
  const addresses = addressesOf(place);
  if (addresses === undefined)
    throw new DevServerError('STACK_NOT_UP', 'The worker needs Temporal and Postgres first.');
  // A worker of somebody's own may write there before any of ours has.
  mkdirSync(addresses.outputRoot, { recursive: true });
  const { worker: known } = readState(stateDir);
  const fits = known?.address === addresses.temporal && known.url === addresses.databaseUrl;
  if (runs(known) && fits) return;
  for (const pid of processesRunning(workerMark(place))) await endWorker(pid);
  if (!existsSync(workerFile)) throw new DevServerError('WORKER_START_FAILED', `${workerFile} is missing.`);
  const pid = await startWorker(place, addresses);
  const { temporal: address, databaseUrl: url } = addresses;
  changeState(stateDir, { worker: { ...recordOf(pid), address, url } });
}

async function startWorker(place: StackPlace, addresses: StackAddresses): Promise<number> {
  const { workerLog } = placesOf(place.stateDir);
  const logStart = existsSync(workerLog) ? statSync(workerLog).size : 0;
  const log = openSync(workerLog, 'a', 0o600);
  const child = spawn(process.execPath, ['--import', 'tsx', place.workerFile, ...workerArguments(place)], {
    cwd: place.root,
    env: stackEnvironment(place.env, addresses),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  let end: string | undefined;
  child.once('error', (error) => (end = error.message));
  child.once('exit', (code, name) => (end = `it ended with ${String(code ?? name)}`));
  const said = (): string => readFileSync(workerLog).subarray(logStart).toString();
  const isReady = (): boolean => said().includes('worker ready');
  await waitUntil(() => end !== undefined || isReady() || place.interrupted(), WORKER_TIMEOUT_MS);
  const pid = child.pid ?? -1;
  if (end === undefined && isReady()) {
    remember(place, 'the worker', pid, () => endWorker(pid));
    return pid;
  }
  if (end === undefined) await endWorker(pid);
  const lines = said().trim().split('\n').slice(-12).join('\n  ');
  throw new DevServerError(
    'WORKER_START_FAILED',
    `The worker did not start: ${end ?? `it was not ready within ${WORKER_TIMEOUT_MS / 1000} s`}. ` +
      `What it said last is below and in ${workerLog}.\n  ${lines}`,
  );
}
