/**
 * Starts a real PostgreSQL for a checkout or a test, and finds it again.
 *
 * The way of a start: the account → a data directory that the account can reach → the binaries → a leftover server of
 * the same directory (reused when it answers, ended when it does not) → initdb into a draft that is renamed when it is
 * whole → the server, in a process group of its own, on the loopback only. Durability stays as a real server has it:
 * what a test proves about crashes would mean nothing with fsync off.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import pg from 'pg';
import { accountForRoot, asAccount, findPostgres, openFolder } from './postgres-binaries.ts';
import type { BinarySearch, ServerAccount } from './postgres-binaries.ts';
import {
  commandLineOf,
  DevServerError,
  endProcess,
  freePort,
  isAlive,
  isPortFree,
  holdsPid,
  killFamily,
  waitForExit,
  waitUntil,
} from './processes.ts';

export interface PostgresOptions {
  dataDir: string;
  /** Default: `'free'`. A server that already runs on the data directory keeps its own port. */
  port?: number | 'free';
  /** Server settings by name, over the ones a small local server gets. */
  settings?: Readonly<Record<string, string>>;
  search?: BinarySearch;
}

export interface PostgresServer {
  /** A connection string of the superuser for the database `postgres`. */
  url: string;
  port: number;
  pid: number;
  /** Where the data really is: elsewhere than asked only when the server's account could not enter that place. */
  dataDir: string;
  logFile: string;
  /** True when the server was already running. */
  reused: boolean;
  /** Ends it in order: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
  /** Kills the server and every backend with SIGKILL at once; resolves when they are gone. */
  kill(): Promise<void>;
}

const START_TIMEOUT_MS = 120_000;
const START_TRIES = 5;
const SETTINGS: Readonly<Record<string, string>> = {
  io_method: 'sync',
  jit: 'off',
  shared_buffers: '32MB',
  max_connections: '200',
};

interface Cluster {
  dataDir: string;
  logFile: string;
  account: ServerAccount | undefined;
}

const urlOf = (port: number, database = 'postgres'): string => `postgres://postgres@127.0.0.1:${port}/${database}`;

/** Asks the server which data directory it serves; `undefined` when it does not answer. */
async function askDataDir(port: number): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: urlOf(port),
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on('error', () => undefined); // A server that goes away while asked has not answered.
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const serves = async (cluster: Cluster, port: number): Promise<boolean> =>
  (await askDataDir(port)) === realpathSync(cluster.dataDir);

interface LockFile {
  pid: number;
  port: number;
  ready: boolean;
}

/** `postmaster.pid`: pid, directory, start, port, sockets, addresses, shared memory, state, one a line. */
function readLockFile(dataDir: string): LockFile | undefined {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' };
  } catch {
    return undefined;
  }
}

const runsOn = (pid: number, dataDir: string): boolean =>
  isAlive(pid) && `${commandLineOf(pid)} `.includes(` -D ${dataDir} `);

function serverOf(cluster: Cluster, pid: number, port: number, reused: boolean): PostgresServer {
  return {
    url: urlOf(port),
    port,
    pid,
    dataDir: cluster.dataDir,
    logFile: cluster.logFile,
    reused,
    async stop() {
      await endPostmaster(pid);
    },
    async kill() {
      const family = killFamily(pid);
      await Promise.all(family.map((member) => waitForExit(member, 10_000)));
    },
  };
}

/** SIGINT is Postgres's fast shutdown (a checkpoint included), SIGQUIT its immediate one. */
export async function endPostmaster(pid: number, patienceMs = 15_000): Promise<void> {
  const gone = await endProcess(pid, [
    ['SIGINT', patienceMs],
    ['SIGQUIT', 2_000],
  ]);
  if (gone) return;
  const family = killFamily(pid);
  await Promise.all(family.map((member) => waitForExit(member, 10_000)));
}

/**
 * A lock file whose pid now belongs to somebody else (or to a zombie) would stop every start. It is not deleted: it also
 * names the shared memory by which Postgres notices backends that still run. Our own pid in its first line says
 * "stale" to the server, which does not count its parent as a rival.
 */
function disownLockFile(dataDir: string, stalePid: number): void {
  const file = join(dataDir, 'postmaster.pid');
  const [pid, ...rest] = readFileSync(file, 'utf8').split('\n');
  if (Number(pid) === stalePid) writeFileSync(file, [process.pid, ...rest].join('\n'));
}

/** Reuses the server that a former start left behind, or clears the way. */
async function adoptLeftover(cluster: Cluster): Promise<PostgresServer | undefined> {
  const lock = readLockFile(cluster.dataDir);
  if (lock === undefined) return undefined;
  if (runsOn(lock.pid, cluster.dataDir)) {
    // A server that is still starting may be recovering from a crash: ending it would only make the next one begin again.
    const patienceMs = lock.ready ? 5_000 : 60_000;
    const answers = await waitUntil(async () => {
      const current = readLockFile(cluster.dataDir);
      return current === undefined || !isAlive(lock.pid) || (current.ready && (await serves(cluster, current.port)));
    }, patienceMs);
    const port = readLockFile(cluster.dataDir)?.port;
    if (answers && port !== undefined && isAlive(lock.pid)) return serverOf(cluster, lock.pid, port, true);
    await endPostmaster(lock.pid, 2_000);
    return undefined;
  }
  if (holdsPid(lock.pid)) disownLockFile(cluster.dataDir, lock.pid);
  return undefined;
}

const canUse = (folder: string, account: ServerAccount): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1" && test -w . && test -r .', 'sh', folder], asAccount(account)).status === 0;

/** Where the data of a wished directory really lies, if it exists: there, or in the folder that every account may enter. */
export function findDataDir(wished: string): string | undefined {
  const places = [resolve(wished), movedPlace(resolve(wished), false)];
  return places.find((place) => place !== undefined && existsSync(join(place, 'PG_VERSION')));
}

/** The same wish always leads to the same place: the data must be found again next time. */
function movedPlace(wished: string, create: boolean): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const digest = createHash('sha256').update(wished).digest('hex').slice(0, 16);
    const folder = join(openFolder(), `data-${digest}`);
    if (create) mkdirSync(folder, { recursive: true, mode: 0o755 });
    return join(folder, basename(wished));
  } catch (cause) {
    if (create) throw cause;
    return undefined;
  }
}

/** Makes the place for the data and says who will own it: an existing directory keeps its owner. */
function placeCluster(wished: string): Cluster {
  const found = findDataDir(wished);
  if (found !== undefined) {
    const { uid, gid } = statSync(found);
    const account = process.getuid?.() === 0 ? { uid, gid } : undefined;
    return { dataDir: found, logFile: `${found}.log`, account };
  }
  const account = accountForRoot();
  let dataDir = resolve(wished);
  mkdirSync(dirname(dataDir), { recursive: true });
  if (account !== undefined) {
    const probe = `${dataDir}.probe-${process.pid}`;
    makePrivateFolder(probe, account);
    const reachable = canUse(probe, account);
    rmSync(probe, { recursive: true });
    if (!reachable) dataDir = movedPlace(dataDir, true) ?? dataDir;
  }
  return { dataDir, logFile: `${dataDir}.log`, account };
}

function makePrivateFolder(folder: string, account: ServerAccount | undefined): void {
  mkdirSync(folder, { mode: 0o700 });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
}

/** initdb writes PG_VERSION early; a killed one would leave a directory that looks whole. Hence a draft and a rename. */
function initialise(cluster: Cluster, binDir: string): void {
  if (existsSync(join(cluster.dataDir, 'PG_VERSION'))) return;
  removeDrafts(cluster.dataDir);
  const draft = `${cluster.dataDir}.new-${process.pid}`;
  makePrivateFolder(draft, cluster.account);
  const run = spawnSync(
    join(binDir, 'initdb'),
    ['-D', draft, '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '--encoding=UTF8'],
    { encoding: 'utf8', env: serverEnvironment(), ...asAccount(cluster.account) },
  );
  if (run.status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw startFailed(`initdb ended with ${String(run.status ?? run.signal)}`, `${run.stdout}\n${run.stderr}`, cluster);
  }
  try {
    renameSync(draft, cluster.dataDir);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    // Somebody else was faster: theirs is as good. Anything else is the caller's to see.
    if (!existsSync(join(cluster.dataDir, 'PG_VERSION'))) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw startFailed('the new data directory could not be put in place', message, cluster);
    }
  }
}

function removeDrafts(dataDir: string): void {
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of readdirSync(dirname(dataDir))) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue;
    rmSync(join(dirname(dataDir), name), { recursive: true, force: true });
  }
}

/** The PG* variables of a person's shell are for clients; the server must not take its directory or port from them. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_'));
  return { ...Object.fromEntries(kept), LANG: 'C', LC_ALL: 'C' };
}

const REMEDIES: readonly [RegExp, string][] = [
  [
    /incompatible with server/,
    'The data was written by another PostgreSQL version: remove the directory to start anew.',
  ],
  [/No space left on device/, 'The disk is full: make room and start again.'],
  [/could not bind|Address already in use/, 'Another program holds the port: choose another one.'],
  [/Permission denied|wrong ownership/, 'The directory belongs to another user: start as that user, or remove it.'],
  [/shared memory/, 'A former server may still be ending: wait a moment and start again.'],
];

function startFailed(what: string, log: string, cluster: Cluster): DevServerError {
  const lines = log.trim().split('\n').slice(-12).join('\n  ');
  const remedy =
    REMEDIES.find(([pattern]) => pattern.test(log))?.[1] ??
    'Remove the directory to start anew, or set TEMPORAL_HEALTH_DATABASE_URL to a database of yours.';
  return new DevServerError(
    'POSTGRES_START_FAILED',
    `PostgreSQL did not start: ${what}. ${remedy}\n  data directory: ${cluster.dataDir}\n  ${lines}`,
  );
}

/** One try. `undefined` asks for another: the port or the data directory was taken in between, or is being freed. */
async function launch(
  cluster: Cluster,
  binDir: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer | undefined> {
  const logStart = existsSync(cluster.logFile) ? statSync(cluster.logFile).size : 0;
  const log = openSync(cluster.logFile, 'a', 0o600);
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    join(binDir, 'postgres'),
    ['-D', cluster.dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...given],
    { ...asAccount(cluster.account), env: serverEnvironment(), detached: true, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  child.unref();
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => {
      done(error.message);
    });
    child.once('exit', (code, signalName) => {
      done(`the server ended with ${String(code ?? signalName)}`);
    });
  });
  let end: string | undefined;
  void ended.then((reason) => (end = reason));
  const pid = child.pid ?? -1;
  const settled = await waitUntil(async () => {
    if (end !== undefined) return true;
    const lock = readLockFile(cluster.dataDir);
    return lock?.pid === pid && lock.ready && (await serves(cluster, port));
  }, START_TIMEOUT_MS);
  if (settled && end === undefined) return serverOf(cluster, pid, port, false);
  if (!settled) await endPostmaster(pid);
  const written = readFileSync(cluster.logFile).subarray(logStart).toString();
  if (/could not bind|lock file .* already exists|pre-existing shared memory block/.test(written)) return undefined;
  throw startFailed(end ?? `it did not answer within ${START_TIMEOUT_MS / 1000} s`, written, cluster);
}

async function choosePort(wished: number | 'free'): Promise<number> {
  if (wished === 'free') return freePort();
  if (await isPortFree(wished)) return wished;
  throw new DevServerError(
    'POSTGRES_PORT_TAKEN',
    `Port ${wished} for PostgreSQL is held by another program. End that program, or choose another port.`,
  );
}

/**
 * Starts PostgreSQL on a data directory, making the directory when it is new, or reuses the server that runs on it.
 *
 * @throws DevServerError `POSTGRES_NOT_FOUND`, `POSTGRES_NO_ACCOUNT`, `POSTGRES_PORT_TAKEN`, `POSTGRES_START_FAILED`.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const cluster = placeCluster(options.dataDir);
  for (let round = 0; round < START_TRIES; round += 1) {
    const leftover = await adoptLeftover(cluster);
    if (leftover !== undefined) return leftover;
    const { binDir } = findPostgres(cluster.account, options.search);
    initialise(cluster, binDir);
    const port = await choosePort(options.port ?? 'free');
    const server = await launch(cluster, binDir, port, { ...SETTINGS, ...options.settings });
    if (server !== undefined) return server;
  }
  throw startFailed(`${START_TRIES} tries ended early`, readFileSync(cluster.logFile, 'utf8'), cluster);
}

/** Makes the database when it is not there, and gives its connection string. Two at once are safe. */
export async function ensureDatabase(server: Pick<PostgresServer, 'url'>, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url, query_timeout: 30_000 });
  await client.connect();
  try {
    await client.query(`create database ${pg.escapeIdentifier(name)}`);
  } catch (cause) {
    // 42P04: it exists; 23505: another start is making it at this moment.
    if (!(cause instanceof pg.DatabaseError) || !['42P04', '23505'].includes(cause.code ?? '')) throw cause;
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.toString();
}
