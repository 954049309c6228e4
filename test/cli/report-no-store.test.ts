/** The command on a namespace that nobody prepared: no store, no contract, no plugin. Real server, real Temporal CLI. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { privateTemporal } from '../support/servers.ts';
import type { PrivateTemporal } from '../support/servers.ts';
import { health, LAUNCHER } from './support/command.ts';
import type { Ran, RunOptions } from './support/command.ts';
import { startWorker } from './support/worker-process.ts';
import type { WorkerProcess } from './support/worker-process.ts';

// Each test starts several processes; how long that takes is the machine's business.
vi.setConfig({ testTimeout: 240_000 });

interface Row {
  workflowId: string;
  verdict: string | null;
  reason: string;
  retry: { attempt: number; failureType: string; nextAttemptAt: string | null } | null;
  next: string;
  temporal: string;
}

const ORDINARY = 200;
const FAR_MS = 3_600_000;
let server: PrivateTemporal;
let folder: string;
let env: Record<string, string>;
let connection: Connection;
let client: Client;
let worker: WorkerProcess;

/** Graces short enough to wait for; everything else is as shipped. */
const POLICY = `export const policy = { noPollerGraceMs: 2_000, workflowTaskAttempts: 3 };`;

beforeAll(async () => {
  server = await privateTemporal();
  folder = mkdtempSync(join(tmpdir(), 'health-cli-'));
  const config = join(folder, 'health.config.mjs');
  writeFileSync(config, POLICY);
  symlinkSync(LAUNCHER, join(folder, 'temporal-health'));
  env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_HEALTH_CONFIG: config };
  connection = await Connection.connect({ address: server.address });
  client = new Client({ connection });
  await plant();
}, 240_000);

afterAll(async () => {
  await worker.kill();
  await connection.close();
  await server.discard();
  rmSync(folder, { recursive: true, force: true });
});

/** 200 ordinary runs, three that cannot move, three that closed. The worker lives. */
async function plant(): Promise<void> {
  const taskQueue = 'work';
  worker = await startWorker(server.address, taskQueue);
  const start = (type: string, workflowId: string, args: unknown[] = []): Promise<unknown> =>
    client.workflow.start(type, { workflowId, taskQueue, args });
  await start('broken', 'planted-broken');
  await start('unserved', 'planted-unserved', ['nobody-there']);
  for (let at = 0; at < ORDINARY; at += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => start('ordinary', `ordinary-${at + n}`)));
  }
  await start('retries', 'planted-loop', ['connect ECONNREFUSED 10.0.0.7:5432 \u001b[31m', 10]);
  await start('failsAtOnce', 'planted-failed');
  await start('ordinary', 'planted-done');
  await client.workflow.getHandle('planted-done').signal('finish');
  await start('retries', 'planted-given-up', ['no such thing', FAR_MS]);
  await until(async () => (await client.workflow.getHandle('planted-done').describe()).status.name === 'COMPLETED');
  await until(async () => (await client.workflow.getHandle('planted-failed').describe()).status.name === 'FAILED');
  await until(async () => ((await describeRun('planted-loop')).pendingActivities[0]?.attempt ?? 0) > 8);
  await until(async () => ((await describeRun('planted-broken')).pendingWorkflowTask?.attempt ?? 0) >= 3);
  await client.workflow.getHandle('planted-given-up').terminate('given up');
  await until(async () => {
    const query = 'ExecutionStatus = "Running"';
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query });
    return Number(count) === ORDINARY + 3;
  });
}

function describeRun(workflowId: string) {
  return connection.workflowService.describeWorkflowExecution({ namespace: 'default', execution: { workflowId } });
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 100));
}

const run = (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  health(args, { ...options, env: { ...env, ...options.env } });

function rowsOf({ stdout }: Ran): Map<string, Row> {
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  return new Map(rows.map((row) => [row.workflowId, row]));
}

const PLANTED = ['planted-broken', 'planted-failed', 'planted-given-up', 'planted-loop', 'planted-unserved'];

describe('report with no store', () => {
  it('finds what cannot move among 200 ordinary runs, each with its evidence; nothing else is called anything', async () => {
    const ran = await run(['report', '-o', 'json', '--exit-status']);
    expect(ran.stderr).toBe('');
    expect(ran.code).toBe(10);
    const report = JSON.parse(ran.stdout) as {
      runs: Row[];
      counts: { notInstrumented: number; byVerdict: Record<string, number> };
    };
    expect(report).toMatchObject({
      schemaVersion: 1,
      open: ORDINARY + 3,
      sources: { store: 'none', temporal: 'read' },
    });
    const rows = new Map(report.runs.map((row) => [row.workflowId, row]));
    const judged = report.runs.filter(({ verdict }) => verdict !== null).map(({ workflowId }) => workflowId);
    expect(judged.sort()).toEqual(PLANTED);
    expect(rows.get('planted-loop')).toMatchObject({
      verdict: 'stuck',
      reason: 'attempts-spent',
      retry: { failureType: 'ConnectError' },
      temporal: 'describe',
    });
    expect(rows.get('planted-loop')?.retry?.attempt).toBeGreaterThan(8);
    expect(rows.get('planted-unserved')).toMatchObject({ verdict: 'stuck', reason: 'no-poller' });
    expect(rows.get('planted-unserved')?.next).toContain('nobody-there');
    expect(rows.get('planted-broken')).toMatchObject({ verdict: 'stuck', reason: 'workflow-task-failing' });
    expect(rows.get('planted-failed')).toMatchObject({ reason: 'closed-without-result', retry: null });
    expect(rows.get('planted-given-up')).toMatchObject({ reason: 'closed-without-result', retry: null });
    // Ordinary runs are never green: nobody said what progress and success are.
    expect(report.counts).toMatchObject({ notInstrumented: ORDINARY, byVerdict: { healthy: 0, working: 0, stuck: 5 } });
    const ordinary = report.runs.filter(({ workflowId }) => workflowId.startsWith('ordinary-'));
    expect(ordinary).toHaveLength(ORDINARY);
    expect(ordinary.every(({ reason }) => reason === 'not-instrumented')).toBe(true);
  });

  it('text: the planted ones on one screen, what the code says escaped, and what receipts would add', async () => {
    const { stdout, stderr, code } = await run(['report'], { env: { LANG: 'C' } });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/^default - 203 open, \d+ closed in 24h - judged \d\d:\d\d:\d\dZ - no store, Temporal/);
    expect(stdout).toMatch(/x stuck +planted-loop +retries +.*ConnectError.*ECONNREFUSED 10\.0\.0\.7:5432 \\x1b\[31m/);
    expect(stdout).toMatch(/5 need you - 0 working, 0 healthy - 200 not instrumented/);
    expect(stdout).toContain('Receipts add progress, waits, effects and deliverables');
    // Without a UTF-8 locale every glyph of ours is ASCII, and off a terminal there is no escape and no carriage return.
    expect(stdout).toMatch(/^[\n -~]*$/);
  });

  it('describes no more than --limit, and says how many were left out', async () => {
    const { stdout } = await run(['report', '--limit', '10']);
    expect(stdout).toMatch(/19\d more runs were not looked at/);
  });

  it('what explain exports, classify judges the same, without a server and without the words of the failure', async () => {
    const exported = await run(['explain', '-w', 'planted-loop', '--export']);
    expect(exported.stdout).not.toContain('ECONNREFUSED');
    const judged = await health(['classify', '-'], { input: exported.stdout });
    expect(JSON.parse(judged.stdout)).toMatchObject({ verdict: 'stuck', reason: 'attempts-spent' });
    const said = await run(['explain', '-w', 'planted-loop']);
    expect(said.stdout).toContain('says: connect ECONNREFUSED');
  });

  it('refuses what it cannot find, each with its code', async () => {
    const unknown = await run(['explain', '-w', randomUUID(), '-o', 'json']);
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const { runId } = (await describeRun('planted-loop')).workflowExecutionInfo?.execution ?? {};
    const foreign = await run(['explain', '-w', 'planted-broken', '-r', runId ?? '']);
    expect(foreign).toMatchObject({ code: 3, stdout: '' });
    expect(foreign.stderr).toContain('RUN_NOT_IN_MISSION');
    expect(await run(['report', '-n', 'nowhere'])).toMatchObject({ code: 3, stdout: '' });
    const query = await run(['report', '-q', 'this is no filter']);
    expect(query).toMatchObject({ code: 2, stdout: '' });
    expect(query.stderr).toContain('USAGE');
  });

  it('a profile of a TOML file reaches the right server, and a reader that went away is no failure', async () => {
    const file = join(folder, 'temporal.toml');
    writeFileSync(file, `[profile.other]\naddress = "${server.address}"\nnamespace = "default"\n`);
    const flags = ['report', '-o', 'jsonl', '--profile', 'other', '--config-file', file];
    const ran = await health([...flags, '--type', 'unserved']);
    expect([...rowsOf(ran).keys()]).toEqual(['planted-unserved']);
    const piped = await health(
      ['-c', `"$@" | head -1; echo "rc \${PIPESTATUS[0]}"`, 'sh', process.execPath, LAUNCHER, ...flags],
      {
        program: 'bash',
      },
    );
    expect(piped.stdout.trim().split('\n')).toEqual([expect.stringContaining('"schemaVersion":1'), 'rc 0']);
    expect(piped.stderr).toBe('');
    expect((await health(['report', '--profile', 'none', '--config-file', file])).code).toBe(2);
  });
});

describe('through the real Temporal CLI', () => {
  const asExtension = (args: readonly string[]): Promise<Ran> =>
    run(args, { program: server.cli, env: { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` } });

  it('stdout and exit code pass through, and -o may stand anywhere', async () => {
    const ran = await asExtension(['health', 'report', '--needs-attention', '--exit-status', '-o', 'jsonl']);
    expect(ran.code).toBe(10);
    expect([...rowsOf(ran).keys()].sort()).toEqual(PLANTED);
    const globals = await asExtension([
      'health',
      '-n',
      'default',
      'report',
      '-q',
      'WorkflowId = "planted-loop"',
      '-o',
      'jsonl',
    ]);
    expect([...rowsOf(globals).keys()]).toEqual(['planted-loop']);
  });

  it('errors pass through on stderr with our codes', async () => {
    const misspelt = await asExtension(['health', 'reprot']);
    expect(misspelt).toMatchObject({ code: 2, stdout: '' });
    expect(misspelt.stderr).toContain('Did you mean report?');
    expect(await asExtension(['health', 'explain', '-w', randomUUID()])).toMatchObject({ code: 3, stdout: '' });
  });

  it('help and completion answer', async () => {
    const help = await asExtension(['help', 'health']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('explain');
    const complete = await asExtension(['__complete', 'health', '']);
    expect(complete.stdout).toMatch(/^report\t/m);
    expect(complete.stdout).toContain(':4');
  });
});

describe('with every worker killed', () => {
  beforeAll(() => worker.kill());

  it('the report is still right: what needs somebody still does, and for the loop nobody is left', async () => {
    const ran = await run(['report', '-o', 'jsonl', '--needs-attention']);
    expect(ran.code).toBe(0);
    const rows = rowsOf(ran);
    expect([...rows.keys()].sort()).toEqual(PLANTED);
    expect(rows.get('planted-broken')).toMatchObject({ verdict: 'stuck' });
    expect(rows.get('planted-loop')?.retry?.failureType).toBe('ConnectError');
  });

  it('explain tells a stranger what is wrong and what to do', async () => {
    const { stdout, code } = await run(['explain', '-w', 'planted-unserved']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/stuck: no-poller · planted-unserved · unserved · open/);
    expect(stdout).toMatch(/No worker polls task queue nobody-there, and work is due there\./);
    expect(stdout).toMatch(/task-queue +stuck +nobody-there: work due .* ago, nobody polls it/);
    expect(stdout).toMatch(/Safe action: Investigate, then one bounded recovery/);
    expect(stdout).toMatch(/Do not: restart it without a bound/);
    expect(stdout).toMatch(/Would change it: A worker that polls the task queue/);
  });

  it('doctor looks at everything and names each remedy', async () => {
    const { stdout } = await run(['doctor']);
    expect(stdout).toMatch(/ok +temporal +127\.0\.0\.1:\d+, server \d/);
    expect(stdout).toMatch(/ok +namespace +default/);
    expect(stdout).toMatch(/task queue +work: /);
    expect(stdout).toMatch(/note +store +none/);
  });
});
