/** How a judgement shows: in a row, in the counts, on the screen of `explain`; and that it never stands in for a check. */
import { describe, expect, test } from 'vitest';
import { classify } from '../../health/classify.ts';
import { explain, phraseText } from '../../health/explain.ts';
import { reportRow, Tally } from '../../health/report.ts';
import { evidenceOf } from '../support/evidence.ts';

const JUDGED = { destination: 'file', check: null, noDeterministicCheck: 'prose has no predicate' };
const CHECKED = { destination: 'file', check: { name: 'file-digest', options: {} } };
const JUDGEMENT = { deliverable: 'd1', check: 'judged:editor-rubric-3', confidence: 0.93, at: '-2m' };

function shown(report: object, receipts: readonly object[]) {
  const given = { status: 'COMPLETED', contract: { deliverables: { report } }, receipts };
  const document = evidenceOf(given);
  const judgement = classify(document, document.policy, document.nowMs);
  const explanation = explain(document, judgement);
  const part = explanation.components.find(({ component }) => component === 'deliverable');
  const row = reportRow(document, judgement);
  const tally = new Tally(10);
  tally.add(row, true);
  return { judgement, explanation, says: phraseText(part?.says ?? []), row, counts: tally.counts() };
}

describe('where the contract says that no check exists', () => {
  test('healthy by judgement names the judge and how sure it is, and is counted apart', () => {
    const { judgement, explanation, says, row, counts } = shown(JUDGED, [JUDGEMENT]);
    expect(judgement).toMatchObject({
      ...{ verdict: 'healthy', reason: 'judged', confidence: { judged: 'report', confidence: 0.93 } },
      message: 'Completed; report has no deterministic check and was judged by editor-rubric-3, confidence 0.93.',
    });
    expect(says).toBe('report: pass at file, judged by editor-rubric-3 with confidence 0.93, not checked');
    expect(explanation.safeAction).toMatch(/only with a reason/);
    expect(row).toMatchObject({ reason: 'judged', confidence: { judged: 'report', confidence: 0.93 } });
    expect(counts).toMatchObject({ judgedOnly: 1, byVerdict: { healthy: 0 } });
  });

  test('a judge that says no, and one that could not read it, are taken at their word', () => {
    expect(shown(JUDGED, [{ ...JUDGEMENT, result: 'fail' }]).judgement).toMatchObject({
      ...{ verdict: 'false-success', reason: 'deliverable-failed' },
    });
    expect(shown(JUDGED, [{ ...JUDGEMENT, result: 'unread' }]).judgement).toMatchObject({
      ...{ verdict: 'uncertain', reason: 'deliverable-unchecked' },
    });
  });
});

describe('where a check exists', () => {
  test('a judgement does not stand in for it, however sure', () => {
    const { judgement, says, counts } = shown(CHECKED, [{ ...JUDGEMENT, confidence: 1 }]);
    expect(judgement).toMatchObject({ verdict: 'false-success', reason: 'deliverable-claimed' });
    expect(judgement.confidence).toBe('deterministic');
    expect(says).toBe('report: no receipt');
    expect(counts).toMatchObject({ judgedOnly: 0, byVerdict: { 'false-success': 1 } });
  });

  test('nor does it outvote a check that failed, nor spoil one that passed', () => {
    const failed = { deliverable: 'd2', result: 'fail', at: '-3m' };
    expect(shown(CHECKED, [failed, JUDGEMENT]).judgement).toMatchObject({ reason: 'deliverable-failed' });
    const passed = { deliverable: 'd2', at: '-3m' };
    const { judgement, says } = shown(CHECKED, [passed, { ...JUDGEMENT, result: 'fail' }]);
    expect(judgement).toMatchObject({ verdict: 'healthy', reason: 'verified', confidence: 'deterministic' });
    expect(says).toBe('report: pass at file');
  });
});
