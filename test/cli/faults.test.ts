/** The command while a server hangs, when it is killed or cannot write, and beside a second cluster. Real servers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { childrenOf, signal } from '../../bin/dev/processes.ts';
import { privatePostgres, privateTemporal } from '../support/servers.ts';
import type { PrivatePostgres, PrivateTemporal } from '../support/servers.ts';
import { cleanEnvironment, health, LAUNCHER } from './support/command.ts';
import type { Ran } from './support/command.ts';
import { openPlanted } from './support/planted.ts';
import type { Planted } from './support/planted.ts';

const FAST = ['--client-connect-timeout', '2s', '--command-timeout', '2s'];
const RUNS = ['run-bare', 'run-uncertain', 'run-working'];
const TRUTH = { 'run-bare': null, 'run-uncertain': 'uncertain', 'run-working': 'working' };

let postgres: PrivatePostgres;
let temporal: PrivateTemporal;
let planted: Planted;

beforeAll(async () => {
  [postgres, temporal] = await Promise.all([privatePostgres(), privateTemporal()]);
  planted = await openPlanted(temporal.address, postgres.url);
  await plantProgress(planted);
  const charge = { operationId: 'pi_88/charge', name: 'charge', state: 'attempted' } as const;
  const runId = await planted.start('run-uncertain');
  await planted.emit(runId, 'run-uncertain', 'effect', charge, Date.now() - 14 * 60_000);
  await planted.start('run-bare', 'sleeps');
  await vi.waitFor(async () => {
    expect(await listed(planted)).toBe(RUNS.length);
  });
}, 240_000);

afterAll(async () => {
  await planted.close();
  await Promise.all([postgres.discard(), temporal.discard()]);
});

async function plantProgress(on: Planted): Promise<void> {
  const runId = await on.start('run-working');
  await on.emit(runId, 'run-working', 'progress', { milestone: 'pages', digest: 'p1' }, Date.now());
}

async function listed({ connection }: Planted): Promise<number> {
  const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query: '' });
  return Number(count);
}

const envOf = (url: string, address = temporal.address): Record<string, string> => ({
  TEMPORAL_ADDRESS: address,
  TEMPORAL_HEALTH_DATABASE_URL: url,
});
const run = (args: readonly string[], url = postgres.url): Promise<Ran> =>
  health([...args, ...FAST], { env: envOf(url) });

function verdictsOf({ stdout }: Ran): Record<string, string | null> {
  const rows = stdout.split('\n').filter((line) => line !== '');
  return Object.fromEntries(
    rows.map((line) => {
      const { workflowId, verdict } = JSON.parse(line) as { workflowId: string; verdict: string | null };
      return [workflowId, verdict];
    }),
  );
}

interface Gate {
  readonly url: string;
  /** Resolves when the command has asked the question, which is held back. */
  readonly reached: Promise<void>;
  /** Lets the question, and all that follow, through. */
  open(): void;
}

/** Stands before Postgres and holds the first statement of this name back: the command is then in the middle of its work. */
async function gateAt(statement: string): Promise<Gate> {
  const target = new URL(postgres.url);
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isOpen = false;
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.on('data', (bytes) => {
      if (isOpen || !bytes.includes(statement)) far.write(bytes);
      else {
        held.push(() => far.write(bytes));
        reach();
      }
    });
    far.on('data', (bytes) => near.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const url = new URL(postgres.url);
  url.port = String((proxy.address() as AddressInfo).port);
  const open = (): void => {
    isOpen = true;
    for (const pass of held) pass();
  };
  return { url: url.toString(), reached, open };
}

/** All that either server has of the runs, as text. */
async function everything(): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ dump: string }>(
    `select schema_to_xml('temporal_health', true, false, '')::text as dump`,
  );
  await client.end();
  const histories = await Promise.all(RUNS.map((id) => planted.client.workflow.getHandle(id).fetchHistory()));
  const events = histories.map(({ events }) =>
    events?.map(({ eventId, eventType }) => `${String(eventId)} ${String(eventType)}`),
  );
  return JSON.stringify([rows[0]?.dump, events]);
}

/** Stops the processes with SIGSTOP for as long as the work takes. */
async function whileStopped<T>(pids: readonly number[], work: () => Promise<T>): Promise<T> {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    for (const pid of pids) signal(pid, 'SIGCONT');
  }
}

const family = (): number[] => [postgres.pid(), ...childrenOf(postgres.pid())];

describe('a server that hangs', { timeout: 120_000 }, () => {
  it('Postgres: report and explain end with 5 and nothing green, begun before or in it; afterwards all is as it was', async () => {
    const before = await everything();
    const gates = [await gateAt('list_chains'), await gateAt('read_chain')];
    const begun = [run(['report', '-o', 'jsonl'], gates[0]?.url), run(['explain', '-w', 'run-working'], gates[1]?.url)];
    await Promise.all(gates.map(({ reached }) => reached));
    const [report, explained, begunReport, begunExplained] = await whileStopped(family(), async () => {
      for (const gate of gates) gate.open();
      return await Promise.all([run(['report', '-o', 'jsonl']), run(['explain', '-w', 'run-working']), ...begun]);
    });
    for (const ran of [report, begunReport]) {
      expect(ran?.code).toBe(5);
      expect(ran && verdictsOf(ran)).toEqual(Object.fromEntries(RUNS.map((id) => [id, 'uncertain'])));
    }
    for (const ran of [explained, begunExplained]) {
      expect(ran?.code).toBe(5);
      expect(ran?.stdout).toMatch(/uncertain: evidence-unread · run-working/);
    }
    expect(await everything()).toBe(before);
    const healed = await run(['report', '-o', 'jsonl']);
    expect(healed).toMatchObject({ code: 0, stderr: '' });
    expect(verdictsOf(healed)).toEqual(TRUTH);
  });

  it('Temporal: the same, with the receipts shown', async () => {
    const gates = [await gateAt('read_gaps'), await gateAt('read_gaps')];
    const begun = [run(['report', '-o', 'jsonl'], gates[0]?.url), run(['explain', '-w', 'run-working'], gates[1]?.url)];
    await Promise.all(gates.map(({ reached }) => reached));
    const [report, explained, begunReport, begunExplained] = await whileStopped([temporal.pid()], async () => {
      for (const gate of gates) gate.open();
      return await Promise.all([run(['report', '-o', 'jsonl']), run(['explain', '-w', 'run-working']), ...begun]);
    });
    for (const ran of [report, begunReport]) {
      expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining('TEMPORAL_UNREACHABLE') as string });
      expect(ran && verdictsOf(ran)).toEqual({ 'run-uncertain': 'uncertain', 'run-working': 'uncertain' });
    }
    for (const ran of [explained, begunExplained]) {
      expect(ran?.code).toBe(5);
      expect(ran?.stdout).toMatch(/uncertain: evidence-unread · run-working/);
    }
    expect(verdictsOf(await run(['report', '-o', 'jsonl']))).toEqual(TRUTH);
  });
});

describe('a report that does not get to its end', { timeout: 60_000 }, () => {
  it.each([
    ['SIGKILL', { code: null, signal: 'SIGKILL' }],
    ['SIGINT', { code: 130, signal: null }],
  ] as const)('by %s in the middle: nothing changes in the store or in Temporal', async (name, end) => {
    const before = await everything();
    const gate = await gateAt('list_chains');
    const env = cleanEnvironment(envOf(gate.url));
    const command = spawn(process.execPath, [LAUNCHER, 'report'], { env, cwd: tmpdir(), stdio: 'ignore' });
    const gone = once(command, 'exit');
    await gate.reached;
    command.kill(name);
    const [code, by] = (await gone) as [number | null, string | null];
    expect({ code, signal: by }).toEqual(end);
    expect(await everything()).toBe(before);
  });

  it('on a full disk: says on stderr that the output is not whole, and fails; full too, the exit code still says it', async () => {
    const full = openSync('/dev/full', 'w');
    const ends = async (args: readonly string[], stdio: [number | 'pipe', number | 'pipe']) => {
      const env = cleanEnvironment(envOf(postgres.url));
      const command = spawn(process.execPath, [LAUNCHER, ...args], { env, cwd: tmpdir(), stdio: ['ignore', ...stdio] });
      let said = '';
      command.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const [code] = (await once(command, 'close')) as [number | null];
      return { code, said };
    };
    const [text, json, missing] = await Promise.all([
      ends(['report'], [full, 'pipe']),
      ends(['report', '-o', 'json'], [full, 'pipe']),
      ends(['explain', '-w', 'nobody'], [full, full]),
    ]);
    expect(text).toEqual({
      code: 1,
      said: expect.stringMatching(/^Error: .*ENOSPC.* \(OUTPUT_UNWRITABLE\)\n/) as string,
    });
    expect(JSON.parse(json.said)).toMatchObject({ error: { code: 'OUTPUT_UNWRITABLE' } });
    expect(missing.code).toBe(3);
  });
});

describe('two clusters with one namespace on one Postgres', { timeout: 60_000 }, () => {
  it('never mix: each is told of its own run of that id, no receipt crosses, and with Temporal away none is guessed', async () => {
    const other = await privateTemporal();
    onTestFinished(() => other.discard());
    const there = await openPlanted(other.address, postgres.url);
    onTestFinished(() => there.close());
    const runId = await there.start('run-working');
    const charge = { operationId: 'pi_99/charge', name: 'charge', state: 'attempted' } as const;
    await there.emit(runId, 'run-working', 'effect', charge, Date.now() - 14 * 60_000);
    await expect.poll(() => listed(there)).toBe(1);

    const onOther = { env: envOf(postgres.url, other.address) };
    const [here, elsewhere, explained, explainedThere] = await Promise.all([
      run(['report', '-o', 'jsonl']),
      health(['report', '-o', 'jsonl'], onOther),
      run(['explain', '-w', 'run-working']),
      health(['explain', '-w', 'run-working'], onOther),
    ]);
    expect(verdictsOf(here)).toEqual(TRUTH);
    expect(verdictsOf(elsewhere)).toEqual({ 'run-working': 'uncertain' });
    expect(explained.stdout).toMatch(/^. working: /);
    expect(explainedThere.stdout).toMatch(/uncertain: effect-unsettled/);

    const [foreign] = await there.store.readReceipts(
      { namespace: 'default', workflowId: 'run-working', chainId: runId },
      1,
    );
    if (foreign === undefined) throw new Error('no receipt');
    expect(await planted.store.emit([foreign])).toMatchObject([
      { outcome: 'refused', error: { code: 'CLUSTER_MISMATCH' } },
    ]);
    const away = await health(['report', ...FAST], { env: envOf(postgres.url, '127.0.0.1:1') });
    expect(away).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringContaining('TEMPORAL_UNREACHABLE') as string,
    });
  });
});
