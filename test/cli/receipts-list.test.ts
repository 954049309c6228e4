/** `receipts list`: what a run has recorded, with a real Postgres and Temporal out of reach. */
import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import type { Ran } from './support/command.ts';
import { healthHere } from './support/in-process.ts';
import { openPlanted } from './support/planted.ts';
import type { Planted } from './support/planted.ts';

vi.setConfig({ testTimeout: 120_000 });

const runId = randomUUID();
const SECRET = 'AKIAIOSFODNN7EXAMPLE';
let database: FreshDatabase;
let planted: Planted;

beforeAll(async () => {
  database = await freshDatabase();
  planted = await openPlanted(testTemporal().address, database.url);
  const now = Date.now();
  const page = (done: number) => ({ milestone: 'pages', digest: `p${done}`, delta: { done, of: 40 } });
  const receiptId = v7();
  const emit = (body: object, fence: number, sequence = 1, own = {}) =>
    planted.emit(runId, 'crawl-7', 'progress', body as ReturnType<typeof page>, now, { fence, sequence, ...own });
  expect(await emit(page(1), 1_000, 1, { receiptId })).toBe('stored');
  expect(await emit(page(2), 2_000)).toBe('stored');
  expect(await emit(page(3), 1_000, 2)).toBe('late');
  expect(await emit({ ...page(4), note: SECRET }, 2_000, 2, { receiptId })).toBe('refused');
  const wait = {
    ...{ name: 'approve', owner: 'ann', deadlineMs: now + 3_600_000 },
    ...({ resumeToken: 'wt-1', resumeBy: 'approval', state: 'open' } as const),
  };
  expect(await planted.emit(runId, 'crawl-7', 'wait', wait, now, { emitter: 'a2' })).toBe('stored');
}, 120_000);

afterAll(async () => {
  await planted.close();
  await database.drop();
});

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  healthHere(['receipts', 'list', '--client-connect-timeout', '300ms', ...args], {
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    TEMPORAL_HEALTH_DATABASE_URL: database.url,
    ...env,
  });

interface Listed {
  mark: string | null;
  recordedAt: string;
  receipt: { kind: string; runId: string; body?: { delta?: { done: number } }; code?: string };
}

describe('receipts list, with Temporal down', () => {
  it('shows them as they were recorded; late and refused ones are marked', async () => {
    const ran = await run(['-w', 'crawl-7']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const lines = ran.stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^RECORDED +KIND +WHAT +MARK +EMITTER +ATTEMPT$/);
    expect(lines[1]).toMatch(/ ago +progress +pages 1\/40 +a1 +1$/);
    expect(lines[3]).toMatch(/ progress +pages 3\/40 +late +a1 /);
    expect(lines[4]).toMatch(/ progress +RECEIPT_ID_CONFLICT +refused +a1 /);
    expect(lines[5]).toMatch(/ wait +approve open, ann +a2 /);
    expect(lines).toHaveLength(6);
  });

  it('JSON holds each receipt as it is stored, and no secret', async () => {
    const { stdout } = await run(['-w', 'crawl-7', '-o', 'jsonl']);
    const listed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Listed);
    expect(listed.map(({ mark }) => mark)).toEqual([null, null, 'late', 'refused', null]);
    expect(listed.map(({ receipt }) => receipt.body?.delta?.done ?? receipt.code)).toEqual([
      1,
      2,
      3,
      'RECEIPT_ID_CONFLICT',
      undefined,
    ]);
    expect(listed[0]?.recordedAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    const whole = await run(['-w', 'crawl-7', '-o', 'json']);
    expect(JSON.parse(whole.stdout)).toMatchObject({
      schemaVersion: 1,
      workflowId: 'crawl-7',
      notShown: 0,
      notRead: 0,
    });
    expect(stdout + whole.stdout).not.toContain(SECRET);
  });

  it('--kind, --limit, --run-id and --columns narrow it, and what is left out is said', async () => {
    const waits = await run(['-w', 'crawl-7', '--kind', 'wait,effect', '--columns', 'kind,run', '--no-header']);
    expect(waits.stdout).toBe(`wait ${runId}\n`);
    const newest = await run(['-w', 'crawl-7', '--limit', '2']);
    expect(newest.stdout).toMatch(/refused[^\n]*\n[^\n]*approve[^\n]*\n3 older ones are not shown \(--limit\)\.\n$/);
    expect((await run(['-w', 'crawl-7', '-r', runId, '--kind', 'effect'])).stdout).toBe('No receipt matches.\n');
    const kind = await run(['-w', 'crawl-7', '--kind', 'moon']);
    expect(kind).toMatchObject({ code: 2, stdout: '' });
    expect(kind.stderr).toContain('--kind takes progress, wait, effect, deliverable');
  });

  it('says what is missing: a store, its answer, or the run', async () => {
    expect(await run(['-w', 'nobody'])).toMatchObject({ code: 3, stdout: '' });
    expect(await run(['-w', 'crawl-7', '-r', randomUUID()])).toMatchObject({ code: 3, stdout: '' });
    const none = await run(['-w', 'crawl-7'], { TEMPORAL_HEALTH_DATABASE_URL: '' });
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('TEMPORAL_HEALTH_DATABASE_URL');
    const url = 'postgres://ann:s3cret@127.0.0.1:1/health';
    const down = await run(['-w', 'crawl-7'], {
      TEMPORAL_HEALTH_DATABASE_URL: url,
      TEMPORAL_ADDRESS: testTemporal().address,
    });
    expect(down).toMatchObject({ code: 5, stdout: '' });
    expect(down.stderr).toContain('DB_UNREACHABLE');
    expect(down.stderr).not.toContain('s3cret');
  });
});
