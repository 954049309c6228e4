import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkflowFailedError } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sourceCheckContract } from '../../activities/agents/source-check/contract.ts';
import type { SideWorker } from '../../bin/dev/demo/children.ts';
import type { SourceReport } from '../../activities/agents/source-check/report.ts';
import type { SourceCheckResult } from '../../workflows/agents/source-check-messages.ts';
import { migrate, openPostgresStore } from '../../receipts/postgres/index.ts';
import { LAUNCHER } from '../cli/support/command.ts';
import { freshDatabase } from '../support/servers.ts';
import { agentsPlace } from './agents-place.ts';
import type { AgentsPlace } from './agents-place.ts';

let place: AgentsPlace;
let worker: SideWorker | undefined;
let server: Server;
let origin: string;
/** Paths asked by GET, in order. */
let asked: string[];
let answer: (path: string, response: ServerResponse) => void;
let startWorker: () => Promise<void>;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (request.method === 'GET') asked.push(path);
    answer(path, response);
  });
  await new Promise<void>((ready) => {
    server.listen(0, '127.0.0.1', ready);
  });
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  place = await agentsPlace('source-check');
  startWorker = async () => {
    worker = await place.startWorker({ TEMPORAL_HEALTH_ALLOWED_HOSTS: `127.0.0.1:${port}` });
  };
  await startWorker();
}, 300_000);

beforeEach(() => {
  asked = [];
  answer = (path, response) => {
    response.writeHead(path.includes('gone') ? 404 : 200, { 'content-type': 'text/html' }).end('<h2 id="part">x</h2>');
  };
});

afterAll(async () => {
  await worker?.kill();
  await place.close();
  server.closeAllConnections();
  server.close();
}, 120_000);

const document = (name: string, text: string): void => {
  writeFileSync(join(place.documentRoot, name), text);
};

const start = (workflowId: string, input: unknown) =>
  place.client.workflow.start<(input: unknown) => Promise<SourceCheckResult>>('sourceCheck', {
    workflowId: `${workflowId}-${place.taskQueue}`,
    taskQueue: place.taskQueue,
    args: [input],
  });

const reportOf = (workflowId: string): SourceReport =>
  JSON.parse(place.readOutput(`${workflowId}.json`)) as SourceReport;

/** The code that a failed run failed with. */
async function failureOf(result: Promise<unknown>): Promise<string | null | undefined> {
  try {
    await result;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const cause = (error.cause?.cause ?? error.cause) as ApplicationFailure | undefined;
    return cause?.type;
  }
  throw new Error('the run completed');
}

test('a document of hundreds of links: every one covered, nothing of it in the history', async () => {
  const links = Array.from(
    { length: 350 },
    (_, n) => `## Part ${n}\n\n[l${n}](/p${n}#part) and [its part](#part-${n})`,
  );
  document('long.md', `${links.join('\n\n')}\n\n[gone](/gone) [no such part](/p1#nowhere)\n`);
  const handle = await start('long', { document: 'long.md', base: origin });
  const result = await handle.result();
  expect(result).toMatchObject({ links: 702, sources: 702, ok: 700, broken: 2, unreachable: 0, refused: 0 });
  const { evidence, judgement } = await place.judge.judge({
    workflowId: handle.workflowId,
    runId: handle.firstExecutionRunId,
  });
  expect(judgement).toMatchObject({ verdict: 'healthy', reason: 'verified' });
  const [mission] = Object.values(evidence.chain!.state.missions);
  const { coverage, subject } = mission!.deliverables['report']!['file-digest']!;
  expect(coverage).toMatchObject({ expected: 702, accepted: 702 });
  expect(subject!.digest).toBe(result.report.digest);
  expect(mission!.milestones['sources-checked']!.seen.length).toBe(32);
  const history = await handle.fetchHistory();
  expect(history.events!.length).toBeLessThan(100);
  expect(JSON.stringify(history)).not.toContain('/p17');
  const report = reportOf(handle.workflowId);
  expect(report.sources.filter(({ outcome }) => outcome === 'broken').map(({ cause }) => cause)).toEqual([
    'status-404',
    'fragment-missing',
  ]);
  expect(place.readOutput(`${handle.workflowId}.md`)).toContain('## Broken (2)');
});

test('a worker that is killed in the middle: the next one goes on where it was', async () => {
  document('restart.md', Array.from({ length: 60 }, (_, n) => `[l${n}](/r${n})`).join('\n'));
  const served: ServerResponse[] = [];
  let enough = (): void => undefined;
  const middle = new Promise<void>((resolve) => (enough = resolve));
  const page = answer;
  // The first forty are answered, the next ones hang until the worker is dead.
  answer = (path, response) => {
    if (asked.length <= 40) {
      page(path, response);
      return;
    }
    served.push(response);
    if (served.length >= 10) enough();
  };
  const handle = await start('restart', { document: 'restart.md', base: origin });
  await middle;
  await worker?.kill();
  const before = asked.filter((path) => path.startsWith('/r')).length;
  answer = page;
  asked = [];
  await startWorker();
  const result = await handle.result();
  expect(result).toMatchObject({ sources: 60, ok: 60 });
  // Kept in batches of ten: what was found after the last batch is asked again, and nothing else.
  expect(asked.length).toBeLessThanOrEqual(60 - (before - 20) + 10);
  expect(asked.length).toBeLessThan(60);
}, 180_000);

test('a flapping source is asked again without its neighbours, one that stays silent is a finding', async () => {
  document('flapping.md', '[a](/calm) [b](/flapping) [c](/silent)');
  answer = (path, response) => {
    const times = asked.filter((other) => other === path).length;
    if (path === '/silent') response.destroy();
    else response.writeHead(path === '/flapping' && times < 3 ? 503 : 200).end('x');
  };
  const handle = await start('flapping', { document: 'flapping.md', base: origin });
  expect(await handle.result()).toMatchObject({ ok: 2, unreachable: 1 });
  expect(asked.filter((path) => path === '/calm')).toHaveLength(1);
  expect(asked.filter((path) => path === '/flapping')).toHaveLength(3);
  expect(reportOf(handle.workflowId).sources.map(({ outcome, tries }) => [outcome, tries])).toEqual([
    ['ok', 1],
    ['ok', 3],
    ['unreachable', 4],
  ]);
});

test('internal addresses are findings, and nobody is asked there', async () => {
  document('internal.md', '[a](http://127.0.0.1:1/) [b](http://localhost/) [c](http://169.254.169.254/) [d](/ok)');
  const handle = await start('internal', { document: 'internal.md', base: origin });
  expect(await handle.result()).toMatchObject({ ok: 1, refused: 3 });
});

test('a document from an address, whose relative links start there', async () => {
  answer = (path, response) => {
    if (path === '/docs/list.md')
      response.writeHead(200, { 'content-type': 'text/markdown' }).end('[a](other) [b](../up)');
    else response.writeHead(path === '/docs/other' || path === '/up' ? 200 : 404).end('x');
  };
  const handle = await start('address', { document: `${origin}/docs/list.md` });
  expect(await handle.result()).toMatchObject({ sources: 2, ok: 2 });
});

describe('what is refused before anything is done', () => {
  test.each([
    ['no input', undefined, 'INPUT_INVALID'],
    ['a misspelt field', { doc: 'long.md' }, 'INPUT_INVALID'],
    ['a document that is not there', { document: 'nowhere.md' }, 'INPUT_INVALID'],
    ['a path out of the root', { document: '../secret.md' }, 'SOURCE_NOT_ALLOWED'],
    ['an internal address', { document: 'http://169.254.169.254/list.md' }, 'SOURCE_NOT_ALLOWED'],
  ])('%s', async (name, input, code) => {
    const handle = await start(`refused-${name.replaceAll(' ', '-')}`, input);
    expect(await failureOf(handle.result())).toBe(code);
    expect(existsSync(join(place.outputRoot, `${handle.workflowId}.json`))).toBe(false);
    const kept = join(place.outputRoot, '.source-check');
    expect(existsSync(kept) ? readdirSync(kept) : []).not.toContain(handle.workflowId);
    expect(asked).toEqual([]);
  });
});

test('a document that changes during the check has no report that covers it, and the run says so', async () => {
  document('changing.md', '[a](/one)');
  answer = (_path, response) => {
    document('changing.md', '[a](/one) [b](/two)');
    response.end('x');
  };
  const handle = await start('changing', { document: 'changing.md', base: origin });
  expect(await failureOf(handle.result())).toBe('REPORT_NOT_VERIFIED');
  const { judgement } = await place.judge.judge({ workflowId: handle.workflowId, runId: handle.firstExecutionRunId });
  expect(judgement).toMatchObject({ verdict: 'stuck', reason: 'closed-without-result' });
});

test('where the receipts are lost, the command counts the report’s links again by itself, with the example’s configuration', async () => {
  document('lost.md', '[a](/one) [b](/two) [gone](/gone)');
  const handle = await start('lost', { document: 'lost.md', base: origin });
  await handle.result();
  // A store that knows the contract and nothing of the run.
  const lost = await freshDatabase();
  try {
    await migrate(lost.url);
    const { evidence } = await place.judge.judge({ workflowId: handle.workflowId, runId: handle.firstExecutionRunId });
    const store = openPostgresStore({ url: lost.url, clusterId: evidence.run.clusterId });
    await store.registerContracts('default', [sourceCheckContract.contract]);
    await store.close();
    const explain = async (config: string) => {
      const args = ['explain', '-w', handle.workflowId, '-o', 'json'];
      const env = { ...place.env, TEMPORAL_HEALTH_DATABASE_URL: lost.url, TEMPORAL_HEALTH_CONFIG: config };
      const { stdout } = await execa(process.execPath, [LAUNCHER, ...args], { env, extendEnv: false });
      return JSON.parse(stdout) as object;
    };
    expect(await explain('')).toMatchObject({ judgement: { verdict: 'false-success', reason: 'deliverable-missing' } });
    const config = fileURLToPath(new URL('../../examples/health.config.ts', import.meta.url));
    expect(await explain(config)).toMatchObject({
      judgement: { verdict: 'healthy', reason: 'verified' },
      notes: ['Checked report now, for the first time: pass.'],
    });
    // It counts, and believes nothing: a source that the report leaves out is missed.
    const file = join(place.outputRoot, `${handle.workflowId}.json`);
    const report = reportOf(handle.workflowId);
    writeFileSync(file, JSON.stringify({ ...report, sources: report.sources.slice(1) }));
    expect(await explain(config)).toMatchObject({
      judgement: { verdict: 'false-success', reason: 'deliverable-failed' },
      notes: ['Checked report now, for the first time: fail (incomplete).'],
    });
  } finally {
    await lost.drop();
  }
}, 120_000);

test('a cancelled check stops asking and ends as cancelled', async () => {
  document('cancelled.md', Array.from({ length: 50 }, (_, n) => `[l${n}](/c${n})`).join('\n'));
  let first = (): void => undefined;
  const begun = new Promise<void>((resolve) => (first = resolve));
  answer = () => {
    first();
  };
  const handle = await start('cancelled', { document: 'cancelled.md', base: origin, timeoutSeconds: 60 });
  await begun;
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow('Workflow execution cancelled');
  const { status } = await handle.describe();
  expect(status.name).toBe('CANCELLED');
});
