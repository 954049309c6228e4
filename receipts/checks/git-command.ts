/**
 * One git command against a repository that somebody else wrote, with bounds: no shell, no prompt, no hook, no
 * configuration but ours, a time limit for it and all its children, and only as much output as was asked for.
 *
 * A remote's address is given as configuration of the environment and never as an argument, so that none of its characters
 * can become an option.
 */
import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface GitBounds {
  /** Where it runs: a folder of ours. */
  readonly folder: string;
  /** The one transport it may use: `file`, `http`, `https`, `ssh` or `git`. */
  readonly transport: string;
  /** Configuration for this command, e.g. `['remote.origin.url', …]`. */
  readonly settings: readonly (readonly [string, string])[];
  /** Ends the command and its children. */
  readonly signal: AbortSignal;
  /** What a repository in the folder may grow to, in bytes. */
  readonly maximumFetchBytes: number;
}

export type GitOutcome =
  | { readonly ended: true; readonly code: number; readonly output: Buffer; readonly complaint: string }
  | { readonly ended: false; readonly cause: 'git-not-found' | 'stopped' | 'too-large' };

/** Looks at each piece of output; `enough` ends the command, and what it would still say does not matter. */
export type OutputReader = (piece: Buffer) => 'more' | 'enough';

const MAXIMUM_OUTPUT_BYTES = 1024 ** 2;
const MAXIMUM_COMPLAINT_BYTES = 16 * 1024;
/** git has no limit of its own for what a fetch brings: the pack is looked at while it grows. */
const WATCH_MS = 100;

/** Programs and keys are found by these; everything else of our environment could change what git does. */
const KEPT = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'SYSTEMROOT', 'SSH_AUTH_SOCK'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'],
];

/** Without a configuration file ssh runs no program of its user's choice; without a known host key it gives up. */
const SSH =
  'ssh -F none -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=10 -oForwardAgent=no -oClearAllForwardings=yes';

const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['credential.helper', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  // Whatever comes, comes as a pack: single objects would be unpacked in memory.
  ['fetch.unpackLimit', '1'],
  ['transfer.bundleURI', 'false'],
  // A redirect would lead to an address that nobody looked at.
  ['http.followRedirects', 'false'],
];

function environment({ folder, transport, settings }: GitBounds): NodeJS.ProcessEnv {
  const all = [...SETTINGS, ...settings];
  return {
    ...Object.fromEntries(KEPT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: [tmpdir(), dirname(folder)].join(':'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_ALLOW_PROTOCOL: transport,
    GIT_SSH_COMMAND: SSH,
    GIT_SSH_VARIANT: 'ssh',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Resolves however it ends. Without `read` the output is kept, up to 1 MiB. */
export function git(args: readonly string[], bounds: GitBounds, read?: OutputReader): Promise<GitOutcome> {
  const { folder, signal } = bounds;
  if (signal.aborted) return Promise.resolve({ ended: false, cause: 'stopped' });
  const kept: Buffer[] = [];
  const complaints: Buffer[] = [];
  let keptBytes = 0;
  let complaintBytes = 0;
  return new Promise((resolve) => {
    // In a process group of its own: git leaves transports behind when it alone is ended.
    const child = spawn('git', args, {
      cwd: folder,
      env: environment(bounds),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const watch = setInterval(() => {
      void packBytes(folder).then((bytes) => {
        if (bytes > bounds.maximumFetchBytes) finish({ ended: false, cause: 'too-large' });
      });
    }, WATCH_MS);
    const finish = (outcome: GitOutcome): void => {
      clearInterval(watch);
      signal.removeEventListener('abort', stop);
      if (child.exitCode === null && child.signalCode === null) endGroup(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(outcome);
    };
    const stop = (): void => {
      finish({ ended: false, cause: 'stopped' });
    };
    const ended = (code: number): void => {
      finish({ ended: true, code, output: Buffer.concat(kept), complaint: Buffer.concat(complaints).toString('utf8') });
    };
    signal.addEventListener('abort', stop, { once: true });
    child.on('error', () => {
      finish({ ended: false, cause: 'git-not-found' });
    });
    child.on('close', (code) => {
      // What came between two looks counts as well.
      void packBytes(folder).then((bytes) => {
        if (bytes > bounds.maximumFetchBytes) finish({ ended: false, cause: 'too-large' });
        else ended(code ?? -1);
      });
    });
    child.stdout.on('data', (piece: Buffer) => {
      if (read !== undefined) {
        if (read(piece) === 'enough') ended(0);
        return;
      }
      keptBytes += piece.length;
      if (keptBytes > MAXIMUM_OUTPUT_BYTES) finish({ ended: false, cause: 'too-large' });
      else kept.push(piece);
    });
    child.stderr.on('data', (piece: Buffer) => {
      complaintBytes += piece.length;
      if (complaintBytes <= MAXIMUM_COMPLAINT_BYTES) complaints.push(piece);
    });
  });
}

async function packBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack');
  try {
    const sizes = (await readdir(packs)).map(async (name) => (await stat(join(packs, name))).size);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  } catch {
    // There is no pack yet, or it was just renamed.
    return 0;
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}

const COMPLAINTS: readonly (readonly [RegExp, string])[] = [
  [/dubious ownership/, 'other-owner'],
  [
    /could not read (?:Username|Password)|Authentication failed|Permission denied|terminal prompts disabled|\b40[13]\b/,
    'permission',
  ],
  [/Could not resolve host|Name or service not known|Temporary failure in name resolution/i, 'name-not-found'],
  [
    /Connection refused|Failed to connect|Couldn't connect|unable to connect|No route to host|unreachable/i,
    'connection-refused',
  ],
  [/timed out/i, 'timeout'],
  [/Host key verification failed|certificate|SSL/i, 'certificate'],
  [/transport '.*' not allowed/, 'not-allowed'],
  [/unable to update url base from redirection|redirect/i, 'redirected'],
  [
    /does not appear to be a git repository|not a git repository|repository '.*' not found|not exported|\b404\b/,
    'repository-not-found',
  ],
];

/** Why a repository could not be read, as a word; what git said may hold addresses and names, and stays here. */
export function causeOfComplaint(complaint: string): string {
  return COMPLAINTS.find(([pattern]) => pattern.test(complaint))?.[1] ?? 'git-error';
}
