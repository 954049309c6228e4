/** What a recorder refuses of a deliverable: a digest is asked only where the contract's check has one. */
import { describe, expect, test } from 'vitest';
import { recordForWorkflow } from '../../../activities/record.ts';
import type { ActivityRecorder } from '../../../activities/recorder.ts';
import { fileDigest } from '../../../receipts/checks/file-digest.ts';
import { httpResource } from '../../../receipts/checks/http-resource.ts';
import { verdictDocument } from '../../../receipts/checks/verdict-document.ts';
import { defineContract } from '../../../receipts/contract.ts';
import type { CheckFinding, DeliverableCheck } from '../../../receipts/contract.ts';
import type { Receipt } from '../../../receipts/envelope.ts';
import { NOW_MS, recorderFor } from '../../support/recorder.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}` as const;

/** A check of the same name and options that finds what the test says. */
const finding = (check: DeliverableCheck, found: CheckFinding): DeliverableCheck => ({
  ...check,
  run: () => Promise.resolve(found),
});

function recorderWith(check: DeliverableCheck): { recorder: ActivityRecorder; sent: Receipt[] } {
  const contract = defineContract({
    workflowType: 'mission',
    deliverables: { report: { destination: 'out', check } },
  });
  return recorderFor(contract);
}

const verify = (recorder: ActivityRecorder) => recorder.deliverable('report').verify({ location: 'report.json' });

describe('a pass without a digest', () => {
  test.each([
    ['file-digest', fileDigest()],
    ['verdict-document', verdictDocument({ root: '/tmp' })],
  ])('is refused where the check has one: %s', async (_name, check) => {
    const { recorder, sent } = recorderWith(finding(check, { result: 'pass', subject: { sizeBytes: 7 } }));
    await expect(verify(recorder)).rejects.toMatchObject({ type: 'DELIVERABLE_DIGEST', nonRetryable: true });
    expect(sent).toEqual([]);
  });

  test('is taken where the check has none', async () => {
    const own = { name: 'row-count', options: {}, run: () => Promise.resolve({ result: 'pass' as const }) };
    const found = { result: 'pass', subject: { sizeBytes: 7 } } as const;
    for (const check of [own, finding(httpResource(), found)]) {
      const { recorder, sent } = recorderWith(check);
      await expect(verify(recorder)).resolves.toMatchObject({ result: 'pass', outcome: 'stored' });
      expect(sent.map(({ kind }) => kind)).toEqual(['deliverable']);
    }
  });

  test('is refused of a workflow as well', async () => {
    const { recorder, sent } = recorderWith(fileDigest());
    const input = { name: 'report', destination: 'out', check: 'file-digest', result: 'pass' };
    const place = { fence: NOW_MS, sequence: 1, occurredAtMs: NOW_MS, readFromMs: NOW_MS };
    const record = (body: object) =>
      recorder.run(() =>
        recordForWorkflow({ receipts: [{ receiptId: 'r1', kind: 'deliverable', ...place, input: body }] }),
      );
    await expect(record(input)).rejects.toMatchObject({ details: [{ code: 'DELIVERABLE_DIGEST' }] });
    expect(sent).toEqual([]);
    await record({ ...input, subject: { digest: DIGEST } });
    expect(sent).toHaveLength(1);
  });
});

test('a digest is no part of what failed or could not be read', async () => {
  for (const result of ['fail', 'unread'] as const) {
    const { recorder, sent } = recorderWith(finding(fileDigest(), { result, cause: 'missing' }));
    await expect(verify(recorder)).resolves.toMatchObject({ result });
    expect(sent).toHaveLength(1);
  }
});
