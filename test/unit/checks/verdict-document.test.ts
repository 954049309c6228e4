import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verdictDocument } from '../../../receipts/checks/index.ts';
import { folder, look, site } from './checking.ts';

const ACCEPTED = { schemaVersion: 1, workflowId: 'order-7', runId: 'run-1', verdict: 'accepted', by: 'qa@example.org' };

async function judged(document: unknown, options: Parameters<typeof verdictDocument>[0] = {}) {
  const root = folder();
  writeFileSync(join(root, 'verdict.json'), typeof document === 'string' ? document : JSON.stringify(document));
  return look(verdictDocument({ root, ...options }), 'verdict.json');
}

test('the declared word of the declared party about this run passes, with the digest of the document', async () => {
  expect(await judged(ACCEPTED, { by: 'qa@example.org' })).toMatchObject({
    result: 'pass',
    subject: { digest: expect.stringMatching(/^sha256:/) as string },
  });
});

test('a verdict about the mission passes for a run of that mission', async () => {
  const { runId: _runId, ...rest } = ACCEPTED;
  const document = { ...rest, missionFingerprint: 'sha256:m1' };
  expect(await judged(document, { missionFingerprint: 'sha256:m1' })).toMatchObject({ result: 'pass' });
  expect(await judged(document, { missionFingerprint: 'sha256:m2' })).toMatchObject({ cause: 'other-mission' });
  expect(await judged(document)).toMatchObject({ result: 'fail', cause: 'other-run' });
});

describe('what is no acceptance', () => {
  test.each([
    ['another workflow', { ...ACCEPTED, workflowId: 'order-8' }, 'other-run'],
    ['another run of the workflow', { ...ACCEPTED, runId: 'run-0' }, 'other-run'],
    ['rejected', { ...ACCEPTED, verdict: 'rejected' }, 'not-accepted'],
    ['nearly the word', { ...ACCEPTED, verdict: 'Accepted' }, 'not-accepted'],
    ['another party', { ...ACCEPTED, by: 'agent@example.org' }, 'other-party'],
    ['no verdict in it', { schemaVersion: 1, workflowId: 'order-7', runId: 'run-1', by: 'qa@example.org' }, 'schema'],
    ['bound to nothing', { schemaVersion: 1, workflowId: 'order-7', verdict: 'accepted', by: 'qa' }, 'schema'],
    ['another schema', { ...ACCEPTED, schemaVersion: 2 }, 'schema'],
    ['a member too many', { ...ACCEPTED, unless: 'the tests fail' }, 'schema'],
    ['true in place of a word', { ...ACCEPTED, verdict: true }, 'schema'],
    ['a list', [ACCEPTED], 'schema'],
    ['null', 'null', 'schema'],
    ['"done"', 'done', 'not-json'],
    ['half a document', JSON.stringify(ACCEPTED).slice(0, 40), 'not-json'],
    ['an empty file', '', 'size-zero'],
  ])('%s', async (_name, document, cause) => {
    expect(await judged(document, { by: 'qa@example.org' })).toMatchObject({ result: 'fail', cause });
  });

  test('missing, a directory, outside of the root', async () => {
    const root = folder();
    mkdirSync(join(root, 'verdicts'));
    const check = verdictDocument({ root });
    expect(await look(check, 'none.json')).toEqual({ result: 'fail', cause: 'missing' });
    expect(await look(check, 'verdicts')).toEqual({ result: 'fail', cause: 'directory' });
    expect(await look(check, '../verdict.json')).toEqual({ result: 'fail', cause: 'outside-root' });
  });

  test('larger than a verdict can be says nothing', async () => {
    expect(await judged({ ...ACCEPTED, reason: 'x'.repeat(70_000) })).toMatchObject({
      result: 'unread',
      cause: 'too-large',
    });
  });
});

test('the passing word is the contract’s', async () => {
  expect(await judged({ ...ACCEPTED, verdict: 'merged' }, { passing: 'merged' })).toMatchObject({ result: 'pass' });
  expect(await judged(ACCEPTED, { passing: 'merged' })).toMatchObject({ result: 'fail', cause: 'not-accepted' });
});

test('by address: there, missing, unreachable', async () => {
  const { origin } = await site((request, response) => {
    if (request.url === '/there') response.end(JSON.stringify(ACCEPTED));
    else response.writeHead(request.url === '/gone' ? 404 : 503).end();
  });
  const check = verdictDocument({ origins: [origin] });
  expect(await look(check, `${origin}/there`)).toMatchObject({ result: 'pass' });
  expect(await look(check, `${origin}/gone`)).toEqual({ result: 'fail', cause: 'missing' });
  expect(await look(check, `${origin}/broken`)).toEqual({ result: 'unread', cause: 'status-503' });
});
