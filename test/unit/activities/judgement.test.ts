/** A judgement on a deliverable without a deterministic check: who may state it, and what becomes of it. */
import { describe, expect, test } from 'vitest';
import type { DeliverableJudgement } from '../../../activities/recorder.ts';
import { fileDigest } from '../../../receipts/checks/index.ts';
import { defineContract } from '../../../receipts/contract.ts';
import type { DeliverableCheck } from '../../../receipts/contract.ts';
import { recorderFor } from '../../support/recorder.ts';

const CONTRACT = defineContract({
  workflowType: 'mission',
  deliverables: {
    summary: { destination: 'inbox', noDeterministicCheck: 'prose has no predicate' },
    table: { destination: 'file', check: fileDigest() },
  },
});

const recorder = () => recorderFor(CONTRACT);

const GIVEN: DeliverableJudgement = { by: 'editor-rubric-3', result: 'pass', confidence: 0.86 };

test('a judgement is a receipt with its judge and its confidence, at the promised destination', async () => {
  const { recorder: receipts, sent } = recorder();
  expect(await receipts.deliverable('summary').judge(GIVEN)).toMatchObject({ outcome: 'stored' });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    kind: 'deliverable',
    body: {
      ...{ name: 'summary', destination: 'inbox', check: 'judged:editor-rubric-3' },
      ...{ result: 'pass', confidence: 0.86 },
    },
  });
});

describe('refused, and nothing is recorded', () => {
  test.each<[string, string, Partial<Record<keyof DeliverableJudgement, unknown>>, string]>([
    ['where a check exists', 'table', {}, 'DELIVERABLE_CHECK_REQUIRED'],
    ['of what no contract names', 'other', {}, 'CONTRACT_UNKNOWN'],
    ['without a judge', 'summary', { by: ' ' }, 'RECEIPT_INVALID'],
    ['without a confidence', 'summary', { confidence: undefined }, 'DELIVERABLE_CHECK_REQUIRED'],
    ['with a confidence above 1', 'summary', { confidence: 1.01 }, 'RECEIPT_INVALID'],
    ['with a confidence below 0', 'summary', { confidence: -0.1 }, 'RECEIPT_INVALID'],
    ['with a confidence that is no number', 'summary', { confidence: 'high' }, 'RECEIPT_INVALID'],
    ['with its reasoning', 'summary', { reasoning: 'it reads well' } as never, 'RECEIPT_UNKNOWN_FIELD'],
  ])('%s', async (_what, name, wrong, type) => {
    const { recorder: receipts, sent } = recorder();
    const judging = receipts.deliverable(name).judge({ ...GIVEN, ...wrong } as DeliverableJudgement);
    await expect(judging).rejects.toMatchObject({ type });
    expect(sent).toEqual([]);
  });
});

test('a check may not go by the name of a judgement', () => {
  for (const name of ['judged', 'judged:me']) {
    const check: DeliverableCheck = { ...fileDigest(), name };
    expect(() =>
      defineContract({ workflowType: 'mission', deliverables: { table: { destination: 'file', check } } }),
    ).toThrow(expect.objectContaining({ code: 'CONTRACT_INVALID', field: 'deliverables.table.check' }) as Error);
  }
});
