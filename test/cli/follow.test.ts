/** `wait-for`, `watch` and `report --watch` on runs that change while they are followed. Real servers, real processes. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { once } from 'node:events';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freshDatabase, privateTemporal } from '../support/servers.ts';
import type { FreshDatabase, PrivateTemporal } from '../support/servers.ts';
import { cleanEnvironment, LAUNCHER } from './support/command.ts';
import type { Ran } from './support/command.ts';
import { healthHere } from './support/in-process.ts';
import { openPlanted, passingReport } from './support/planted.ts';
import type { Planted } from './support/planted.ts';
import { startWorker } from './support/worker-process.ts';
import type { WorkerProcess } from './support/worker-process.ts';

// Whole servers are started and runs brought into their state; how long that takes is the machine's business.
vi.setConfig({ testTimeout: 240_000 });

let database: FreshDatabase;
let temporal: PrivateTemporal;
let planted: Planted;
let worker: WorkerProcess;
let door: Door;

beforeAll(async () => {
  [database, temporal] = await Promise.all([freshDatabase(), privateTemporal()]);
  planted = await openPlanted(temporal.address, database.url);
  worker = await startWorker(temporal.address, 'work');
  door = await openDoor(temporal.address);
}, 240_000);

afterAll(async () => {
  await worker.kill();
  await door.close();
  await planted.close();
  await Promise.all([database.drop(), temporal.discard()]);
});

/** What stands between the command and Temporal, and can be shut for a while. */
interface Door {
  readonly address: string;
  shut(): void;
  open(): void;
  /** Resolves when the next connection is refused. */
  knocked(): Promise<unknown>;
  close(): Promise<void>;
}

async function openDoor(to: string): Promise<Door> {
  const [host = '', port = ''] = to.split(':');
  const sockets = new Set<Socket>();
  let shut = false;
  const server: Server = createServer((socket) => {
    if (shut) {
      socket.destroy();
      server.emit('knock');
      return;
    }
    const behind = connect(Number(port), host);
    for (const one of [socket, behind]) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => sockets.delete(one));
    }
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut() {
      shut = true;
      destroyAll();
    },
    open() {
      shut = false;
    },
    knocked: () => once(server, 'knock'),
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const settings = (): Record<string, string> => ({
  TEMPORAL_ADDRESS: temporal.address,
  TEMPORAL_HEALTH_DATABASE_URL: database.url,
});

const run = (...args: string[]): Promise<Ran> => healthHere(args, settings());

/** The command as a process, with what it has printed so far. */
function spawned(args: readonly string[], env: Record<string, string> = {}) {
  const child = execa(process.execPath, [LAUNCHER, ...args], {
    env: cleanEnvironment({ ...settings(), ...env }),
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString();
      child.emit('said');
    });
  }
  child.setMaxListeners(0);
  const printed = async (wanted: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> => {
    while (!wanted.test(said[stream])) {
      const ended = await Promise.race([once(child, 'said').then(() => false), once(child, 'exit').then(() => true)]);
      if (ended) throw new Error(`Ended without saying ${String(wanted)}: ${said.stdout}${said.stderr}`);
    }
  };
  return { child, printed };
}

const finish = async (workflowId: string): Promise<void> => {
  await planted.client.workflow.getHandle(workflowId).signal('finish');
  await planted.client.workflow.getHandle(workflowId).result();
};

const delivered = async (workflowId: string, runId: string): Promise<void> => {
  await planted.emit(runId, workflowId, 'deliverable', passingReport, Date.now());
  await finish(workflowId);
};

describe('wait-for', () => {
  it('blocks until every run is what was waited for, with one line for each change', async () => {
    const first = await planted.start('both-1');
    await delivered('both-1', first);
    const second = await planted.start('both-2');
    const { child, printed } = spawned(['wait-for', '-w', 'both-1', '-w', 'both-2', '--for', 'healthy', '-i', '300ms']);
    await printed(/both-2/);
    await delivered('both-2', second);
    const ended = await child;
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    const lines = ended.stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\dZ ✔ healthy {7}both-1 verified /);
    expect(lines[1]).toMatch(/^\d\d:\d\d:\d\dZ ▶ working {7}both-2 starting /);
    expect(lines[2]).toMatch(/^\d\d:\d\d:\d\dZ ✔ healthy {7}both-2 verified /);
    expect(lines).toHaveLength(3);
    // eslint-disable-next-line no-control-regex -- escapes and redrawn lines are for terminals
    expect(ended.stdout).not.toMatch(/[\u001b\r]/);
  });

  it('ends at once where a closed run will never be it: 11 for a false success, 10 for stuck, 1 for anything else', async () => {
    const claimed = await planted.start('claimed');
    await planted.emit(claimed, 'claimed', 'progress', { milestone: 'pages', digest: 'p1' }, Date.now());
    await finish('claimed');
    const ran = await run('wait-for', '-w', 'claimed', '--for', 'healthy');
    expect(ran.code).toBe(11);
    expect(ran.stderr).toMatch(
      /claimed is false-success \(deliverable-missing\) and will not be healthy\.\n.*explain -w claimed/,
    );
    const failed = await planted.client.workflow.start('failsAtOnce', { workflowId: 'failed', taskQueue: 'work' });
    await expect(failed.result()).rejects.toThrow();
    expect((await run('wait-for', '-w', 'failed', '--for', 'healthy')).code).toBe(10);
    const fine = await planted.start('fine');
    await delivered('fine', fine);
    expect((await run('wait-for', '-w', 'fine', '--for', 'stuck')).code).toBe(1);
    expect((await run('wait-for', '-w', 'fine', '--for', 'deliverable,stuck')).code).toBe(0);
  });

  it('an effect that nobody settled keeps a closed run uncertain: 12', async () => {
    const runId = await planted.start('paid');
    const digest = `sha256:${'a'.repeat(64)}` as const;
    const charge = { operationId: 'pi_9/charge', name: 'charge', state: 'attempted', inputDigest: digest } as const;
    await planted.emit(runId, 'paid', 'effect', charge, Date.now() - 600_000);
    await finish('paid');
    expect((await run('wait-for', '-w', 'paid', '--for', 'healthy')).code).toBe(12);
  });

  it('124 when the time is over, with what the run is now; an unknown run is 3 at once', async () => {
    await planted.start('slow');
    const ran = await run('wait-for', '-w', 'slow', '--for', 'healthy', '--timeout', '1s', '-i', '200ms');
    expect(ran.code).toBe(124);
    expect(ran.stdout.trim().split('\n')).toHaveLength(1);
    expect(ran.stderr).toMatch(/^Timed out after 1s: slow is working \(starting\)\.\n.*--timeout/);
    const json = await run('wait-for', '-w', 'slow', '--for', 'healthy', '--timeout', '500ms', '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'timed-out', runs: [{ verdict: 'working' }] });
    const unknown = await run('wait-for', '-w', 'slow', '-w', 'nobody', '--for', 'healthy', '-o', 'json');
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('a wrong address is 5 at once; a server that goes away later is waited for, and nothing is called anything meanwhile', async () => {
    const wrong = await healthHere(['wait-for', '-w', 'x', '--for', 'healthy', '--client-connect-timeout', '1s'], {
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    expect(wrong).toMatchObject({ code: 5, stdout: '' });
    const runId = await planted.start('outlives');
    const args = ['wait-for', '-w', 'outlives', '--for', 'healthy,uncertain', '-i', '300ms', '--command-timeout', '2s'];
    const { child, printed } = spawned(args, { TEMPORAL_ADDRESS: door.address });
    await printed(/working/);
    door.shut();
    await printed(/Temporal does not answer\. Waiting on\./, 'stderr');
    await delivered('outlives', runId);
    door.open();
    const ended = await child;
    expect(ended.exitCode).toBe(0);
    expect(ended.stdout).toMatch(/^[^\n]* working [^\n]*\n[^\n]* healthy [^\n]*\n$/);
  });

  it('an outage that outlasts the time is 5', async () => {
    await planted.start('unheard');
    const args = ['wait-for', '-w', 'unheard', '--for', 'healthy', '-i', '300ms', '--command-timeout', '1s'];
    const { child, printed } = spawned([...args, '--timeout', '15s'], { TEMPORAL_ADDRESS: door.address });
    await printed(/working/);
    door.shut();
    const ended = await child;
    door.open();
    expect(ended.exitCode).toBe(5);
    expect(ended.stderr).toContain('TEMPORAL_UNREACHABLE');
  });

  it('asks seldom: the interval, or the moment at which time may change what was said', async () => {
    await planted.start('seldom');
    const { child, printed } = spawned(['wait-for', '-w', 'seldom', '--for', 'healthy', '-i', '1h'], {
      TEMPORAL_ADDRESS: door.address,
    });
    await printed(/working/);
    // It sleeps: with the server out of reach nothing is asked, so nothing is missed.
    door.shut();
    child.kill('SIGINT');
    expect(await child).toMatchObject({ exitCode: 130, stderr: '' });
    door.open();
  });

  it('follows a run over continue-as-new, and takes no later run of the same id for it', async () => {
    const { client } = planted;
    await client.workflow.start('renews', { workflowId: 'renewed', taskQueue: 'work' });
    const ran = await run('wait-for', '-w', 'renewed', '--for', 'working', '--timeout', '2s', '-o', 'json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ outcome: 'timed-out', runs: [{ reason: 'not-instrumented' }] });
    const again = await planted.start('again');
    const { child, printed } = spawned(['wait-for', '-w', 'again', '--for', 'waiting', '-i', '300ms']);
    await printed(/again/);
    await delivered('again', again);
    await planted.start('again');
    const ended = await child;
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain('again is healthy (verified) and will not be waiting');
  });

  it('refuses what it cannot wait for', async () => {
    expect(await run('wait-for', '-w', 'x', '--for', 'fine')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('wait-for', '--for', 'healthy')).toMatchObject({ code: 2, stdout: '' });
    expect(await run('wait-for', '-w', 'x', '--for', 'healthy', '--timeout', 'soon')).toMatchObject({ code: 2 });
  });
});
