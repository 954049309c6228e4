/** What gathering says of a source that does not answer: never nothing, and never what another source said. */
import { describe, expect, test } from 'vitest';
import { classify } from '../../../health/classify.ts';
import type { Description, EvidenceDocument } from '../../../health/evidence.ts';
import { gatherRun } from '../../../health/gather.ts';
import type { Sources, TemporalReader } from '../../../health/gather.ts';
import { DEFAULT_POLICY } from '../../../health/policy.ts';
import type { DescribedRun } from '../../../health/temporal.ts';
import { HealthError } from '../../../receipts/errors.ts';
import type { ErrorCode } from '../../../receipts/errors.ts';
import { evidenceOf } from '../../support/evidence.ts';
import { NOW_MS } from '../../support/times.ts';

function described(given: object, firstRunId = 'R1'): DescribedRun {
  const { temporal } = evidenceOf(given);
  if (temporal.source !== 'describe') throw new Error('not described');
  const description: Description = temporal.describe;
  return { runId: 'R1', workflowType: 'mission', firstRunId, description, failureTexts: {} };
}

const away = (code: ErrorCode = 'TEMPORAL_UNREACHABLE') => Promise.reject(new HealthError(code, 'It does not answer.'));

/** Answers with the parent for `wf-1`; everything else does not answer unless the test says how it does. */
function sources(parent: DescribedRun, answers: Partial<TemporalReader> = {}, withStore = false): Sources {
  const temporal: TemporalReader = {
    clusterId: () => Promise.resolve('cluster-1'),
    describe: (run) => (run.workflowId === 'wf-1' ? Promise.resolve(parent) : away()),
    closeEvent: () => away(),
    isCronRun: () => away(),
    taskQueue: () => away(),
    list: () => away(),
    count: () => away(),
    ...answers,
  };
  const judge = (document: EvidenceDocument) => classify(document, document.policy, document.nowMs);
  const store = withStore ? ({ unread: 'STORE_UNAVAILABLE' } as const) : null;
  return { clusterId: 'cluster-1', temporal, store, policy: DEFAULT_POLICY, judge, localNowMs: () => NOW_MS };
}

async function unreadOf(reading: Sources): Promise<readonly string[]> {
  const { document } = await gatherRun({ namespace: 'default', workflowId: 'wf-1' }, reading);
  return document.unread.map(({ source, code }) => `${source} ${code}`);
}

const parent = described({ pendingChildren: [{ workflowId: 'wf-c' }, { workflowId: 'wf-d' }] });

describe('a source that does not answer is named as unread', () => {
  test('children of which nothing is known, once', async () => {
    expect(await unreadOf(sources(parent))).toEqual(['children TEMPORAL_UNREACHABLE']);
  });

  test('a child that Temporal does not allow to be read does not take the report of its parent away', async () => {
    const describe: TemporalReader['describe'] = (run) =>
      run.workflowId === 'wf-1' ? Promise.resolve(parent) : away('NOT_ALLOWED');
    expect(await unreadOf(sources(parent, { describe }))).toEqual(['children NOT_ALLOWED']);
  });

  test('children that were read are not unread, although a type without a contract has no verdict', async () => {
    const describe: TemporalReader['describe'] = (run) =>
      Promise.resolve(run.workflowId === 'wf-1' ? parent : described({}));
    expect(await unreadOf(sources(parent, { describe }))).toEqual([]);
  });

  test('the task queue of work that waits, and no queue where none does', async () => {
    const waits = described({ activities: [{ id: 'a1', state: 'SCHEDULED', scheduled: '-4m' }] });
    expect(await unreadOf(sources(waits))).toEqual(['task-queue TEMPORAL_UNREACHABLE']);
    expect(await unreadOf(sources(described({ activities: [{ id: 'a1' }] })))).toEqual([]);
  });

  test('the close event of a closed run', async () => {
    expect(await unreadOf(sources(described({ status: 'FAILED' })))).toEqual(['close-event TEMPORAL_UNREACHABLE']);
  });

  test('which receipts are those of the chain, only where there is a store to hold any', async () => {
    const later = described({}, 'R0');
    expect(await unreadOf(sources(later, {}, true))).toContain('receipts TEMPORAL_UNREACHABLE');
    expect(await unreadOf(sources(later))).toEqual([]);
  });
});
