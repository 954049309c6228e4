/** What a report shows of its runs: filters, columns, and the line that a monitoring system reads. Real servers. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freshDatabase, privateTemporal } from '../support/servers.ts';
import type { FreshDatabase, PrivateTemporal } from '../support/servers.ts';
import type { Ran } from './support/command.ts';
import { healthHere } from './support/in-process.ts';
import { openPlanted, plantSix } from './support/planted.ts';
import type { Planted } from './support/planted.ts';

// Whole servers are started and runs brought into their state; how long that takes is the machine's business.
vi.setConfig({ testTimeout: 240_000 });

let database: FreshDatabase;
let temporal: PrivateTemporal;
let planted: Planted;

beforeAll(async () => {
  [database, temporal] = await Promise.all([freshDatabase(), privateTemporal()]);
  planted = await openPlanted(temporal.address, database.url);
  await plantSix(planted, temporal.address);
}, 240_000);

afterAll(async () => {
  await planted.close();
  await Promise.all([database.drop(), temporal.discard()]);
});

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  healthHere(args, { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_HEALTH_DATABASE_URL: database.url, ...env });

const shown = async (...filters: string[]): Promise<string[]> => {
  const ran = await run(['report', '-o', 'jsonl', ...filters]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const lines = ran.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { workflowId: string }).workflowId).sort();
};

describe('filters', () => {
  it('are combined by AND, Temporal’s own query among them', async () => {
    const open = 'ExecutionStatus = "Running"';
    expect(await shown('--query', open)).toEqual([
      'run-bare',
      'run-stuck',
      'run-uncertain',
      'run-waiting',
      'run-working',
    ]);
    expect(await shown('--query', open, '--needs-attention')).toEqual(['run-stuck', 'run-uncertain']);
    // Its OR stays inside: it does not reach over our own filter.
    const either = 'WorkflowId = "run-stuck" OR WorkflowId = "run-bare"';
    expect(await shown('--query', either, '--type', 'ordinary')).toEqual(['run-stuck']);
    expect(await shown('--owner', 'finance-oncall')).toEqual(['run-waiting']);
    expect(await shown('--owner', 'finance-oncall', '--verdict', 'stuck')).toEqual([]);
    expect(await shown('--owner', 'nobody')).toEqual([]);
    expect(await shown('--verdict', 'stuck, healthy')).toEqual(['run-healthy', 'run-stuck']);
    expect(await shown('--reason', 'milestone-stale,not-instrumented')).toEqual(['run-bare', 'run-stuck']);
    expect(await shown('--type', 'sleeps')).toEqual(['run-bare']);
  });

  it('a query that Temporal refuses is a usage error in Temporal’s words', async () => {
    const ran = await run(['report', '--query', 'NoSuchAttribute = 1']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(/invalid query.*NoSuchAttribute.*\(USAGE\)/);
  });
});

describe('columns', () => {
  it('those that were asked for, in that order, with and without a header', async () => {
    const args = ['report', '--columns', 'workflow,reason,owner,verdict', '--verdict', 'waiting,stuck'];
    const { stdout } = await run(args);
    const lines = stdout.split('\n');
    expect(lines[1]).toMatch(/^WORKFLOW +REASON +OWNER +VERDICT$/);
    expect(lines[2]).toMatch(/^run-stuck +milestone-stale +■ stuck$/);
    expect(lines[3]).toMatch(/^run-waiting +wait +finance-oncall +⏸ waiting$/);
    const bare = (await run([...args, '--no-header'])).stdout.split('\n');
    expect(bare[0]).toMatch(/^run-stuck /);
  });

  it('an unknown one is a usage error that lists the valid ones, and JSON has all of them anyway', async () => {
    const unknown = await run(['report', '--columns', 'workflow,moon']);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/--columns takes verdict, workflow, run, .*; 'moon' is none of them\. \(USAGE\)/);
    expect(await run(['report', '--columns', 'run', '-o', 'json'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('the line of a monitoring system', () => {
  it('report: 2 and who needs you; 0 where the filters leave nothing bad', async () => {
    const all = await run(['report', '-o', 'nagios']);
    expect(all).toMatchObject({ code: 2, stderr: '' });
    expect(all.stdout).toMatch(
      /^HEALTH CRITICAL - 3 need you: .*run-stuck stuck \(milestone-stale\).* \| working=1 waiting=1 stuck=1;;0 uncertain=1;;0 false_success=1;;0 healthy=1 not_instrumented=1\n$/,
    );
    const fine = await run(['-o', 'nagios', 'report', '--verdict', 'working,healthy']);
    expect(fine.code).toBe(0);
    expect(fine.stdout).toMatch(/^HEALTH OK - nothing needs you \| working=1 /);
  });

  it('explain: each verdict has its state, and a run without a verdict is unknown', async () => {
    const line = async (workflowId: string) => run(['explain', '-w', workflowId, '-o', 'nagios']);
    const stuck = await line('run-stuck');
    expect(stuck).toMatchObject({ code: 2, stderr: '' });
    expect(stuck.stdout).toMatch(/^HEALTH CRITICAL - run-stuck stuck \(milestone-stale\): .* \| since=18\d\d\n$/);
    expect((await line('run-healthy')).code).toBe(0);
    expect((await line('run-waiting')).code).toBe(0);
    expect((await line('run-bare')).code).toBe(3);
    expect((await line('nobody')).stdout).toMatch(/^HEALTH UNKNOWN - .*\(NOT_FOUND\)\n$/);
    expect((await line('nobody')).code).toBe(3);
  });

  it('1 where four fifths of a wait are over', async () => {
    const runId = await planted.start('run-nearly');
    const openedAtMs = Date.now() - 9 * 3_600_000;
    const wait = {
      ...{ name: 'approve', owner: 'ann', deadlineMs: openedAtMs + 10 * 3_600_000 },
      ...({ resumeToken: 'wt-2', resumeBy: 'approval', state: 'open' } as const),
    };
    await planted.emit(runId, 'run-nearly', 'wait', wait, openedAtMs);
    const ran = await run(['explain', '-w', 'run-nearly', '-o', 'nagios']);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(
      /^HEALTH WARNING - run-nearly waiting \(wait, 90 % of the time of wait approve spent\): /,
    );
    expect((await run(['wait-for', '-w', 'run-nearly', '--for', 'waiting', '-o', 'nagios'])).code).toBe(1);
    const report = await run(['report', '--owner', 'ann', '-o', 'nagios']);
    expect(report.stdout).toMatch(/^HEALTH WARNING - 1 near a limit: run-nearly /);
    await planted.client.workflow.getHandle('run-nearly').terminate();
  });

  it('3 where the check itself could not read, with nothing on stderr that nobody would see', async () => {
    const ran = await run(['report', '-o', 'nagios', '--client-connect-timeout', '1s', '--address', '127.0.0.1:1']);
    expect(ran).toMatchObject({ code: 3, stderr: '' });
    expect(ran.stdout).toMatch(/^HEALTH UNKNOWN - Temporal at 127\.0\.0\.1:1 .*\(TEMPORAL_UNREACHABLE\)\n$/);
    expect(await run(['report', '-o', 'nagios', '--lmit', '3'])).toMatchObject({ code: 3, stderr: '' });
    expect((await run(['doctor', '-o', 'nagios'])).stdout).toContain('-o nagios is for report, explain and wait-for');
  });
});
