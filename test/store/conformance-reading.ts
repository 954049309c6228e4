/** Conformance: contracts, reading chains back, and what else is recorded. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defineContract } from '../../receipts/contract.ts';
import { digestJson } from '../../receipts/digest.ts';
import { chainOf, Emitter, someDigest, someRun } from './given-receipts.ts';
import type { StoreUnderTest } from './given-receipts.ts';

const contractOf = (workflowType: string, freshMs: number) =>
  defineContract({ workflowType, milestones: { checked: { fresh: freshMs } } }).contract;

export function describeReading({ clusterId, store, emit, wholeRow }: StoreUnderTest): void {
  describe('contracts', () => {
    it('pins the newest contract of the type at the first receipt', async () => {
      const [early, late] = [contractOf('mission', 1_000), contractOf('mission', 2_000)];
      const before = new Emitter(someRun(clusterId()));
      const run = someRun(clusterId());
      const [unpinned, other] = [before.progress(), someRun(clusterId(), { workflowType: 'other' })];
      await emit(unpinned);
      await store().registerContracts('default', [early, contractOf('another', 1)]);
      await emit(new Emitter(run).progress(), before.progress(), new Emitter(other).progress());
      await store().registerContracts('default', [late]);
      await emit(new Emitter(run, { emitter: 'a1' }).progress());
      expect((await wholeRow(run)).contractDigest).toBe(digestJson(early));
      expect((await store().readChain({ ...unpinned }))?.contractDigest).toBeNull();
      expect((await wholeRow(other)).contractDigest).toBeNull();
    });

    it('gives a contract by digest, and the newest without one', async () => {
      const [one, two] = [contractOf('mission', 1_000), contractOf('mission', 2_000)];
      expect(await store().registerContracts('default', [one, two])).toEqual([digestJson(one), digestJson(two)]);
      expect(await store().registerContracts('default', [one])).toEqual([digestJson(one)]);
      expect(await store().registerContracts('default', [])).toEqual([]);
      expect(await store().readContract('default', 'mission', null)).toEqual({
        contract: two,
        digest: digestJson(two),
      });
      expect(await store().readContract('default', 'mission', digestJson(one))).toEqual({
        contract: one,
        digest: digestJson(one),
      });
      expect(await store().readContract('default', 'mission', someDigest('0'))).toBeNull();
      expect(await store().readContract('elsewhere', 'mission', null)).toBeNull();
    });
  });

  describe('reading', () => {
    it('finds a chain by any of its runs, and the newest of a workflow id', async () => {
      const old = someRun(clusterId(), { runStartedAtMs: 1_000 });
      const middle = { ...old, runId: randomUUID(), runStartedAtMs: 2_000 };
      const last = { ...old, runId: randomUUID(), runStartedAtMs: 3_000 };
      const fresh = someRun(clusterId(), { workflowId: old.workflowId, runStartedAtMs: 9_000 });
      await emit(...[middle, last, fresh].map((run) => new Emitter(run).progress()));
      const chainIdBy = async (runId?: string): Promise<string | undefined> => {
        const reference = { namespace: 'default', workflowId: old.workflowId };
        return (await store().readChain(runId === undefined ? reference : { ...reference, runId }))?.chainId;
      };
      for (const run of [old, middle, last]) expect(await chainIdBy(run.runId)).toBe(old.chainId);
      expect(await chainIdBy()).toBe(fresh.chainId);
      expect(await chainIdBy(randomUUID())).toBeUndefined();
      expect(await store().readChain({ namespace: 'elsewhere', workflowId: old.workflowId })).toBeNull();
    });

    it('lists every chain once, page by page, and leaves out what did not change', async () => {
      const runs = Array.from({ length: 7 }, (_, index) => someRun(clusterId(), { workflowId: `wf-${String(index)}` }));
      const elsewhere = someRun(clusterId(), { namespace: 'elsewhere' });
      await emit(...[...runs, elsewhere].map((run) => new Emitter(run).progress()));
      const listed: string[] = [];
      let cursor: string | null = null;
      do {
        const query = { namespace: 'default', limit: 3 };
        const page = await store().listChains(cursor === null ? query : { ...query, cursor });
        listed.push(...page.rows.map(({ workflowId }) => workflowId));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(listed).toEqual(runs.map(({ workflowId }) => workflowId));
      const all = await store().listChains({ namespace: 'default', limit: 7 });
      expect(all.cursor).toBeNull();
      const changedSinceMs = Math.max(...all.rows.map(({ lastReceiptAtMs }) => lastReceiptAtMs)) + 1;
      expect((await store().listChains({ namespace: 'default', limit: 7, changedSinceMs })).rows).toEqual([]);
    });

    it('knows nothing of a chain without receipts', async () => {
      const chain = chainOf(someRun(clusterId()));
      expect(await store().readReceipts(chain, 10)).toEqual([]);
      expect(await store().readObservation(chain, false)).toBeNull();
      expect(await store().readJudgement(chain)).toBeNull();
    });

    it('gives the receipts and refusals that were recorded until a moment', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const first = emitter.progress();
      await emit(first, emitter.wait({}, { receiptId: first.receiptId }));
      const [receipt] = await store().readReceipts(chainOf(run), 10);
      const [refusal] = await store().readRefusals(chainOf(run));
      const { recordedAtMs } = receipt!;
      expect(await store().readReceipts(chainOf(run), 10, recordedAtMs)).toEqual([receipt]);
      expect(await store().readReceipts(chainOf(run), 10, recordedAtMs - 1)).toEqual([]);
      expect(await store().readRefusals(chainOf(run), refusal!.recordedAtMs)).toEqual([refusal]);
      expect(await store().readRefusals(chainOf(run), refusal!.recordedAtMs - 1)).toEqual([]);
    });

    it('gives one receipt by its id', async () => {
      const receipt = new Emitter(someRun(clusterId())).progress();
      expect(await store().readReceipt(receipt.receiptId)).toBeNull();
      await emit(receipt);
      expect(await store().readReceipt(receipt.receiptId)).toMatchObject(receipt);
    });

    it('has a clock that never goes back', async () => {
      const before = store().nowMs();
      await emit(new Emitter(someRun(clusterId())).progress());
      const times = Array.from({ length: 100 }, () => store().nowMs());
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]! - before).toBeGreaterThan(-60_000);
      expect(Number.isInteger(times[0])).toBe(true);
    });
  });

  describe('what else is recorded', () => {
    it('gives the newest observation, or the newest closed one', async () => {
      const run = someRun(clusterId());
      const observe = (observedAtMs: number, closed: boolean) => ({
        ...chainOf(run),
        runId: run.runId,
        observedAtMs,
        closed,
        temporal: { at: observedAtMs, nested: [null, 'x'] },
      });
      for (const one of [observe(20, true), observe(30, false), observe(10, true)])
        await store().recordObservation(one);
      expect(await store().readObservation(chainOf(run), false)).toEqual(observe(30, false));
      expect(await store().readObservation(chainOf(run), true)).toEqual(observe(20, true));
      expect(await store().readObservation(chainOf(run), false, 29)).toEqual(observe(20, true));
      expect(await store().readObservation(chainOf(run), false, 10)).toEqual(observe(10, true));
      expect(await store().readObservation(chainOf(run), false, 9)).toBeNull();
    });

    it('appends a judgement when verdict or reason changed', async () => {
      const run = someRun(clusterId());
      const judged = (verdict: string | null, reason: string, evidenceVersion: number) => ({
        ...chainOf(run),
        runId: run.runId,
        evidenceVersion,
        ruleVersion: '1',
        judgedAtMs: 100 + evidenceVersion,
        verdict,
        reason,
        judgement: { verdict, reason },
      });
      await emit(new Emitter(run).progress());
      const before = await wholeRow(run);
      const steps = [
        judged('working', 'milestone-fresh', 1),
        judged('working', 'milestone-fresh', 2),
        judged('working', 'start-up', 3),
        judged(null, 'start-up', 4),
        judged(null, 'start-up', 5),
        judged('working', 'start-up', 6),
      ];
      const appended: boolean[] = [];
      for (const one of steps) appended.push(await store().recordJudgement(one));
      expect(appended).toEqual([true, false, true, true, false, true]);
      expect(await store().readJudgement(chainOf(run))).toEqual(steps[5]);
      expect(await store().readJudgement(chainOf(run), steps[5]!.judgedAtMs - 1)).toEqual(steps[3]);
      expect(await store().readJudgement(chainOf(run), steps[0]!.judgedAtMs - 1)).toBeNull();
      expect(await wholeRow(run)).toEqual(before);
    });

    it('appends one of two equal judgements made at once', async () => {
      const run = someRun(clusterId());
      const one = {
        ...chainOf(run),
        runId: run.runId,
        evidenceVersion: 1,
        ruleVersion: '1',
        judgedAtMs: 1,
        verdict: 'stuck',
        reason: 'silent',
        judgement: {},
      };
      const appended = await Promise.all(Array.from({ length: 8 }, () => store().recordJudgement(one)));
      expect(appended.filter(Boolean)).toHaveLength(1);
    });

    it('gives outages that have not ended or ended after a moment', async () => {
      const gap = (workerId: string, fromMs: number, untilMs: number | null) => ({
        workerId,
        namespace: 'default',
        fromMs,
        untilMs,
      });
      await store().recordGap(gap('w1', 10, 20));
      await store().recordGap(gap('w2', 30, null));
      await store().recordGap(gap('w2', 5, 12));
      await store().recordGap({ ...gap('w3', 1, null), namespace: 'elsewhere' });
      expect(await store().readGaps('default', 12)).toEqual([gap('w1', 10, 20), gap('w2', 30, null)]);
      await store().recordGap(gap('w2', 30, 40));
      await store().recordGap(gap('w2', 30, null));
      expect(await store().readGaps('default', 20)).toEqual([gap('w2', 30, 40)]);
    });
  });
}
