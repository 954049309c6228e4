/** The fold where two receipts meet at the same place: what arrives first must never decide. */
import { describe, expect, it } from 'vitest';
import type { Receipt, StoredReceipt } from '../../receipts/envelope.ts';
import { placeReceipt, takenAtMs } from '../../receipts/emitters.ts';
import { foldChain, foldStored, startFold } from '../../receipts/fold.ts';
import type { ChainRow } from '../../receipts/state.ts';
import { Emitter, someDigest, someRun, verified } from './given-receipts.ts';

const run = someRun('c1');
const recorded = (receipt: Receipt, recordedAtMs = 10_000): StoredReceipt => ({ ...receipt, recordedAtMs });

/** Receipts in the order in which they come in, whatever their recorded times say. */
function fold(receipts: readonly StoredReceipt[]): ChainRow {
  return receipts.reduce((folding, one) => foldStored(folding, one), startFold(receipts[0]!, null)).row;
}

/** Both orders of arrival; they must agree. */
function bothWays(one: StoredReceipt, other: StoredReceipt): ChainRow {
  const row = fold([one, other]);
  expect(fold([other, one])).toEqual(row);
  expect(foldChain([one, other], null)).toEqual(row);
  expect(foldChain([other, one], null)).toEqual(row);
  return row;
}

const two = (over: Parameters<Emitter['progress']>[1] = {}) =>
  [new Emitter(run, { emitter: 'a', ...over }), new Emitter(run, { emitter: 'b', ...over })] as const;

describe('the fold', () => {
  it('of nothing is nothing, and of a receipt twice is that of one', () => {
    expect(foldChain([], null)).toBeNull();
    const receipt = recorded(new Emitter(run).progress());
    expect(foldChain([receipt, receipt], 'digest')).toMatchObject({ receiptCount: 1, contractDigest: 'digest' });
  });

  it('takes type and mission from the receipt recorded first', () => {
    const [a, b] = two();
    const first = recorded(a.progress({}, { missionFingerprint: someDigest('a'), workflowType: 'early' }), 9_000);
    const second = recorded(b.progress({}, { missionFingerprint: someDigest('b'), workflowType: 'late' }), 9_001);
    expect(bothWays(second, first)).toMatchObject({
      missionFingerprint: someDigest('a'),
      workflowType: 'early',
      firstReceiptAtMs: 9_000,
      lastReceiptAtMs: 9_001,
    });
  });

  it('lets the receipt id decide where everything else is equal', () => {
    const [a, b] = two();
    const bodies = { digest: 'same', step: 'one' };
    const [lesser, greater] = [recorded(a.progress(bodies)), recorded(b.progress({ ...bodies, step: 'two' }))];
    const { milestones } = bothWays(greater, lesser).state.missions['']!;
    expect(milestones['checked']).toMatchObject({ latestReceiptId: greater.receiptId, step: 'two' });
    expect(milestones['checked']!.seen.map(([, , receiptId]) => receiptId)).toEqual([lesser.receiptId]);
    const [other, another] = [recorded(a.progress({ digest: 'x' })), recorded(b.progress({ digest: 'y' }))];
    expect(bothWays(other, another).state.missions['']!.milestones['checked']!.seen).toHaveLength(2);
  });

  it('lets the receipt id decide between two checks and two marks of the same place', () => {
    const [a, b] = two();
    const [pass, fail] = [recorded(a.deliverable()), recorded(b.deliverable({ result: 'fail' }))];
    const { deliverables } = bothWays(pass, fail).state.missions['']!;
    expect(deliverables['report']!['file-digest']).toMatchObject({ result: 'fail' });
    const [one, other] = [recorded(a.effect()), recorded(b.effect())];
    expect(bothWays(one, other).state.effects['charge:1']?.attempted?.receiptId).toBe(other.receiptId);
  });

  it('takes the newest run of those that started in the same millisecond', () => {
    const runs = ['r1', 'r2'].map((runId) => ({ ...run, runId }));
    const [one, other] = runs.map((of) => recorded(new Emitter(of).progress()));
    expect(bothWays(other!, one!).runId).toBe('r2');
  });

  it('keeps the earliest time at which a wait came to where it is', () => {
    const [a, b] = two();
    const early = recorded(a.wait({ state: 'resolved' }, { occurredAtMs: 1_000 }));
    const late = recorded(b.wait({ state: 'resolved' }, { occurredAtMs: 2_000 }));
    expect(bothWays(late, early).state.missions['']!.waits['token-1']).toMatchObject({
      changedAtMs: 1_000,
      receiptId: late.receiptId,
    });
  });

  it('lets the oldest settled effects leave, in whatever order they came', () => {
    const emitter = new Emitter(run);
    const effects = Array.from({ length: 66 }, (_, index) =>
      recorded(emitter.effect(verified({ operationId: `op-${String(index)}` }))),
    );
    const row = fold(effects.toReversed());
    expect(row.state).toEqual({ ...fold(effects).state, emitterGaps: {} });
    expect(Object.keys(row.state.effects).sort()).toEqual(
      effects
        .slice(2)
        .map(({ body }) => (body as { operationId: string }).operationId)
        .sort(),
    );
    expect(row.state.settledOlder).toEqual({ charge: 2 });
  });
});

describe('the time at which a receipt is taken', () => {
  const at = (fence: number, sequence: number) => ({ fence, attempt: 1, sequence });
  const { emitter: known } = placeReceipt(placeReceipt(undefined, { ...at(5, 3), recordedAtMs: 900 }).emitter, {
    ...at(5, 1),
    recordedAtMs: 1_000,
  });

  it.each([
    ['is now for an emitter that is not known', undefined, at(5, 1), 900, 900],
    ['is now where now is later', known, at(5, 4), 1_001, 1_001],
    ['never goes back for what follows', known, at(5, 4), 900, 1_000],
    ['is after the last one for what should have come before it', known, at(5, 2), 900, 1_001],
    ['is after the last one for what is late', known, at(4, 9), 1_000, 1_001],
    ['may be the same for a newer fence', known, at(6, 1), 1_000, 1_000],
  ])('%s', (_, emitter, order, nowMs, expected) => {
    expect(takenAtMs(emitter, order, nowMs)).toBe(expected);
  });
});
