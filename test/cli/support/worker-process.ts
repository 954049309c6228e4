import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./worker.ts', import.meta.url));

export interface WorkerProcess {
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a worker on a queue; resolves when it takes work. */
export async function startWorker(address: string, taskQueue: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', ENTRY, address, taskQueue], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('ready')) resolve();
    });
    child.on('exit', (code) => {
      reject(new Error(`The worker ended with ${String(code)} before it was ready.`));
    });
  });
  await ready;
  return {
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
