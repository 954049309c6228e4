/**
 * What the local stack remembers between commands, in `.temporal-health/` of the checkout: which processes it started
 * (by pid and start stamp), their addresses, the ports it had last time. Written by a rename, readable by its owner only
 * (a database address may hold a password).
 */
import { mkdirSync, openSync, closeSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DevServerError, isAlive, processStamp, waitUntil } from './processes.ts';

const processSchema = z.object({ pid: z.number(), stamp: z.string() });

const stateSchema = z.object({
  temporal: processSchema
    .extend({ address: z.string(), port: z.number(), uiAddress: z.string(), uiPort: z.number() })
    .optional(),
  /** Without a pid the database is somebody else's, named by TEMPORAL_HEALTH_DATABASE_URL. */
  postgres: z.object({ pid: z.number().optional(), stamp: z.string().optional(), url: z.string() }).optional(),
  worker: processSchema.extend({ address: z.string(), url: z.string() }).optional(),
  /** The command that stays in the foreground, if one does. */
  foreground: processSchema.optional(),
  /** So that a checkout keeps its addresses from one day to the next. */
  ports: z.object({ temporal: z.number(), ui: z.number(), postgres: z.number() }).partial().default({}),
  cli: z.string().optional(),
});

export type StackState = z.infer<typeof stateSchema>;
export type ProcessRecord = z.infer<typeof processSchema>;

export const recordOf = (pid: number): ProcessRecord => ({ pid, stamp: processStamp(pid) ?? '' });

/** True while this very process runs, not only one with its number. */
export const runs = (record: { pid?: number | undefined; stamp?: string | undefined } | undefined): boolean =>
  record?.pid !== undefined && isAlive(record.pid) && processStamp(record.pid) === record.stamp;

const FILE = 'state.json';

/** A damaged or foreign file counts as none: what it would have said is found again by other means. */
export function readState(stateDir: string): StackState {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(join(stateDir, FILE), 'utf8')));
  } catch {
    return { ports: {} };
  }
}

export function writeState(stateDir: string, state: StackState): void {
  const draft = join(stateDir, `${FILE}.${process.pid}`);
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, join(stateDir, FILE));
}

export function changeState(stateDir: string, change: Partial<StackState>): StackState {
  const state = { ...readState(stateDir), ...change };
  writeState(stateDir, state);
  return state;
}

export function makeStateDir(stateDir: string): void {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o755 });
    writeFileSync(join(stateDir, `.write-${process.pid}`), '');
    rmSync(join(stateDir, `.write-${process.pid}`));
  } catch (cause) {
    throw new DevServerError(
      'STATE_NOT_WRITABLE',
      `${stateDir} cannot be written. Run this as the user whose folder it is, ` +
        'remove it, or name another one by TEMPORAL_HEALTH_STATE_DIR.',
      { cause },
    );
  }
}

const lockSchema = processSchema;

function takeLock(file: string): boolean {
  try {
    const lock = openSync(file, 'wx', 0o644);
    writeFileSync(lock, JSON.stringify(recordOf(process.pid)));
    closeSync(lock);
    return true;
  } catch {
    return false;
  }
}

function lockHolder(file: string): ProcessRecord | undefined {
  try {
    return lockSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** One command changes the stack at a time; a second one waits, and takes over the lock of one that was killed. */
export async function withLock<T>(stateDir: string, work: () => Promise<T>): Promise<T> {
  const file = join(stateDir, 'lock');
  let unreadable = 0;
  const taken = await waitUntil(() => {
    if (takeLock(file)) return true;
    const holder = lockHolder(file);
    // A lock is written a moment after it is made: unreadable counts as left only when it stays so.
    unreadable = holder === undefined ? unreadable + 1 : 0;
    if ((holder !== undefined && !runs(holder)) || unreadable > 40) rmSync(file, { force: true });
    return false;
  }, 300_000);
  if (!taken) {
    const holder = lockHolder(file)?.pid ?? 'unknown';
    throw new DevServerError(
      'STACK_BUSY',
      `Another command (process ${holder}) is changing the stack for minutes now.`,
    );
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}
