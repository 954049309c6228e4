import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  childrenOf,
  endProcess,
  freePort,
  isAlive,
  isPortFree,
  killFamily,
  processesRunning,
  processStamp,
  waitForExit,
} from '../../bin/dev/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const processes = pathToFileURL(join(root, 'bin/dev/processes.ts')).href;

let folder: string;
const started: number[] = [];

function sleeper(script = 'exec sleep 600'): number {
  const child = spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true });
  const pid = child.pid ?? -1;
  started.push(pid);
  return pid;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-processes-'));
});

afterEach(() => {
  for (const pid of started.splice(0)) killFamily(pid);
  rmSync(folder, { recursive: true, force: true });
});

/** A parent that guards a sleeper and the folder, says the sleeper's pid, and stays until a line tells it to stand down. */
async function guardian(): Promise<{ child: ReturnType<typeof spawn>; guarded: number }> {
  const program = `
    const { endWithParent } = await import(${JSON.stringify(processes)});
    const { spawn } = await import('node:child_process');
    const guarded = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
    const guard = endWithParent(guarded.pid, ${JSON.stringify(folder)});
    console.log(guarded.pid);
    process.stdin.once('data', () => { guard.standDown(); setTimeout(() => process.exit(0), 200); });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const guarded = Number(line.toString());
  started.push(guarded);
  return { child, guarded };
}

describe('a guarded server', () => {
  it('ends with its parent, however that was killed, and its folder goes too', async () => {
    const { child, guarded } = await guardian();
    writeFileSync(join(folder, 'file'), '');
    child.kill('SIGKILL');
    expect(await waitForExit(guarded, 10_000)).toBe(true);
    await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
  });

  it('is left alone by a guard that was told to stand down', async () => {
    const { child, guarded } = await guardian();
    const gone = once(child, 'exit');
    child.stdin?.write('\n');
    await gone;
    await expect.poll(() => processesRunning(`end-with-parent ${String(guarded)} `)).toEqual([]);
    expect(isAlive(guarded)).toBe(true);
    expect(existsSync(folder)).toBe(true);
  });
});

describe('processes', () => {
  it('are known by more than their number', () => {
    const [one, other] = [sleeper(), sleeper()];
    expect(processStamp(one)).toBe(processStamp(one));
    expect(processStamp(one)).not.toBeUndefined();
    expect(isAlive(other)).toBe(true);
    expect([isAlive(0), isAlive(-1), isAlive(Number.NaN), isAlive(2 ** 31 - 2)]).toEqual([false, false, false, false]);
  });

  it('that ignore a polite signal get the next one', async () => {
    const pid = sleeper(`trap '' INT; while true; do sleep 0.05; done`);
    await expect.poll(() => childrenOf(pid).length).toBeGreaterThan(0);
    const ended = await endProcess(pid, [
      ['SIGINT', 200],
      ['SIGKILL', 5_000],
    ]);
    expect(ended).toBe(true);
    expect(isAlive(pid)).toBe(false);
  });

  it('are killed with children that left the process group', async () => {
    const pid = sleeper('setsid sleep 601 & setsid sleep 602 & wait');
    await expect.poll(() => childrenOf(pid).length).toBe(2);
    const family = killFamily(pid);
    expect(family).toHaveLength(3);
    for (const member of family) expect(await waitForExit(member, 5_000)).toBe(true);
  });
});

describe('ports', () => {
  it('are free until somebody listens', async () => {
    const port = await freePort();
    expect(await isPortFree(port)).toBe(true);
    const { createServer } = await import('node:net');
    const holder = createServer().listen(port, '127.0.0.1');
    await once(holder, 'listening');
    expect(await isPortFree(port)).toBe(false);
    holder.close();
  });
});
