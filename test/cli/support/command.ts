/** Runs the command as a user does: the committed launcher, in a folder of its own, with nothing of this machine's settings. */
import { execa } from 'execa';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

export const LAUNCHER = fileURLToPath(new URL('../../../bin/temporal-health.js', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Another program that runs the command, e.g. the Temporal CLI. */
  readonly program?: string;
}

/** Settings of the person who runs the tests must not reach the command. */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_OPTIONS', 'NODE_PATH'];
  const own = Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
  // HOME may hold a Temporal configuration file, and a local stack may run in this checkout.
  const nothing = { HOME: tmpdir(), XDG_CONFIG_HOME: tmpdir(), TEMPORAL_HEALTH_STATE_DIR: tmpdir() };
  return { ...own, LANG: 'C.UTF-8', ...nothing, ...env };
}

export async function health(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const program = options.program ?? process.execPath;
  const own = options.program === undefined ? [LAUNCHER] : [];
  const ran = await execa(program, [...own, ...args], {
    env: cleanEnvironment(options.env),
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    cwd: options.cwd ?? tmpdir(),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
  return { code: ran.exitCode ?? -1, stdout: ran.stdout, stderr: ran.stderr };
}
