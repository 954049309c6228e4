/** Rows, order and counts of a report, and what `explain` says of one run. */
import { describe, expect, it } from 'vitest';
import { classify } from '../../health/classify.ts';
import { explain, factKind, phraseText } from '../../health/explain.ts';
import type { ComponentName } from '../../health/explain.ts';
import type { Judgement } from '../../health/judgement.ts';
import { compareRows, isoTime, reportRow, Tally } from '../../health/report.ts';
import type { ReportRow } from '../../health/report.ts';
import { VERDICTS_BY_SEVERITY } from '../../health/verdict.ts';
import type { Verdict } from '../../health/verdict.ts';
import { evidenceOf } from '../support/evidence.ts';

function judged(given: object): {
  row: ReportRow;
  judgement: Judgement;
  vote: (name: ComponentName) => Verdict | null;
  safeAction: string;
} {
  const document = evidenceOf(given);
  const judgement = classify(document, document.policy, document.nowMs);
  const { components, safeAction } = explain(document, judgement);
  return {
    row: reportRow(document, judgement),
    judgement,
    safeAction,
    vote: (name) => components.find(({ component }) => component === name)?.vote ?? null,
  };
}

const row = (verdict: Verdict | null, parts: Partial<ReportRow> = {}): ReportRow => ({
  ...judged({}).row,
  verdict,
  reason: verdict === null ? 'not-instrumented' : 'silent',
  since: null,
  ...parts,
});

describe('a row', () => {
  it('has ISO times, and says since when', () => {
    const { row: found } = judged({ started: '-1h' });
    expect(found).toMatchObject({
      schemaVersion: 1,
      verdict: 'stuck',
      reason: 'silent',
      since: '2026-06-01T11:00:00.000Z',
    });
    expect(found.judgedAt).toBe('2026-06-01T12:00:00.000Z');
  });

  it('a retry: attempt, failure and next try; none once the run is closed', () => {
    const activities = [{ id: 'a1', type: 'charge', state: 'SCHEDULED', attempt: 7, failure: 'Boom', next: '+30s' }];
    expect(judged({ activities }).row).toMatchObject({
      reason: 'attempts-spent',
      retry: { activity: 'charge', attempt: 7, failureType: 'Boom', nextAttemptAt: '2026-06-01T12:00:30.000Z' },
    });
    expect(judged({ activities, status: 'FAILED', closed: '-1m' }).row.retry).toBeNull();
  });

  it('an unusable time is null and never an exception', () => {
    for (const time of [null, Number.NaN, Number.POSITIVE_INFINITY, 8.65e15]) expect(isoTime(time)).toBeNull();
  });
});

describe('the order and the counts', () => {
  it('worst first, then the longest standing, then by name', () => {
    const rows = [
      row(null),
      ...[...VERDICTS_BY_SEVERITY].reverse().map((verdict) => row(verdict)),
      row('stuck', { since: '2026-01-01T00:00:00.000Z', workflowId: 'old' }),
      row('stuck', { since: '2026-02-01T00:00:00.000Z', workflowId: 'b' }),
      row('stuck', { since: '2026-02-01T00:00:00.000Z', workflowId: 'a' }),
    ].sort(compareRows);
    expect(rows.map(({ verdict }) => verdict)).toEqual([
      ...['uncertain', 'false-success', 'stuck', 'stuck', 'stuck', 'stuck', 'waiting', 'working', 'healthy', null],
    ]);
    expect(rows.slice(2, 5).map(({ workflowId }) => workflowId)).toEqual(['old', 'a', 'b']);
  });

  it('keeps the worst few whatever the order they come in, and counts the rest', () => {
    const tally = new Tally(3);
    const verdicts: (Verdict | null)[] = ['healthy', null, 'stuck', 'working', 'uncertain', 'waiting', 'stuck'];
    for (const verdict of verdicts) tally.add(row(verdict), verdict !== null);
    expect(tally.worst().map(({ verdict }) => verdict)).toEqual(['uncertain', 'stuck', 'stuck']);
    expect(tally.notShown()).toBe(3);
    expect(tally.counts()).toMatchObject({
      judged: 7,
      notInstrumented: 1,
      byVerdict: { stuck: 2, uncertain: 1, waiting: 1, working: 1, healthy: 1, 'false-success': 0 },
    });
  });

  it('a judgement without a check is counted apart and never as healthy', () => {
    const tally = new Tally(3);
    tally.add(row('healthy', { reason: 'judged' }), true);
    expect(tally.counts()).toMatchObject({ judgedOnly: 1, byVerdict: { healthy: 0 } });
  });

  it('names the wait that ends first', () => {
    const tally = new Tally(0);
    const wait = (owner: string, deadline: string | null) => row('waiting', { wait: { name: 'w', owner, deadline } });
    for (const one of [wait('late', '2026-07-01'), wait('soon', '2026-06-02'), wait('never', null)])
      tally.add(one, true);
    expect(tally.counts().nextWait?.owner).toBe('soon');
    expect(tally.worst()).toEqual([]);
  });
});

describe('explain', () => {
  it('a heartbeat never votes, a stale milestone does', () => {
    const found = judged({
      activities: [{ id: 'a1', heartbeat: '-1s' }],
      receipts: [{ progress: 'pages', digest: 'd1', at: '-31m' }],
    });
    expect(found.judgement).toMatchObject({ verdict: 'stuck', reason: 'milestone-stale' });
    expect(found.vote('heartbeat')).toBeNull();
    expect(found.vote('milestone')).toBe('stuck');
  });

  it('of a closed run the milestone tells what changed last and votes for nothing', () => {
    const found = judged({
      ...{ status: 'COMPLETED', closed: '-1m' },
      receipts: [
        { progress: 'pages', digest: 'd1', at: '-2m' },
        { deliverable: 'report', check: 'file-digest', result: 'pass', at: '-1m' },
      ],
    });
    expect(found.judgement).toMatchObject({ verdict: 'healthy' });
    expect(found.vote('milestone')).toBeNull();
    expect(found.vote('deliverable')).toBe('healthy');
  });

  it.each([
    ['unread', 'uncertain', 'Make its destination readable and run the check again.'],
    ['fail', 'false-success', 'Reopen it as an incident: it reports success, and the evidence does not.'],
  ] as const)('a check that says %s votes as the verdict does, and the advice fits', (result, verdict, advice) => {
    const found = judged({
      ...{ status: 'COMPLETED', closed: '-1m' },
      receipts: [{ deliverable: 'report', check: 'file-digest', result, at: '-1m' }],
    });
    expect(found.judgement).toMatchObject({ verdict });
    expect(found.vote('deliverable')).toBe(verdict);
    expect(found.safeAction).toBe(advice);
  });

  it('a source that could not be read sends nobody to a destination', () => {
    const found = judged({ unread: [{ source: 'store' }] });
    expect(found.judgement).toMatchObject({ verdict: 'uncertain', reason: 'evidence-unread' });
    expect(found.safeAction).toMatch(/^Make the unread source readable/);
  });

  it('knows a time from a length', () => {
    const kind = (field: string, value: number | string = 5) => factKind({ ref: 'x', field, value });
    for (const field of ['lastHeartbeatAtMs', 'dueSinceMs', 'paused.sinceMs', 'deadlineMs', 'expectByMs', 'fromMs']) {
      expect(kind(field)).toBe('time');
    }
    for (const field of ['backoffMs', 'neededMs', 'leftMs']) expect(kind(field)).toBe('length');
    expect(kind('attempt')).toBe('value');
    expect(kind('dueSinceMs', 'now')).toBe('value');
  });

  it('a phrase holds ISO times in a document', () => {
    expect(phraseText(['due ', { atMs: 0 }, ' for ', { lengthMs: 250 }])).toBe(
      'due 1970-01-01T00:00:00.000Z for 250 ms',
    );
  });
});
