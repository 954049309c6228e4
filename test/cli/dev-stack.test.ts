import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive, processesRunning, waitUntil } from '../../bin/dev/processes.ts';
import { readState, runs } from '../../bin/dev/stack-state.ts';
import { testTemporal } from '../support/servers.ts';

const script = fileURLToPath(new URL('../../temporal-dev.sh', import.meta.url));

// A start of three servers takes seconds, and some tests need several.
vi.setConfig({ testTimeout: 240_000 });

let folder: string;
let stateDir: string;

/** A worker that keeps the contract: it says that it is ready, shows its environment, and ends on SIGTERM. */
const WORKER = `
import { writeFileSync } from 'node:fs';
const names = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_HEALTH_DATABASE_URL', 'TEMPORAL_API_KEY'];
writeFileSync(new URL('./seen.json', import.meta.url), JSON.stringify(names.map((name) => process.env[name] ?? null)));
console.log('worker ready');
setInterval(() => {}, 60_000);
`;

function launch(args: string[], env: NodeJS.ProcessEnv = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  const child = spawn(script, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(kept),
      TEMPORAL_CLI: testTemporal().cli,
      TEMPORAL_HEALTH_STATE_DIR: stateDir,
      TEMPORAL_HEALTH_WORKER: join(folder, 'worker.ts'),
      ...env,
    },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (said.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (said.stderr += String(chunk)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { child, said, ended };
}

const run = (args: string[], env: NodeJS.ProcessEnv = {}) => launch(args, env).ended;

/** Whatever runs for this test's folder: no record is asked, so that a lost one hides nothing. */
const running = (): number[] => processesRunning(folder).filter((pid) => pid !== process.pid);

const pids = () => {
  const { temporal, postgres, worker } = readState(stateDir);
  return [temporal?.pid, postgres?.pid, worker?.pid];
};

/** Undefined where another program holds it already: as good. */
function hold(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('listening', () => {
      resolve(server);
    });
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(port, '127.0.0.1');
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-stack-'));
  chmodSync(folder, 0o755);
  stateDir = join(folder, 'state');
  writeFileSync(join(folder, 'worker.ts'), WORKER);
});

afterEach(async () => {
  await run(['reset']);
  const left = running();
  for (const pid of left) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
});

describe('the local stack', () => {
  it('comes up, is found again by a second up, and is gone after down, with its runs kept', async () => {
    const first = await run(['up'], { TEMPORAL_API_KEY: 'of another cluster' });
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Web UI') as string });
    const { temporal, postgres } = readState(stateDir);
    const seen: unknown = JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8'));
    expect(seen).toEqual([temporal?.address, 'default', postgres?.url, null]);

    const before = pids();
    expect((await run(['up'])).code).toBe(0);
    expect(pids()).toEqual(before);
    expect(await run(['status'])).toMatchObject({ code: 0 });

    const start = 'temporal workflow start --type nobody --task-queue nobody --workflow-id kept -o json';
    // The shell that was led to the stack stops and starts it as any other: its database is still the stack's own.
    const inShell = `eval "$("$0" env)"; ${start} && temporal workflow describe -w kept && "$0" down && "$0" up`;
    expect(await launchShell(inShell)).toMatchObject({ code: 0 });
    expect(runs(readState(stateDir).postgres)).toBe(true);

    expect(await run(['down'])).toMatchObject({ code: 0, stdout: 'Stopped: the worker, Temporal, Postgres.\n' });
    expect(running()).toEqual([]);
    expect(await run(['status'])).toMatchObject({ code: 1 });
    expect(await run(['down'])).toMatchObject({ code: 0, stdout: 'Nothing was up.\n' });

    // With what it said: a start after a stop fails in more ways than a first one.
    expect(await run(['up'])).toMatchObject({ code: 0 });
    expect(readState(stateDir).temporal?.address).toBe(temporal?.address);
    expect(await launchShell(`eval "$("$0" env)"; temporal workflow describe -w kept`)).toMatchObject({ code: 0 });
    await run(['reset']);
    expect(existsSync(stateDir)).toBe(false);
  });

  it('replaces the parts that were killed and keeps the others', async () => {
    expect((await run(['up'])).code).toBe(0);
    const [temporal, postgres, worker] = pids();
    process.kill(worker ?? -1, 'SIGKILL');
    process.kill(temporal ?? -1, 'SIGKILL');
    expect(await run(['status'])).toMatchObject({ code: 1, stdout: expect.stringMatching(/worker +not up/) as string });
    expect((await run(['up'])).code).toBe(0);
    expect(pids()[1]).toBe(postgres);
    expect(pids().every((pid) => pid !== undefined && isAlive(pid))).toBe(true);
  });

  it('finds leftovers without a record', async () => {
    expect((await run(['up'])).code).toBe(0);
    const [temporal, postgres, worker] = pids();
    rmSync(join(stateDir, 'state.json'));
    expect((await run(['up'])).code).toBe(0);
    expect([temporal, worker].some((pid) => isAlive(pid ?? -1))).toBe(false);
    expect(pids()[1]).toBe(postgres);
    rmSync(join(stateDir, 'state.json'));
    expect((await run(['down'])).stdout).toBe('Stopped: the worker, Temporal, Postgres.\n');
  });

  it('is left alone by down of another stack of the same checkout, even of one whose folder begins like its own', async () => {
    expect((await run(['up'])).code).toBe(0);
    const before = pids();
    // Neither has a record: everything is found by its command line.
    for (const other of [join(folder, 'other'), stateDir.slice(0, -1)]) {
      const { stdout } = await run(['down'], { TEMPORAL_HEALTH_STATE_DIR: other });
      expect(stdout).toBe('Nothing was up.\n');
    }
    expect(pids()).toEqual(before);
    expect(before.every((pid) => isAlive(pid ?? -1))).toBe(true);
  });

  it('takes two at once for one stack', async () => {
    const both = await Promise.all([run(['up']), run(['up'])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(running()).toHaveLength(3);
  });

  it('moves to other ports when the usual ones are taken', async () => {
    const holders = await Promise.all([7233, 8233, 15432].map(hold));
    onTestFinished(() => {
      for (const holder of holders) holder?.close();
    });
    const { code, stderr } = await run(['up']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/port 7233 is taken/);
    expect(readState(stateDir).temporal?.port).not.toBe(7233);
    expect(await run(['status'])).toMatchObject({ code: 0 });
  });
});

describe('a start that fails', () => {
  it('names the worker, shows what it said, and leaves nothing running', async () => {
    writeFileSync(join(folder, 'worker.ts'), `console.error('no such bundle'); process.exit(3);`);
    const { code, stderr } = await run(['up']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/WORKER_START_FAILED the worker: .*ended with 3/);
    expect(stderr).toContain('no such bundle');
    expect(running()).toEqual([]);
  });

  it('names the database that does not answer, without its password', async () => {
    const url = 'postgres://someone:s3cret@127.0.0.1:1/none';
    const { code, stderr } = await run(['up'], { TEMPORAL_HEALTH_DATABASE_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/POSTGRES_UNREACHABLE Postgres: .*127\.0\.0\.1:1\/none.*ECONNREFUSED/);
    expect(stderr).not.toContain('s3cret');
    expect(running()).toEqual([]);
  });

  it('is taken back by Ctrl-C in the middle', async () => {
    writeFileSync(join(folder, 'worker.ts'), 'setInterval(() => {}, 60_000);');
    const { child, said, ended } = launch(['up']);
    await waitUntil(() => said.stderr.includes('the worker'), 60_000);
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(running()).toEqual([]);
  });
});

describe('in the foreground', () => {
  /** The stack is up and the demonstration has begun: with the worker of this test it would never come to an end. */
  const begun = (said: { stderr: string }) => waitUntil(() => said.stderr.includes('the six cases'), 120_000);

  it.each(['SIGINT', 'SIGKILL'] as const)('leaves nothing after %s', async (signalName) => {
    const { child, said, ended } = launch([]);
    expect(await begun(said)).toBe(true);
    expect(running().length).toBeGreaterThanOrEqual(3);
    child.kill(signalName);
    const { code } = await ended;
    expect(code).toBe(signalName === 'SIGINT' ? 0 : null);
    if (signalName === 'SIGINT') expect(pids()).toEqual([undefined, undefined, undefined]);
    expect(await waitUntil(() => running().length === 0, 30_000)).toBe(true);
  });

  it('starts again what ended, on the same addresses, and says so', async () => {
    const { child, said, ended } = launch([]);
    expect(await begun(said)).toBe(true);
    const [, postgres, worker] = pids();
    const { url } = readState(stateDir).postgres ?? {};
    const says = (text: string) => waitUntil(() => said.stderr.includes(text), 60_000);
    process.kill(worker!, 'SIGKILL');
    expect(await says('worker ended; it is started again in 1 s')).toBe(true);
    expect(await says('worker is up again')).toBe(true);
    process.kill(postgres!, 'SIGQUIT');
    expect(await says('Postgres ended; it is started again in 1 s')).toBe(true);
    expect(await says('Postgres is up again')).toBe(true);
    expect(readState(stateDir).postgres?.url).toBe(url);
    expect((await run(['status'])).code).toBe(0);
    expect(pids().every((pid, at) => pid !== [undefined, postgres, worker][at])).toBe(true);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    expect(await waitUntil(() => running().length === 0, 30_000)).toBe(true);
  });

  it('is ended by down from another terminal', async () => {
    const { said, ended } = launch([]);
    expect(await begun(said)).toBe(true);
    expect((await run(['down'])).code).toBe(0);
    expect((await ended).code).toBe(0);
    expect(await waitUntil(() => running().length === 0, 30_000)).toBe(true);
  });
});

async function launchShell(text: string) {
  const child = spawn('/bin/sh', ['-c', text, script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TEMPORAL_CLI: testTemporal().cli,
      TEMPORAL_HEALTH_STATE_DIR: stateDir,
      TEMPORAL_HEALTH_WORKER: join(folder, 'worker.ts'),
    },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}
