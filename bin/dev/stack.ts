/**
 * The local stack of a checkout: Temporal with its Web UI, Postgres, the store's schema, the worker, the demonstration.
 * `temporal-dev.sh` at the root is the way in; this file holds the commands, stack-parts.ts the parts, stack-state.ts
 * what is remembered between commands.
 *
 * Progress goes to stderr, results to stdout, so that `eval "$(./temporal-dev.sh env)"` reads nothing else.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { endPostmaster, findDataDir } from './postgres.ts';
import { DevServerError, endProcess, endWithParent, processesRunning } from './processes.ts';
import type { ParentGuard } from './processes.ts';
import {
  addressesOf,
  bringUpPostgres,
  bringUpSchema,
  bringUpTemporal,
  bringUpWorker,
  endWorker,
  placesOf,
  STACK_VARIABLE,
  stackEnvironment,
  withoutPassword,
  workerMark,
} from './stack-parts.ts';
import type { StackAddresses, StackPlace } from './stack-parts.ts';
import { changeState, makeStateDir, readState, recordOf, runs, withLock } from './stack-state.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { endTemporal, temporalAnswers } from './temporal-server.ts';

/** A part that failed, with the reason it gave: the reader needs both. */
async function named<T>(part: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'STACK_FAILED';
    const hint = cause instanceof Error && 'hint' in cause && typeof cause.hint === 'string' ? ` ${cause.hint}` : '';
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new DevServerError(code, `${part}: ${message}${hint}`, { cause });
  }
}

/** Waits for both even when one fails: a server that is still starting could not be ended. */
async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled([one, other])).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

export class Interrupted extends Error {}

/** Brings up whatever is not up. On failure everything that this call started is ended again. */
export async function bringUp(place: StackPlace): Promise<StackAddresses> {
  makeStateDir(place.stateDir);
  const goOn = (): void => {
    if (place.interrupted()) throw new Interrupted();
  };
  return withLock(place.stateDir, async () => {
    try {
      place.note('Temporal and Postgres …');
      await both(named('Temporal', bringUpTemporal(place)), named('Postgres', bringUpPostgres(place)));
      goOn();
      await named('the schema', bringUpSchema(place));
      goOn();
      place.note('the worker …');
      await named('the worker', bringUpWorker(place));
      goOn();
      linkCommands(place);
    } catch (error) {
      await takeBack(place);
      throw place.interrupted() ? new Interrupted() : error;
    }
    const addresses = addressesOf(place);
    if (addresses === undefined) throw new DevServerError('STACK_NOT_UP', 'The record of the stack disappeared.');
    return addresses;
  });
}

/** Ends what this command started, the last first. */
export async function takeBack(place: StackPlace): Promise<void> {
  for (const { end } of place.started.splice(0).reverse()) await end();
  forgetGone(place.stateDir);
}

function forgetGone(stateDir: string): void {
  const state = readState(stateDir);
  if (!runs(state.temporal)) delete state.temporal;
  if (!runs(state.worker)) delete state.worker;
  if (!runs(state.foreground)) delete state.foreground;
  if (state.postgres?.pid !== undefined && !runs(state.postgres)) delete state.postgres;
  if (state.temporal === undefined && state.postgres?.pid === undefined) delete state.postgres;
  const { temporal, postgres, worker, foreground } = state;
  changeState(stateDir, { temporal, postgres, worker, foreground });
}

/** `temporal` runs an executable `temporal-health` from PATH as `temporal health`: one folder with both is enough. */
function linkCommands({ root, stateDir }: StackPlace): void {
  const { bin } = placesOf(stateDir);
  mkdirSync(bin, { recursive: true });
  const targets = { temporal: readState(stateDir).cli, 'temporal-health': join(root, 'bin', 'temporal-health.js') };
  for (const [name, target] of Object.entries(targets)) {
    if (target === undefined) continue;
    rmSync(join(bin, name), { force: true });
    symlinkSync(target, join(bin, name));
  }
}

/** Ends everything of this checkout, recorded or not, and the command that holds it in the foreground. */
export async function takeDown(place: StackPlace): Promise<string[]> {
  const { stateDir } = place;
  makeStateDir(stateDir); // A removed folder does not mean that nothing runs.
  const { foreground } = readState(stateDir);
  if (foreground !== undefined && runs(foreground) && foreground.pid !== process.pid) {
    await endProcess(foreground.pid, [['SIGTERM', 60_000]]);
  }
  return withLock(stateDir, async () => {
    const ended: string[] = [];
    const { worker, temporal } = readState(stateDir);
    const pidOf = (record: typeof worker | typeof temporal): number[] =>
      record !== undefined && runs(record) ? [record.pid] : [];
    for (const pid of new Set([...pidOf(worker), ...processesRunning(workerMark(place))])) {
      await endWorker(pid);
      ended.push('the worker');
    }
    const { database } = placesOf(stateDir);
    for (const pid of new Set([...pidOf(temporal), ...processesRunning(`--db-filename ${database}`)])) {
      await endTemporal(pid);
      ended.push('Temporal');
    }
    if (await endPostgres(place)) ended.push('Postgres');
    forgetGone(stateDir);
    return ended;
  });
}

/** Found by its directory and not by its record, which may be lost. */
async function endPostgres({ stateDir }: StackPlace): Promise<boolean> {
  const dataDir = findDataDir(placesOf(stateDir).postgres) ?? placesOf(stateDir).postgres;
  const servers = processesRunning(` -D ${dataDir} `);
  for (const pid of servers) await endPostmaster(pid);
  return servers.length > 0;
}

/** Ends everything and removes runs, receipts and logs of this checkout; a database of somebody else is not touched. */
export async function reset(place: StackPlace): Promise<void> {
  await takeDown(place);
  const dataDir = findDataDir(placesOf(place.stateDir).postgres);
  if (dataDir !== undefined) {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(`${dataDir}.log`, { force: true });
    const folder = dirname(dataDir);
    if (folder !== place.stateDir && readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
  }
  rmSync(place.stateDir, { recursive: true, force: true });
}

export interface PartStatus {
  part: string;
  up: boolean;
  text: string;
}

/** What is really up now, asked and not remembered. */
export async function statusOf(place: StackPlace): Promise<PartStatus[]> {
  const { stateDir } = place;
  const { temporal, postgres, worker } = readState(stateDir);
  const { temporalLog, workerLog } = placesOf(stateDir);
  const temporalUp = temporal !== undefined && runs(temporal) && (await temporalAnswers(temporal.address));
  const workerUp = worker !== undefined && runs(worker);
  const external = postgres !== undefined && postgres.pid === undefined;
  const postgresUp = external || runs(postgres);
  const address = postgres === undefined ? '' : withoutPassword(postgres.url);
  return [
    {
      part: 'Temporal',
      up: temporalUp,
      text: temporalUp
        ? `${temporal.address}, Web UI ${temporal.uiAddress}, process ${temporal.pid}`
        : `not up (${temporalLog})`,
    },
    {
      part: 'Postgres',
      up: postgresUp,
      text: postgresUp ? `${address}${external ? ' (not ours)' : `, process ${postgres?.pid ?? 0}`}` : 'not up',
    },
    {
      part: 'worker',
      up: workerUp,
      text: workerUp ? `process ${worker.pid}, log ${workerLog}` : `not up (${workerLog})`,
    },
  ];
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Lines for `eval` in a POSIX shell. Without a running stack they only put the commands on PATH. */
export async function environmentLines(place: StackPlace): Promise<string[]> {
  makeStateDir(place.stateDir);
  if (readState(place.stateDir).cli === undefined) {
    const { path: cli } = await findTemporalCli({ env: place.env, onNote: place.note });
    changeState(place.stateDir, { cli });
  }
  linkCommands(place);
  const path = `export PATH=${quote(placesOf(place.stateDir).bin)}:"$PATH"`;
  const addresses = addressesOf(place);
  if (addresses === undefined || !runs(readState(place.stateDir).temporal)) return [path];
  const set = stackEnvironment({}, addresses);
  const variables = { ...set, [STACK_VARIABLE]: JSON.stringify([addresses.databaseUrl, addresses.outputRoot]) };
  return [path, ...Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`)];
}

export function welcome(addresses: StackAddresses): string {
  return [
    '',
    `Web UI        ${addresses.webUi}`,
    `Temporal      ${addresses.temporal}`,
    `Postgres      ${withoutPassword(addresses.databaseUrl)}`,
    '',
    'In another terminal:',
    `  eval "$(./temporal-dev.sh env)"     # temporal and temporal health on PATH`,
    '  temporal health report',
    '  temporal workflow start --type sourceCheck --task-queue temporal-health --workflow-id my-check \\',
    `    --fail-existing --input '{"document":"README.md"}'`,
    '',
  ].join('\n');
}

/** Runs the health command of this checkout against the stack and gives its exit code. */
export async function runHealth(place: StackPlace, addresses: StackAddresses, args: string[]): Promise<number> {
  const command = join(place.root, 'bin', 'temporal-health.js');
  const child = spawn(process.execPath, [command, ...args], {
    stdio: 'inherit',
    env: stackEnvironment(place.env, addresses),
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      resolve(code ?? 1);
    });
  });
}

/** Marks this process as the one that holds the stack, and lets nothing of it outlive a SIGKILL. */
export function holdInForeground(place: StackPlace): ParentGuard[] {
  changeState(place.stateDir, { foreground: recordOf(process.pid) });
  return place.started.map(({ pid }) => endWithParent(pid));
}
