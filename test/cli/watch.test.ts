/** `watch` and `report --watch`: a run and a fleet that change while they are looked at. Real server, a real terminal. */
import { once } from 'node:events';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ChangeLines } from '../../health/cli/change-line.ts';
import type { ReportRow } from '../../health/report.ts';
import { freshDatabase, privateTemporal } from '../support/servers.ts';
import type { FreshDatabase, PrivateTemporal } from '../support/servers.ts';
import { cleanEnvironment, LAUNCHER } from './support/command.ts';
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

beforeAll(async () => {
  [database, temporal] = await Promise.all([freshDatabase(), privateTemporal()]);
  planted = await openPlanted(temporal.address, database.url);
  worker = await startWorker(temporal.address, 'work');
}, 240_000);

afterAll(async () => {
  await worker.kill();
  await planted.close();
  await Promise.all([database.drop(), temporal.discard()]);
});

const settings = (): Record<string, string> => ({
  TEMPORAL_ADDRESS: temporal.address,
  TEMPORAL_HEALTH_DATABASE_URL: database.url,
});

/** The command, alone or as what another program runs, with what it has printed so far. */
function spawned(program: string, args: readonly string[]) {
  const env = cleanEnvironment({ ...settings(), TERM: 'xterm' });
  const child = execa(program, args, { env, extendEnv: false, reject: false, stripFinalNewline: false });
  const said = { text: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.text += chunk.toString();
    child.emit('said');
  });
  child.setMaxListeners(0);
  const printed = async (wanted: RegExp): Promise<void> => {
    while (!wanted.test(said.text)) {
      const ended = await Promise.race([once(child, 'said').then(() => false), once(child, 'exit').then(() => true)]);
      if (ended && !wanted.test(said.text)) throw new Error(`Ended without saying ${String(wanted)}: ${said.text}`);
    }
  };
  return { child, said, printed };
}

const command = (...args: string[]) => spawned(process.execPath, [LAUNCHER, ...args]);

const closed = async (workflowId: string): Promise<void> => {
  await planted.client.workflow.getHandle(workflowId).signal('finish');
  await planted.client.workflow.getHandle(workflowId).result();
};

const wait = () => ({
  ...{ name: 'approve', owner: 'ann', deadlineMs: Date.now() + 3_600_000 },
  ...({ resumeToken: 'wt-1', resumeBy: 'approval', state: 'open' } as const),
});

describe('watch', () => {
  it('off a terminal: one row for each change until the run closes; --exit-status says how', async () => {
    const runId = await planted.start('watched');
    const { child, printed } = command('watch', '-w', 'watched', '-i', '300ms', '-o', 'jsonl', '--exit-status');
    await printed(/"verdict":"working"/);
    await planted.emit(runId, 'watched', 'wait', wait(), Date.now());
    await printed(/"verdict":"waiting"/);
    await closed('watched');
    const ended = await child;
    expect(ended).toMatchObject({ exitCode: 11, stderr: '' });
    const rows = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ReportRow);
    expect(rows.map(({ verdict }) => verdict)).toEqual(['working', 'waiting', 'false-success']);
    const text = await healthHere(['watch', '-w', 'watched'], settings());
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/^\d\d:\d\d:\d\dZ ≠ false-success watched deliverable-missing [^\n]*\n$/);
  });

  it('on a terminal the screen replaces itself, and only there', async () => {
    const runId = await planted.start('on-screen');
    const line = [process.execPath, LAUNCHER, 'watch', '-w', 'on-screen', '-i', '300ms', '--color', 'never'];
    const { child, said, printed } = spawned('script', [
      '-qefc',
      line.map((part) => `'${part}'`).join(' '),
      '/dev/null',
    ]);
    await printed(/working: starting/);
    await planted.emit(runId, 'on-screen', 'deliverable', passingReport, Date.now());
    await closed('on-screen');
    expect((await child).exitCode).toBe(0);
    // eslint-disable-next-line no-control-regex -- this is what a terminal is told
    expect(said.text).toMatch(/\u001b\[\d+A\r\u001b\[J[^]*healthy: verified/);
    expect(said.text).toContain('Looks every 300ms; Ctrl-C ends.');
    const compact = await healthHere(['watch', '-w', 'on-screen', '--compact'], settings());
    // eslint-disable-next-line no-control-regex -- escapes are for terminals
    expect(compact.stdout).not.toMatch(/[\u001b\r]/);
  });

  it('an unknown run is 3 and a form that never ends is refused', async () => {
    expect(await healthHere(['watch', '-w', 'nobody'], settings())).toMatchObject({ code: 3, stdout: '' });
    expect(await healthHere(['watch', '-w', 'nobody', '-o', 'json'], settings())).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(await healthHere(['report', '--watch', '-o', 'nagios'], settings())).toMatchObject({ code: 3 });
    expect(await healthHere(['report', '--watch', '--exit-status'], settings())).toMatchObject({ code: 2 });
  });
});

describe('report --watch', () => {
  it('a report first, then the changes, until it is interrupted', async () => {
    const runId = await planted.start('fleet-1');
    await planted.emit(runId, 'fleet-1', 'wait', wait(), Date.now());
    await expect
      .poll(async () => (await healthHere(['report', '--type', 'ordinary'], settings())).stdout, { timeout: 60_000 })
      .toMatch(/waiting +fleet-1/);
    const { child, printed, said } = command('report', '--watch', '-i', '300ms', '--query', 'WorkflowId = "fleet-1"');
    await printed(/waiting +fleet-1 .*\n1? ?[^]*working, \d healthy\n/);
    await closed('fleet-1');
    await printed(/^\d\d:\d\d:\d\dZ ≠ false-success fleet-1 /m);
    child.kill('SIGINT');
    expect(await child).toMatchObject({ exitCode: 130, stderr: '' });
    expect(said.text.match(/fleet-1/g)?.length).toBe(2);
  });
});

it('lines that come too fast are held: the newest of each run, in one go', async () => {
  let nowMs = 0;
  const written: string[] = [];
  const lines = new ChangeLines(
    5_000,
    (rows) => Promise.resolve(void written.push(rows.map(({ reason }) => reason).join())),
    () => nowMs,
  );
  const add = (workflowId: string, reason: string) => {
    lines.add({ workflowId, reason } as ReportRow);
  };
  add('a', 'starting');
  await lines.flush();
  nowMs = 4_000;
  add('a', 'wait');
  add('b', 'wait');
  add('a', 'silent');
  await lines.flush();
  expect(written).toEqual(['starting']);
  nowMs = 5_000;
  await lines.flush();
  expect(written).toEqual(['starting', 'wait,silent']);
  add('a', 'verified');
  await lines.flush(true);
  expect(written).toEqual(['starting', 'wait,silent', 'verified']);
});
