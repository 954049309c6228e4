/** Conformance: what emit answers, and what of it is kept. */
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../receipts/envelope.ts';
import type { EmitterGap } from '../../receipts/state.ts';
import { chainOf, Emitter, outcomesOf, someDigest, someRun } from './given-receipts.ts';
import type { Identity, StoreUnderTest } from './given-receipts.ts';

export function describeEmitting({ clusterId, store, emit, wholeRow }: StoreUnderTest): void {
  /** What is missing of a run's chain, oldest fence first. */
  async function gapsOf(run: Identity): Promise<readonly EmitterGap[]> {
    return Object.values((await wholeRow(run)).state.emitterGaps).sort((a, b) => a.fence - b.fence);
  }

  describe('emitting', () => {
    it('answers in the order given and gives every kind back as it was', async () => {
      const run = someRun(clusterId());
      const activity = new Emitter(run, {
        emitter: 'a1',
        activityType: 'check',
        missionFingerprint: someDigest('f'),
      });
      const given = [
        activity.progress({
          delta: { done: 1, of: 3, ids: ['x', 'y'] },
          note: 'quote " and \\ and ü',
          expectByMs: 7_000,
        }),
        activity.effect({ inputDigest: someDigest('a'), target: 'bank' }, { sanitised: true }),
        activity.wait({ owner: null, deadlineMs: null, resumeToken: null }),
        activity.deliverable({
          subject: { digest: someDigest('d'), sizeBytes: 12 },
          coverage: { expected: 2, accepted: 1 },
        }),
      ];
      const reversed = given.toReversed();
      const outcomes = await store().emit(reversed);
      expect(outcomes.map(({ receiptId }) => receiptId)).toEqual(reversed.map(({ receiptId }) => receiptId));
      expect(outcomesOf(outcomes)).toEqual(['stored', 'stored', 'stored', 'stored']);
      const stored = await store().readReceipts(chainOf(run), 10);
      expect(stored.map(({ recordedAtMs: _, ...receipt }) => receipt)).toEqual(given);
      expect(await store().readReceipts(chainOf(run), 2)).toEqual(stored.slice(0, 2));
      await wholeRow(run);
    });

    it('stores nothing for an empty list', async () => {
      expect(await store().emit([])).toEqual([]);
    });

    it('acknowledges a receipt that it has, and counts it once', async () => {
      const run = someRun(clusterId());
      const receipt = new Emitter(run).progress();
      expect(await emit(receipt)).toEqual(['stored']);
      const before = await wholeRow(run);
      expect(await emit(receipt)).toEqual(['repeat']);
      expect(await emit(receipt, receipt)).toEqual(['repeat', 'repeat']);
      expect(await wholeRow(run)).toEqual(before);
    });

    it('takes the same receipt twice in one list for one', async () => {
      const run = someRun(clusterId());
      const receipt = new Emitter(run).progress();
      expect(await emit(receipt, receipt)).toEqual(['stored', 'repeat']);
      expect((await wholeRow(run)).receiptCount).toBe(1);
    });

    it('takes a body with its keys in another order for the same', async () => {
      const run = someRun(clusterId());
      const receipt = new Emitter(run).effect({ target: 'bank', name: 'charge' });
      const turned = { ...receipt, body: Object.fromEntries(Object.entries(receipt.body).toReversed()) } as Receipt;
      expect(await emit(receipt)).toEqual(['stored']);
      expect(await emit(turned)).toEqual(['repeat']);
    });

    it('refuses an id that is stored with another body, and stores its neighbours', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const first = emitter.progress({ digest: 'one' });
      await emit(first);
      const other = { ...first, body: { ...first.body, digest: 'two' } } as Receipt;
      const kind = { ...first, kind: 'deliverable' } as Receipt;
      expect(await emit(emitter.progress(), other, kind, emitter.progress())).toEqual([
        'stored',
        'RECEIPT_ID_CONFLICT',
        'RECEIPT_ID_CONFLICT',
        'stored',
      ]);
      expect((await wholeRow(run)).receiptCount).toBe(3);
    });

    it('refuses a receipt of another cluster, and stores its neighbours', async () => {
      const run = someRun(clusterId());
      const foreign = new Emitter(someRun('another-cluster')).progress();
      expect(await emit(foreign, new Emitter(run).progress())).toEqual(['CLUSTER_MISMATCH', 'stored']);
    });

    it('keeps a receipt of a replaced fence as late, where it changes nothing', async () => {
      const run = someRun(clusterId());
      const old = new Emitter(run, { emitter: 'a1', fence: 100 });
      const current = new Emitter(run, { emitter: 'a1', fence: 200 });
      await emit(current.progress({ digest: 'new' }));
      const before = await wholeRow(run);
      const late = [old.progress({ digest: 'old' }), old.wait(), old.deliverable()];
      expect(await emit(...late)).toEqual(['late', 'late', 'late']);
      const after = await wholeRow(run);
      expect(after.state.missions).toEqual(before.state.missions);
      expect(after.state.late.count).toBe(3);
      expect(after.evidenceVersion).toBe(before.evidenceVersion + 3);
      expect(await emit(...late)).toEqual(['repeat', 'repeat', 'repeat']);
      expect(await wholeRow(run)).toEqual(after);
    });

    it('takes the attempt for the order where the fence is the same', async () => {
      const run = someRun(clusterId());
      await emit(new Emitter(run, { attempt: 3 }).progress());
      expect(await emit(new Emitter(run, { attempt: 2 }).progress())).toEqual(['late']);
      expect(await emit(new Emitter(run, { attempt: 3 }).progress({}, { sequence: 2 }))).toEqual(['stored']);
      expect(await emit(new Emitter(run, { emitter: 'other', attempt: 1 }).progress())).toEqual(['stored']);
      await wholeRow(run);
    });

    it('keeps a late effect real', async () => {
      const run = someRun(clusterId());
      await emit(new Emitter(run, { emitter: 'a1', fence: 200 }).progress());
      expect(await emit(new Emitter(run, { emitter: 'a1', fence: 100 }).effect())).toEqual(['late']);
      expect(Object.keys((await wholeRow(run)).state.effects)).toEqual(['charge:1']);
    });

    it('takes an emitter that starts over within one list by fence, in whatever order it is given', async () => {
      const run = someRun(clusterId());
      const [old, current] = [100, 200].map((fence) => new Emitter(run, { emitter: 'a1', fence }));
      expect(await emit(current!.progress(), old!.progress(), current!.progress(), old!.progress())).toEqual([
        'stored',
        'stored',
        'stored',
        'stored',
      ]);
      expect((await wholeRow(run)).state.late.count).toBe(0);
    });

    it('names the eight newest late receipts', async () => {
      const run = someRun(clusterId());
      const old = new Emitter(run, { emitter: 'a1', fence: 100 });
      await emit(new Emitter(run, { emitter: 'a1', fence: 200 }).progress());
      const late = Array.from({ length: 10 }, () => old.progress());
      await emit(...late.slice(5));
      await emit(...late.slice(0, 5));
      expect((await wholeRow(run)).state.late).toEqual({
        count: 10,
        receiptIds: late.map(({ receiptId }) => receiptId).slice(2),
      });
    });

    it('shows a hole in a sequence until it is filled', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run, { emitter: 'a1', fence: 7, attempt: 2 });
      const [one, two, three, four, five] = Array.from({ length: 5 }, () => emitter.progress());
      await emit(one!, four!);
      const [open] = await gapsOf(run);
      expect(open).toMatchObject({ runId: run.runId, emitter: 'a1', fence: 7, attempt: 2, missing: 2 });
      await emit(five!, two!);
      expect(await gapsOf(run)).toEqual([{ ...open, missing: 1 }]);
      await emit(three!);
      expect(await gapsOf(run)).toEqual([]);
    });

    it('keeps the hole of a replaced attempt until what was missing comes, late', async () => {
      const run = someRun(clusterId());
      const [first, second, third] = [100, 200, 300].map((fence) => new Emitter(run, { emitter: 'a1', fence }));
      const [one, two, three] = Array.from({ length: 3 }, () => first!.progress());
      await emit(one!, three!);
      await emit(second!.progress());
      expect(await gapsOf(run)).toMatchObject([{ fence: 100, missing: 1 }]);
      const [_lost, after] = [second!.progress(), second!.progress()];
      await emit(after, third!.progress());
      expect(await gapsOf(run)).toMatchObject([
        { fence: 100, missing: 1 },
        { fence: 200, missing: 1 },
      ]);
      expect(await emit(two!)).toEqual(['late']);
      expect(await gapsOf(run)).toMatchObject([{ fence: 200, missing: 1 }]);
    });

    it('shows the hole of an attempt of which everything came late', async () => {
      const run = someRun(clusterId());
      const [old, current] = [100, 200].map((fence) => new Emitter(run, { emitter: 'a1', fence }));
      const [one, two, three, four] = Array.from({ length: 4 }, () => old!.progress());
      await emit(current!.progress());
      expect(await emit(two!, three!)).toEqual(['late', 'late']);
      expect(await gapsOf(run)).toMatchObject([{ fence: 100, missing: 1 }]);
      await emit(one!);
      expect(await gapsOf(run)).toEqual([]);
      await emit(four!);
      expect(await gapsOf(run)).toEqual([]);
    });

    it('lets no second receipt of a place hide a hole', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run, { emitter: 'a1' });
      await emit(emitter.progress({}, { sequence: 1 }), emitter.progress({}, { sequence: 3 }));
      await emit(emitter.progress({}, { sequence: 3 }), emitter.progress({}, { sequence: 1 }));
      expect(await gapsOf(run)).toMatchObject([{ missing: 1 }]);
    });

    it('names the newest fence of an emitter once another one has written, for sixteen emitters', async () => {
      const run = someRun(clusterId());
      await emit(new Emitter(run, { emitter: 'a1', fence: 200 }).progress());
      expect((await wholeRow(run)).state.newestFences).toEqual({});
      await emit(new Emitter(run, { emitter: 'a1', fence: 100 }).effect());
      expect((await wholeRow(run)).state.newestFences).toEqual({ [`${run.runId}/a1`]: '000000000000200.00000001' });
      for (let index = 0; index < 17; index += 1) {
        const emitter = `b${String(index)}`;
        await emit(new Emitter(run, { emitter, fence: 300 }).progress());
        await emit(new Emitter(run, { emitter, fence: 400 + index }).progress());
      }
      const { newestFences } = (await wholeRow(run)).state;
      expect(Object.keys(newestFences)).toHaveLength(16);
      expect(newestFences).not.toHaveProperty([`${run.runId}/a1`]);
      expect(newestFences).not.toHaveProperty([`${run.runId}/b0`]);
    });

    it('keeps the place of a receipt that it refuses: its sender was told, so it is no hole', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run, { emitter: 'a1', attempt: 3 });
      const first = emitter.progress();
      const second = emitter.effect({}, { receiptId: first.receiptId });
      await emit(first);
      expect(await emit(second, emitter.progress())).toEqual(['RECEIPT_ID_CONFLICT', 'stored']);
      const row = await wholeRow(run);
      expect(row).toMatchObject({ receiptCount: 2, evidenceVersion: 3, state: { emitterGaps: {}, effects: {} } });
      const refusals = await store().readRefusals(chainOf(run));
      expect(refusals).toMatchObject([
        { ...run, emitter: 'a1', attempt: 3, sequence: 2, kind: 'effect', code: 'RECEIPT_ID_CONFLICT' },
      ]);
      expect(refusals[0]).not.toHaveProperty('body');
      expect(await emit(second)).toEqual(['RECEIPT_ID_CONFLICT']);
      expect((await wholeRow(run)).evidenceVersion).toBe(3);
      expect(await store().readRefusals(chainOf(run))).toHaveLength(1);
    });

    it('begins a chain with a refused receipt, and takes it in the order of its fences', async () => {
      const [run, other] = [someRun(clusterId()), someRun(clusterId())];
      const taken = new Emitter(other).progress();
      await emit(taken);
      const current = new Emitter(run, { emitter: 'a1', fence: 200 });
      expect(await emit(current.progress({}, { receiptId: taken.receiptId }))).toEqual(['RECEIPT_ID_CONFLICT']);
      expect(await wholeRow(run)).toMatchObject({ receiptCount: 0, evidenceVersion: 1, workflowType: 'mission' });
      const old = new Emitter(run, { emitter: 'a1', fence: 100 });
      expect(await emit(old.progress())).toEqual(['late']);
      expect(await emit(old.wait({}, { receiptId: taken.receiptId }))).toEqual(['RECEIPT_ID_CONFLICT']);
      expect(await wholeRow(run)).toMatchObject({ receiptCount: 1, state: { late: { count: 1 }, emitterGaps: {} } });
    });

    it('begins a new hole anew when one list fills the old one and opens the next', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const [one, two, three, _missing, five] = Array.from({ length: 5 }, () => emitter.progress());
      await emit(one!, three!);
      await emit(five!, two!);
      await wholeRow(run);
    });
  });
}
