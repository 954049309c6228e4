/** The command on runs with receipts: six verdicts, and what it says while Postgres or Temporal is down. Real servers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ReceiptStore } from '../../receipts/store.ts';
import { privatePostgres, privateTemporal } from '../support/servers.ts';
import type { PrivatePostgres, PrivateTemporal } from '../support/servers.ts';
import { health } from './support/command.ts';
import type { Ran } from './support/command.ts';
import { openPlanted, plantSix, SIX } from './support/planted.ts';
import type { Planted } from './support/planted.ts';

// Each test starts several processes; how long that takes is the machine's business.
vi.setConfig({ testTimeout: 240_000 });

interface Row {
  workflowId: string;
  verdict: string | null;
  reason: string;
  temporal: string;
  wait: { owner: string } | null;
}

let postgres: PrivatePostgres;
let temporal: PrivateTemporal;
let planted: Planted;
let store: ReceiptStore;
let folder: string;

beforeAll(async () => {
  [postgres, temporal] = await Promise.all([privatePostgres(), privateTemporal()]);
  folder = mkdtempSync(join(tmpdir(), 'health-store-'));
  planted = await openPlanted(temporal.address, postgres.url);
  store = planted.store;
  await plantSix(planted, temporal.address);
}, 240_000);

afterAll(async () => {
  await planted.close();
  await Promise.all([postgres.discard(), temporal.discard()]);
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  health(args, { env: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_HEALTH_DATABASE_URL: postgres.url, ...env } });

function rowsOf({ stdout }: Ran): Map<string, Row> {
  const rows = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
  return new Map(rows.map((row) => [row.workflowId, row]));
}

const verdicts = (ran: Ran): Record<string, string | null> =>
  Object.fromEntries([...rowsOf(ran)].map(([workflowId, { verdict }]) => [workflowId, verdict]));

describe('report with a store, every worker dead', () => {
  it('shows six verdicts; Temporal is asked about suspects only, and says so', async () => {
    const ran = await run(['report', '-o', 'jsonl', '--exit-status']);
    expect(ran).toMatchObject({ code: 12, stderr: '' });
    expect(verdicts(ran)).toEqual({ ...SIX, 'run-bare': null });
    const rows = rowsOf(ran);
    const described = [...rows.values()].filter((row) => row.temporal === 'describe').map((row) => row.workflowId);
    expect(described.sort()).toEqual(['run-bare', 'run-false', 'run-stuck', 'run-uncertain']);
    expect(rows.get('run-waiting')?.wait?.owner).toBe('finance-oncall');
    expect([...rows.keys()].slice(0, 6)).toEqual([...rows.keys()].slice(0, 6).sort());
  });

  it('text: worst first, with what to do, since when, and one closing line', async () => {
    const { stdout } = await run(['report']);
    const words = stdout.split('\n').flatMap((line) => /^(\S) (\S+) +run-/.exec(line)?.slice(1, 3) ?? []);
    expect(words).toEqual([
      '?',
      'uncertain',
      '≠',
      'false-success',
      '■',
      'stuck',
      '⏸',
      'waiting',
      '▶',
      'working',
      '✔',
      'healthy',
    ]);
    expect(stdout).toMatch(/uncertain +run-uncertain +ordinary +.*reconcile pi_88\/charge +1\dm/);
    expect(stdout).toMatch(/stuck +run-stuck .* 3\dm/);
    expect(stdout).toMatch(
      /3 need you · 1 waiting on finance-oncall, deadline in 1h[45]\dm · 1 working, 1 healthy · 1 not instrumented/,
    );
    expect(stdout).not.toContain('No receipts');
    // eslint-disable-next-line no-control-regex -- escapes and redrawn lines are for terminals
    expect(stdout).not.toMatch(/[\u001b\r]/);
  });

  it('explain says what decided, and keeps what it saw and judged', async () => {
    const ran = await run(['explain', '-w', 'run-stuck']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/stuck: milestone-stale · run-stuck/);
    expect(ran.stdout).toMatch(/milestone +stuck +"pages" changed 3\dm ago \(limit 10m\)/);
    expect(ran.stdout).toMatch(/wait +no vote +none open/);
    const chain = await store.readChain({ namespace: 'default', workflowId: 'run-stuck' });
    if (chain === null) throw new Error('no chain');
    expect(await store.readJudgement(chain)).toMatchObject({ verdict: 'stuck', reason: 'milestone-stale' });
    expect(await store.readObservation(chain, false)).toMatchObject({ closed: false });
  });

  it('explain --at says it again as it was known then, from the store alone, and keeps nothing', async () => {
    const now = JSON.parse((await run(['explain', '-w', 'run-stuck', '-o', 'json'])).stdout) as {
      judgedAt: string;
      judgement: { verdict: string; reason: string; evidenceVersion: number };
    };
    const chain = await store.readChain({ namespace: 'default', workflowId: 'run-stuck' });
    if (chain === null) throw new Error('no chain');
    const seen = await store.readObservation(chain, false);
    const then = await run(['explain', '-w', 'run-stuck', '--at', now.judgedAt, '-o', 'json']);
    expect(then).toMatchObject({ code: 0, stderr: '' });
    const said = JSON.parse(then.stdout) as { judgedAt: string; judgement: object; notes: string[] };
    expect(said).toMatchObject({ judgedAt: now.judgedAt, judgement: now.judgement });
    expect(said.notes).toEqual([expect.stringMatching(/^Said by then, at .*: stuck \(milestone-stale\)\.$/)]);
    expect(await store.readObservation(chain, false)).toEqual(seen);

    const before = await run(['explain', '-w', 'run-stuck', '--at', '2001-01-01T00:00:00Z']);
    expect(before).toMatchObject({ code: 3, stdout: '' });
    expect(before.stderr).toContain('At that moment the store had nothing of this run.');
    expect(await run(['explain', '-w', 'run-stuck', '--at', 'yesterday'])).toMatchObject({ code: 2, stdout: '' });
    expect(await run(['explain', '-w', 'run-stuck', '--at', '2101-01-01T00:00:00Z'])).toMatchObject({ code: 2 });
  });

  it('explain runs a due check that never ran where it is told where to look, and else says that it did not', async () => {
    const without = await run(['explain', '-w', 'run-false', '-o', 'json']);
    expect(JSON.parse(without.stdout)).toMatchObject({
      judgement: { verdict: 'false-success', reason: 'deliverable-missing' },
      notes: [expect.stringContaining('TEMPORAL_HEALTH_CONFIG')],
    });
    const report = join(folder, 'run-false.txt');
    writeFileSync(report, 'the promised result');
    const config = join(folder, 'health.config.mjs');
    writeFileSync(config, `export const locate = ({ workflowId }) => \`${folder}/\${workflowId}.txt\`;`);
    const env = { TEMPORAL_HEALTH_CONFIG: config, TEMPORAL_HEALTH_OUTPUT_ROOT: folder };
    const checked = await run(['explain', '-w', 'run-false', '-o', 'json'], env);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      judgement: { verdict: 'healthy', reason: 'verified' },
      notes: ['Checked report now, for the first time: pass.'],
    });
    rmSync(report);
    const missing = await run(['explain', '-w', 'run-false', '-o', 'json'], env);
    expect(JSON.parse(missing.stdout)).toMatchObject({ judgement: { verdict: 'false-success' } });
  });

  it('doctor: everything answers, and the contract is registered', async () => {
    const { stdout } = await run(['doctor']);
    for (const name of ['temporal', 'cluster', 'namespace', 'postgres', 'schema', 'settings', 'clock', 'contracts']) {
      expect(stdout).toMatch(new RegExp(`^ok +${name} `, 'm'));
    }
    expect(stdout).toMatch(/contracts +ordinary/);
  });
});

describe('with Postgres down', () => {
  beforeAll(() => postgres.kill());
  afterAll(() => postgres.restart());

  it('nothing is green: what cannot be read is uncertain, and the command fails as unreachable', async () => {
    const ran = await run(['report', '-o', 'jsonl']);
    expect(ran.code).toBe(5);
    expect(ran.stderr).toContain('DB_UNREACHABLE');
    const said = Object.values(verdicts(ran));
    expect(said.length).toBe(7);
    expect(new Set(said)).toEqual(new Set(['uncertain']));
    const text = await run(['report']);
    expect(text.code).toBe(5);
    expect(text.stdout).toContain('store unknown (DB_UNREACHABLE)');
    expect(text.stdout).toMatch(/7 need you · 0 working, 0 healthy/);
    const explained = await run(['explain', '-w', 'run-healthy']);
    expect(explained.code).toBe(5);
    expect(explained.stdout).toContain('uncertain: evidence-unread');
  });
});

describe('with Temporal down', () => {
  beforeAll(async () => {
    await store.readGaps('default', 0);
    await temporal.kill();
  });

  it('receipts are shown, Temporal is unknown, nothing is green, and the command fails as unreachable', async () => {
    const flags = ['--client-connect-timeout', '1s'];
    const ran = await run(['report', '-o', 'jsonl', ...flags]);
    expect(ran.code).toBe(5);
    expect(ran.stderr).toContain('TEMPORAL_UNREACHABLE');
    const rows = rowsOf(ran);
    expect([...rows.keys()].sort()).toEqual(Object.keys(SIX).sort());
    expect([...rows.values()].every((row) => row.temporal === 'unread')).toBe(true);
    expect(Object.values(verdicts(ran)).filter((verdict) => verdict === 'healthy' || verdict === 'working')).toEqual(
      [],
    );
    const text = await run(['report', ...flags]);
    expect(text.stdout).toContain('Temporal unknown (TEMPORAL_UNREACHABLE)');
    const explained = await run(['explain', '-w', 'run-waiting', ...flags]);
    expect(explained.code).toBe(5);
    expect(explained.stdout).toContain('finance-oncall');
  });
});
