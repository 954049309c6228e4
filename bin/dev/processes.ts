/**
 * What the local servers need from the operating system: who is alive, whose child it is, how to end it, and how to
 * make sure that nothing outlives the process that started it.
 *
 * A pid alone proves nothing (numbers are reused, and containers reuse low ones at once), so a process that is found
 * again later is recognised by pid and start stamp together.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** An error with a stable code; the message says what to do. */
export class DevServerError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DevServerError';
    this.code = code;
  }
}

const POLL_MS = 25;
const isLinux = process.platform === 'linux';

interface ProcessRow {
  pid: number;
  parentPid: number;
  /** A process that has ended but was not collected by its parent: it answers to signal 0 and does nothing. */
  zombie: boolean;
  /** Changes when the pid is given to another process. */
  stamp: string;
}

/** `comm` may hold spaces and parentheses, so the fields are counted from the last parenthesis. */
function readProcRow(pid: number): ProcessRow | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // The first thread of a killed process is a zombie while the others still end, and until then its ports stay taken.
    const zombie = fields[0] === 'Z' && Number(fields[17]) <= 1;
    return { pid, parentPid: Number(fields[1]), zombie, stamp: fields[19] ?? '' };
  } catch {
    return undefined; // Gone, or never there: both mean "no such process".
  }
}

function psRows(selection: string[]): ProcessRow[] {
  const { stdout } = spawnSync('ps', [...selection, '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line);
    if (!found) return [];
    const [, pid, parentPid, state, stamp] = found;
    return [
      { pid: Number(pid), parentPid: Number(parentPid), zombie: state?.startsWith('Z') === true, stamp: stamp ?? '' },
    ];
  });
}

function findProcess(pid: number): ProcessRow | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return isLinux ? readProcRow(pid) : psRows(['-p', String(pid)])[0];
}

/** True while the process can still do something: a zombie cannot. */
export function isAlive(pid: number): boolean {
  const row = findProcess(pid);
  return row !== undefined && !row.zombie;
}

/** True while the number is in use by anybody, a zombie included: what a program sees that only sends signal 0. */
export const holdsPid = (pid: number): boolean => findProcess(pid) !== undefined;

/** A word that stays the same for the life of this process and differs for the next holder of its pid. */
export function processStamp(pid: number): string | undefined {
  return findProcess(pid)?.stamp;
}

/** The direct children of a process: none when it is gone. */
export function childrenOf(pid: number): number[] {
  const rows = isLinux
    ? readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcRow(Number(name)) ?? []) : []))
    : psRows(['-A']);
  return rows.filter((row) => row.parentPid === pid).map((row) => row.pid);
}

/** Processes whose command line holds this text: how a server is found again whose record was lost. */
export function processesRunning(text: string): number[] {
  const pids = isLinux
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : psRows(['-A']).map((row) => row.pid);
  return pids.filter((pid) => pid !== process.pid && isAlive(pid) && commandLineOf(pid).includes(text));
}

/** The command line of a process, arguments separated by spaces; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  if (!isLinux) return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout.trim();
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Sends a signal; `false` when there is nobody to receive it. A negative pid addresses the process group. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Resolves to `true` when the condition holds, `false` when the time is over. */
export async function waitUntil(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    if (await holds()) return true;
    if (performance.now() >= endsAtMs) return false;
    await delay(POLL_MS);
  }
}

export const waitForExit = (pid: number, timeoutMs: number): Promise<boolean> =>
  waitUntil(() => !isAlive(pid), timeoutMs);

/** Sends each signal in turn, gives it its time, and goes on to the next only when the process is still there. */
export async function endProcess(pid: number, steps: readonly [NodeJS.Signals, number][]): Promise<boolean> {
  for (const [name, patienceMs] of steps) {
    if (!signal(pid, name)) return true;
    if (await waitForExit(pid, patienceMs)) return true;
  }
  return !isAlive(pid);
}

/**
 * Kills a whole family with SIGKILL. The parent is stopped first so that it can neither fork nor replace a child in
 * between; its group is not enough, because a Postgres backend puts itself into a session of its own.
 */
export function killFamily(pid: number): number[] {
  signal(pid, 'SIGSTOP');
  const family = [...childrenOf(pid), pid];
  for (const member of family) signal(member, 'SIGKILL');
  signal(-pid, 'SIGKILL');
  return family;
}

/** A loopback port that was free a moment ago. The next holder may be faster: callers retry with another. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new DevServerError('NO_FREE_PORT', 'No free loopback port could be found.'));
      });
    });
  });
}

export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => {
      resolve(false);
    });
    probe.listen(port, '127.0.0.1', () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
}

export interface ParentGuard {
  /** Called after an orderly stop: the guard goes away without touching anybody. */
  standDown(): void;
}

/**
 * Ends a server when this process is gone, however it went (SIGKILL included), and removes its folder if one is named:
 * a small shell in a session of its own waits for the end of a pipe that only we hold open. The backends of a killed
 * Postgres leave by themselves.
 */
export function endWithParent(pid: number, folder = ''): ParentGuard {
  const script =
    'read -r answer && exit 0; kill -INT "$1"; ' +
    'for turn in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$1" || break; sleep 0.5; done; kill -KILL "$1"; ' +
    'test -z "$2" || rm -rf -- "$2"';
  const guard = spawn('/bin/sh', ['-c', script, 'end-with-parent', String(pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  // The guard must keep neither this process nor a test runner alive, and a guard that left early is no error.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return {
    standDown() {
      guard.stdin.end('done\n');
    },
  };
}
