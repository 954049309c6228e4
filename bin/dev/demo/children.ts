/** The processes of the demonstration. Each ends with the process that started it, however that one goes. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DevServerError, endWithParent, signal, waitForExit, waitUntil } from '../processes.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const DESTINATION = fileURLToPath(new URL('./destination.ts', import.meta.url));
const WORKER = fileURLToPath(new URL('../../../worker.ts', import.meta.url));
const START_TIMEOUT_MS = 120_000;
const EXIT_TIMEOUT_MS = 10_000;

export interface Destination {
  readonly origin: string;
  /** Resolves when an operation whose id ends like this was done. */
  applied(ending: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startDestination(ledger: string): Promise<Destination> {
  mkdirSync(dirname(ledger), { recursive: true });
  const child = spawn(process.execPath, ['--import', 'tsx', DESTINATION, ledger], {
    cwd: CHECKOUT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = child.pid ?? -1;
  const guard = endWithParent(pid);
  const said: Record<string, string>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line) as Record<string, string>);
  });
  const heard = async (what: (line: Record<string, string>) => boolean): Promise<void> => {
    if (await waitUntil(() => child.exitCode !== null || said.some(what), START_TIMEOUT_MS)) {
      if (child.exitCode === null) return;
    }
    throw new DevServerError('DEMO_DESTINATION', 'The demonstration’s destination ended or said nothing.');
  };
  await heard((line) => 'listening' in line);
  return {
    origin: said.find((line) => 'listening' in line)?.['listening'] ?? '',
    applied: (ending) => heard((line) => line['applied']?.endsWith(ending) === true),
    async stop() {
      signal(pid, 'SIGKILL');
      await waitForExit(pid, EXIT_TIMEOUT_MS);
      guard.standDown();
    },
  };
}

export interface SideWorker {
  /** SIGKILL: it gets no chance to say anything more. */
  kill(): Promise<void>;
}

/** The reference worker on a task queue of its own; resolves when it takes work. */
export async function startSideWorker(env: NodeJS.ProcessEnv, logFile: string): Promise<SideWorker> {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'w', 0o600);
  const child = spawn(process.execPath, ['--import', 'tsx', WORKER], {
    cwd: CHECKOUT,
    env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const pid = child.pid ?? -1;
  const guard = endWithParent(pid);
  const kill = async (): Promise<void> => {
    signal(pid, 'SIGKILL');
    await waitForExit(pid, EXIT_TIMEOUT_MS);
    guard.standDown();
  };
  const said = (): string => readFileSync(logFile, 'utf8');
  await waitUntil(() => child.exitCode !== null || said().includes('worker ready'), START_TIMEOUT_MS);
  if (child.exitCode === null && said().includes('worker ready')) return { kill };
  await kill();
  const last = said().trim().split('\n').slice(-5).join('\n  ');
  throw new DevServerError('DEMO_WORKER', `The demonstration’s own worker did not start; see ${logFile}.\n  ${last}`);
}
