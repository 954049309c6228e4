/**
 * Starts the Temporal development server on the loopback, in a process group of its own, and says when it can be used:
 * its namespace answers and the search attributes are there. A file database runs in WAL mode, so that what the server
 * has acknowledged survives a SIGKILL.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Connection } from '@temporalio/client';
import { DevServerError, endProcess, freePort, isPortFree, signal, waitForExit, waitUntil } from './processes.ts';

export type SearchAttributeType = 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList';

export interface TemporalOptions {
  /** The Temporal CLI's executable. */
  cli: string;
  /** What the server says goes to the end of this file. */
  logFile: string;
  /** The database file; without one everything is in memory and gone with the process. */
  dbFile?: string;
  /** Default: `'free'`. */
  port?: number | 'free';
  /** Default: `'free'`; unused when headless. */
  uiPort?: number | 'free';
  headless?: boolean;
  searchAttributes?: Readonly<Record<string, SearchAttributeType>>;
  /** Over the ones that the health layer needs; values are written as JSON. */
  dynamicConfig?: Readonly<Record<string, unknown>>;
}

export interface TemporalServer {
  /** For example `127.0.0.1:7233`. */
  address: string;
  port: number;
  /** The Web UI, or `undefined` when headless. */
  uiAddress: string | undefined;
  uiPort: number | undefined;
  pid: number;
  stop(): Promise<void>;
  /** SIGKILL to the whole group; resolves when it is gone. */
  kill(): Promise<void>;
}

const START_TIMEOUT_MS = 90_000;
const START_TRIES = 4;
/** Cancellation of an activity that does not heartbeat, and pausing of workflows. */
const DYNAMIC_CONFIG: Readonly<Record<string, unknown>> = {
  'frontend.WorkerCommandsEnabled': true,
  'system.enableCancelActivityWorkerCommand': true,
  'frontend.WorkflowPauseEnabled': true,
};

interface Ports {
  grpc: number;
  ui: number | undefined;
}

function argumentsOf(options: TemporalOptions, ports: Ports): string[] {
  const pairs = (flag: string, values: Readonly<Record<string, string>>): string[] =>
    Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  const config = Object.entries({ ...DYNAMIC_CONFIG, ...options.dynamicConfig });
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(ports.grpc), '--disable-config-file'],
    ...(ports.ui === undefined ? ['--headless'] : ['--ui-port', String(ports.ui), '--ui-disable-news-fetch']),
    ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile]),
    ...(options.dbFile === undefined ? [] : pairs('--sqlite-pragma', { journal_mode: 'WAL', synchronous: 'NORMAL' })),
    ...pairs('--search-attribute', options.searchAttributes ?? {}),
    ...config.flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${JSON.stringify(value)}`]),
  ];
}

/** A person's TEMPORAL_* variables are for clients of their cluster; this server must not read them. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** True when the server at this address answers for the namespace `default` and knows these search attributes. */
export async function temporalAnswers(address: string, searchAttributes: readonly string[] = []): Promise<boolean> {
  // Loaded on use: it takes longer than the commands that only look at a record.
  const client = await import('@temporalio/client');
  let connection: Connection | undefined;
  try {
    connection = await client.Connection.connect({ address, connectTimeout: '3s' });
    const { workflowService, operatorService } = connection;
    return await connection.withDeadline(Date.now() + 5_000, async () => {
      await workflowService.describeNamespace({ namespace: 'default' });
      const { customAttributes } = await operatorService.listSearchAttributes({ namespace: 'default' });
      return searchAttributes.every((name) => name in customAttributes);
    });
  } catch {
    return false; // Refused, not ready or not Temporal: all of them are "not yet" to the one who waits.
  } finally {
    await connection?.close().catch(() => undefined);
  }
}

async function choosePort(wished: number | 'free' | undefined, purpose: string): Promise<number> {
  if (wished === undefined || wished === 'free') return freePort();
  if (await isPortFree(wished)) return wished;
  throw new DevServerError(
    'TEMPORAL_PORT_TAKEN',
    `Port ${wished} for ${purpose} is held by another program. End that program, or choose another port.`,
  );
}

function startFailed(what: string, log: string, options: TemporalOptions): DevServerError {
  const lines = log.trim().split('\n').slice(-8).join('\n  ');
  const remedy =
    options.dbFile === undefined || /address already in use/.test(log)
      ? 'Start it again.'
      : `If it is the database (a file may not survive a change of the CLI version), remove ${options.dbFile} to start anew.`;
  return new DevServerError('TEMPORAL_START_FAILED', `Temporal did not start: ${what}. ${remedy}\n  ${lines}`);
}

export async function endTemporal(pid: number): Promise<void> {
  const gone = await endProcess(pid, [
    ['SIGINT', 10_000],
    ['SIGTERM', 3_000],
  ]);
  if (!gone) await killTemporal(pid);
}

async function killTemporal(pid: number): Promise<void> {
  signal(-pid, 'SIGKILL');
  signal(pid, 'SIGKILL');
  await waitForExit(pid, 10_000);
}

/** One try; `undefined` when a port was taken between the choice and the start. */
async function launch(options: TemporalOptions, ports: Ports): Promise<TemporalServer | undefined> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const logStart = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
  const log = openSync(options.logFile, 'a', 0o600);
  const child = spawn(options.cli, argumentsOf(options, ports), {
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  let end: string | undefined;
  child.once('error', (error) => (end = error.message));
  child.once('exit', (code, name) => (end = `the server ended with ${String(code ?? name)}`));
  const address = `127.0.0.1:${ports.grpc}`;
  const attributes = Object.keys(options.searchAttributes ?? {});
  const settled = await waitUntil(
    async () => end !== undefined || (await temporalAnswers(address, attributes)),
    START_TIMEOUT_MS,
  );
  const pid = child.pid ?? -1;
  if (settled && end === undefined) {
    const uiAddress = ports.ui === undefined ? undefined : `http://127.0.0.1:${ports.ui}`;
    return {
      address,
      port: ports.grpc,
      uiAddress,
      uiPort: ports.ui,
      pid,
      stop: () => endTemporal(pid),
      kill: () => killTemporal(pid),
    };
  }
  if (!settled) await killTemporal(pid);
  const written = readFileSync(options.logFile).subarray(logStart).toString();
  if (/address already in use/.test(written)) return undefined;
  throw startFailed(end ?? `it did not answer within ${START_TIMEOUT_MS / 1000} s`, written, options);
}

/** @throws DevServerError `TEMPORAL_PORT_TAKEN`, `TEMPORAL_START_FAILED`. */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  for (let round = 0; round < START_TRIES; round += 1) {
    const grpc = await choosePort(options.port, 'Temporal');
    const ui = options.headless === true ? undefined : await choosePort(options.uiPort, "Temporal's Web UI");
    const server = await launch(options, { grpc, ui });
    if (server !== undefined) return server;
  }
  throw startFailed(`${START_TRIES} tries found their ports taken`, readFileSync(options.logFile, 'utf8'), options);
}
