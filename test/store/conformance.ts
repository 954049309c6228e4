/** What every store must do, as one suite that takes a store. Each test has a cluster of its own, hence an empty store. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineContract } from '../../receipts/contract.ts';
import { digestJson } from '../../receipts/digest.ts';
import type { Receipt } from '../../receipts/envelope.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { EmitOutcome, ReceiptStore } from '../../receipts/store.ts';
import { chainOf, Emitter, rowAndFold, someDigest, someRun, verified } from './given-receipts.ts';
import type { Identity } from './given-receipts.ts';

export type OpenStore = (clusterId: string) => ReceiptStore | Promise<ReceiptStore>;

const outcomesOf = (outcomes: readonly EmitOutcome[]): string[] =>
  outcomes.map((one) => (one.outcome === 'refused' ? one.error.code : one.outcome));

const contractOf = (workflowType: string, freshMs: number) =>
  defineContract({ workflowType, milestones: { checked: { fresh: freshMs } } }).contract;

export function describeStore(name: string, open: OpenStore): void {
  describe(name, () => {
    let clusterId: string;
    let store: ReceiptStore;

    beforeEach(async () => {
      clusterId = randomUUID();
      store = await open(clusterId);
    });
    afterEach(() => store.close());

    const emit = async (...receipts: readonly Receipt[]): Promise<string[]> => outcomesOf(await store.emit(receipts));

    /** The row, after checking that it is what its receipts fold to. */
    async function wholeRow(run: Identity): Promise<ChainRow> {
      const { row, folded } = await rowAndFold(store, run);
      expect(row).toEqual(folded);
      return row!;
    }

    describe('emitting', () => {
      it('answers in the order given and gives every kind back as it was', async () => {
        const run = someRun(clusterId);
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
        const outcomes = await store.emit(reversed);
        expect(outcomes.map(({ receiptId }) => receiptId)).toEqual(reversed.map(({ receiptId }) => receiptId));
        expect(outcomesOf(outcomes)).toEqual(['stored', 'stored', 'stored', 'stored']);
        const stored = await store.readReceipts(chainOf(run), 10);
        expect(stored.map(({ recordedAtMs: _, ...receipt }) => receipt)).toEqual(given);
        expect(await store.readReceipts(chainOf(run), 2)).toEqual(stored.slice(0, 2));
        await wholeRow(run);
      });

      it('stores nothing for an empty list', async () => {
        expect(await store.emit([])).toEqual([]);
      });

      it('acknowledges a receipt that it has, and counts it once', async () => {
        const run = someRun(clusterId);
        const receipt = new Emitter(run).progress();
        expect(await emit(receipt)).toEqual(['stored']);
        const before = await wholeRow(run);
        expect(await emit(receipt)).toEqual(['repeat']);
        expect(await emit(receipt, receipt)).toEqual(['repeat', 'repeat']);
        expect(await wholeRow(run)).toEqual(before);
      });

      it('takes the same receipt twice in one list for one', async () => {
        const run = someRun(clusterId);
        const receipt = new Emitter(run).progress();
        expect(await emit(receipt, receipt)).toEqual(['stored', 'repeat']);
        expect((await wholeRow(run)).receiptCount).toBe(1);
      });

      it('takes a body with its keys in another order for the same', async () => {
        const run = someRun(clusterId);
        const receipt = new Emitter(run).effect({ target: 'bank', name: 'charge' });
        const turned = { ...receipt, body: Object.fromEntries(Object.entries(receipt.body).toReversed()) } as Receipt;
        expect(await emit(receipt)).toEqual(['stored']);
        expect(await emit(turned)).toEqual(['repeat']);
      });

      it('refuses an id that is stored with another body, and stores its neighbours', async () => {
        const run = someRun(clusterId);
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
        const run = someRun(clusterId);
        const foreign = new Emitter(someRun('another-cluster')).progress();
        expect(await emit(foreign, new Emitter(run).progress())).toEqual(['CLUSTER_MISMATCH', 'stored']);
      });

      it('keeps a receipt of a replaced fence as late, where it changes nothing', async () => {
        const run = someRun(clusterId);
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
        const run = someRun(clusterId);
        await emit(new Emitter(run, { attempt: 3 }).progress());
        expect(await emit(new Emitter(run, { attempt: 2 }).progress())).toEqual(['late']);
        expect(await emit(new Emitter(run, { attempt: 3 }).progress({}, { sequence: 2 }))).toEqual(['stored']);
        expect(await emit(new Emitter(run, { emitter: 'other', attempt: 1 }).progress())).toEqual(['stored']);
        await wholeRow(run);
      });

      it('keeps a late effect real', async () => {
        const run = someRun(clusterId);
        await emit(new Emitter(run, { emitter: 'a1', fence: 200 }).progress());
        expect(await emit(new Emitter(run, { emitter: 'a1', fence: 100 }).effect())).toEqual(['late']);
        expect(Object.keys((await wholeRow(run)).state.effects)).toEqual(['charge:1']);
      });

      it('takes an emitter that starts over within one list by fence, in whatever order it is given', async () => {
        const run = someRun(clusterId);
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
        const run = someRun(clusterId);
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
        const run = someRun(clusterId);
        const emitter = new Emitter(run, { emitter: 'a1', fence: 7, attempt: 2 });
        const [one, two, three, four, five] = Array.from({ length: 5 }, () => emitter.progress());
        await emit(one!, four!);
        const open = (await wholeRow(run)).state.emitterGaps[`${run.runId}/a1`];
        expect(open).toMatchObject({ fence: 7, attempt: 2, missing: 2 });
        await emit(five!, two!);
        expect((await wholeRow(run)).state.emitterGaps[`${run.runId}/a1`]).toEqual({ ...open, missing: 1 });
        await emit(three!);
        expect((await wholeRow(run)).state.emitterGaps).toEqual({});
      });

      it('begins a new hole anew when one list fills the old one and opens the next', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const [one, two, three, _missing, five] = Array.from({ length: 5 }, () => emitter.progress());
        await emit(one!, three!);
        await emit(five!, two!);
        await wholeRow(run);
      });
    });

    describe('folding', () => {
      it('remembers 32 digests of a milestone and tells a loop from progress', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const receipts = Array.from({ length: 40 }, (_, index) =>
          emitter.progress({ digest: `d${String(index)}` }, { occurredAtMs: 1_000 + index }),
        );
        await emit(...receipts.slice(0, 20));
        await emit(...receipts.slice(20));
        await emit(
          emitter.progress({ digest: 'd39', step: 'again', end: 'budget-exhausted' }, { occurredAtMs: 3_000 }),
          emitter.progress({ digest: 'd20' }, { occurredAtMs: 1 }),
          emitter.progress({ digest: 'd3' }, { occurredAtMs: 4_000 }),
        );
        const milestone = (await wholeRow(run)).state.missions['']!.milestones['checked']!;
        expect(milestone.seen).toHaveLength(32);
        expect(milestone.seen.slice(0, 2).map(([, atMs]) => atMs)).toEqual([4_000, 1_039]);
      });

      it('keeps missions apart', async () => {
        const run = someRun(clusterId);
        const [one, two] = ['a', 'b'].map((letter, index) => {
          const over = { missionFingerprint: someDigest(letter), emitter: `e${String(index)}` };
          return new Emitter(run, over);
        });
        await emit(one!.progress(), two!.progress(), one!.wait(), two!.wait({ state: 'consumed' }), two!.deliverable());
        const { state } = await wholeRow(run);
        expect(Object.keys(state.missions[someDigest('a')]!.waits)).toEqual(['token-1']);
        expect(state.missions[someDigest('b')]!.waits).toEqual({});
      });

      it('does not open a closed wait again when its opening comes late', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const opened = emitter.wait();
        await emit(emitter.wait({ state: 'consumed' }, { occurredAtMs: 6_000 }));
        await emit(opened);
        expect((await wholeRow(run)).state.missions['']).toMatchObject({ waits: {}, resumedAtMs: 6_000 });
      });

      it('follows a wait through its life within one list, and keeps one without a token under its receipt', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const nameless = emitter.wait({ resumeToken: '  ' });
        await emit(
          emitter.wait(),
          emitter.wait({ state: 'expired', owner: 'boss' }),
          emitter.wait({ state: 'resolved' }),
          nameless,
        );
        const { waits } = (await wholeRow(run)).state.missions['']!;
        expect(waits['token-1']).toMatchObject({ state: 'resolved', owner: 'ops' });
        expect(waits[nameless.receiptId]).toMatchObject({ resumeToken: '  ', state: 'open' });
      });

      it.each(['\u00a0', '\t\n\v\f\r', '\u2028\ufeff\u3000', ''])(
        'takes white space (%j) for no token',
        async (text) => {
          const run = someRun(clusterId);
          const nameless = new Emitter(run).wait({ resumeToken: text });
          await emit(nameless);
          expect(Object.keys((await wholeRow(run)).state.missions['']!.waits)).toEqual([nameless.receiptId]);
        },
      );

      it('adds up what is said of an effect, in one list or in several', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const said = [
          emitter.effect({ class: 'keyed', target: 'bank', inputDigest: someDigest('i') }),
          emitter.effect({ state: 'unknown' }),
          emitter.effect({ state: 'verified' }),
          emitter.effect(verified({ verdict: { by: 'destination', level: 'settled', resultDigest: someDigest('r') } })),
          emitter.effect({ state: 'none', verdict: { by: 'person', resultDigest: someDigest('q') }, role: 'delivery' }),
          emitter.effect({ name: 'bill', deliverable: 'report', protectedUntilMs: 77, target: 'a bank' }),
          emitter.effect({ name: 'zeta', protectedUntilMs: 66 }),
        ];
        await emit(...said);
        const { effects } = (await wholeRow(run)).state;
        expect(effects['charge:1']).toMatchObject({
          name: 'bill',
          role: 'delivery',
          target: 'a bank',
          level: 'settled',
          resultDigest: someDigest('q'),
          contradicted: true,
          protectedUntilMs: 77,
        });
        const again = someRun(clusterId);
        const same = said.map((receipt) => ({ ...receipt, ...again, receiptId: randomUUID() }) as Receipt);
        for (const one of same.toReversed()) await emit(one);
        await wholeRow(again);
      });

      it('keeps 64 settled effects, counts the older verified ones once, and takes one back that is heard of again', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const done = Array.from({ length: 70 }, (_, index) =>
          emitter.effect(
            index % 7 === 3
              ? { operationId: `op-${String(index)}`, state: 'none', verdict: { by: 'person' } }
              : verified({ operationId: `op-${String(index)}` }),
          ),
        );
        await emit(...done.slice(0, 50));
        await emit(...done.slice(50));
        const { state } = await wholeRow(run);
        expect(Object.keys(state.effects)).toHaveLength(64);
        expect(state.settledOlder).toEqual({ charge: 5 });

        await emit(emitter.effect(verified({ operationId: 'op-0' })));
        const again = await wholeRow(run);
        expect(again.state.effects['op-0']).toBeDefined();
        expect(again.state.settledOlder).toEqual({ charge: 4 + 1 });

        await emit(new Emitter(run, { fence: 1, emitter: 'old' }).effect(verified({ operationId: 'op-1' })));
        await emit(emitter.effect({ operationId: 'op-2' }), emitter.effect({ operationId: 'op-3' }));
        expect((await wholeRow(run)).state.settledOlder).toEqual({ charge: 4 });
      });

      it('keeps the newest check of a deliverable, by each check that ran', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const [first, second, judged] = [
          emitter.deliverable({ result: 'fail', cause: 'size-zero' }),
          emitter.deliverable(),
          emitter.deliverable({ check: 'judge', confidence: 0.75 }),
        ];
        await emit(second, judged);
        await emit(first);
        const { report } = (await wholeRow(run)).state.missions['']!.deliverables as Record<
          string,
          Record<string, unknown>
        >;
        expect(report!['file-digest']).toMatchObject({ result: 'pass', receiptId: second.receiptId });
        expect(report!['judge']).toMatchObject({ confidence: 0.75 });
      });

      it('shows the newest run of a chain, whoever writes last', async () => {
        const first = someRun(clusterId, { runStartedAtMs: 1_000 });
        const second = { ...first, runId: randomUUID(), runStartedAtMs: 2_000 };
        await emit(new Emitter(second).progress());
        await emit(new Emitter(first).progress());
        expect(await wholeRow(first)).toMatchObject({ runId: second.runId, runStartedAtMs: 2_000 });
      });

      it('counts age from the earlier of happened and recorded', async () => {
        const run = someRun(clusterId);
        const emitter = new Emitter(run);
        const future = store.nowMs() + 3_600_000;
        await emit(emitter.progress({ milestone: 'ahead' }, { occurredAtMs: future }));
        await emit(emitter.progress({ milestone: 'backlog' }, { occurredAtMs: 5 }));
        const { milestones } = (await wholeRow(run)).state.missions['']!;
        expect(milestones['ahead']!.latestAtMs).toBeLessThan(future);
        expect(milestones['backlog']!.latestAtMs).toBe(5);
      });
    });

    describe('contracts', () => {
      it('pins the newest contract of the type at the first receipt', async () => {
        const [early, late] = [contractOf('mission', 1_000), contractOf('mission', 2_000)];
        const before = new Emitter(someRun(clusterId));
        const run = someRun(clusterId);
        const [unpinned, other] = [before.progress(), someRun(clusterId, { workflowType: 'other' })];
        await emit(unpinned);
        await store.registerContracts('default', [early, contractOf('another', 1)]);
        await emit(new Emitter(run).progress(), before.progress(), new Emitter(other).progress());
        await store.registerContracts('default', [late]);
        await emit(new Emitter(run, { emitter: 'a1' }).progress());
        expect((await wholeRow(run)).contractDigest).toBe(digestJson(early));
        expect((await store.readChain({ ...unpinned }))?.contractDigest).toBeNull();
        expect((await wholeRow(other)).contractDigest).toBeNull();
      });

      it('gives a contract by digest, and the newest without one', async () => {
        const [one, two] = [contractOf('mission', 1_000), contractOf('mission', 2_000)];
        expect(await store.registerContracts('default', [one, two])).toEqual([digestJson(one), digestJson(two)]);
        expect(await store.registerContracts('default', [one])).toEqual([digestJson(one)]);
        expect(await store.registerContracts('default', [])).toEqual([]);
        expect(await store.readContract('default', 'mission', null)).toEqual({
          contract: two,
          digest: digestJson(two),
        });
        expect(await store.readContract('default', 'mission', digestJson(one))).toEqual({
          contract: one,
          digest: digestJson(one),
        });
        expect(await store.readContract('default', 'mission', someDigest('0'))).toBeNull();
        expect(await store.readContract('elsewhere', 'mission', null)).toBeNull();
      });
    });

    describe('reading', () => {
      it('finds a chain by any of its runs, and the newest of a workflow id', async () => {
        const old = someRun(clusterId, { runStartedAtMs: 1_000 });
        const middle = { ...old, runId: randomUUID(), runStartedAtMs: 2_000 };
        const last = { ...old, runId: randomUUID(), runStartedAtMs: 3_000 };
        const fresh = someRun(clusterId, { workflowId: old.workflowId, runStartedAtMs: 9_000 });
        await emit(...[middle, last, fresh].map((run) => new Emitter(run).progress()));
        const chainIdBy = async (runId?: string): Promise<string | undefined> => {
          const reference = { namespace: 'default', workflowId: old.workflowId };
          return (await store.readChain(runId === undefined ? reference : { ...reference, runId }))?.chainId;
        };
        for (const run of [old, middle, last]) expect(await chainIdBy(run.runId)).toBe(old.chainId);
        expect(await chainIdBy()).toBe(fresh.chainId);
        expect(await chainIdBy(randomUUID())).toBeUndefined();
        expect(await store.readChain({ namespace: 'elsewhere', workflowId: old.workflowId })).toBeNull();
      });

      it('lists every chain once, page by page, and leaves out what did not change', async () => {
        const runs = Array.from({ length: 7 }, (_, index) => someRun(clusterId, { workflowId: `wf-${String(index)}` }));
        const elsewhere = someRun(clusterId, { namespace: 'elsewhere' });
        await emit(...[...runs, elsewhere].map((run) => new Emitter(run).progress()));
        const listed: string[] = [];
        let cursor: string | null = null;
        do {
          const query = { namespace: 'default', limit: 3 };
          const page = await store.listChains(cursor === null ? query : { ...query, cursor });
          listed.push(...page.rows.map(({ workflowId }) => workflowId));
          cursor = page.cursor;
        } while (cursor !== null);
        expect(listed).toEqual(runs.map(({ workflowId }) => workflowId));
        const all = await store.listChains({ namespace: 'default', limit: 7 });
        expect(all.cursor).toBeNull();
        const changedSinceMs = Math.max(...all.rows.map(({ lastReceiptAtMs }) => lastReceiptAtMs)) + 1;
        expect((await store.listChains({ namespace: 'default', limit: 7, changedSinceMs })).rows).toEqual([]);
      });

      it('knows nothing of a chain without receipts', async () => {
        const chain = chainOf(someRun(clusterId));
        expect(await store.readReceipts(chain, 10)).toEqual([]);
        expect(await store.readObservation(chain, false)).toBeNull();
        expect(await store.readJudgement(chain)).toBeNull();
      });

      it('has a clock that never goes back', async () => {
        const before = store.nowMs();
        await emit(new Emitter(someRun(clusterId)).progress());
        const times = Array.from({ length: 100 }, () => store.nowMs());
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect(times[0]! - before).toBeGreaterThan(-60_000);
        expect(Number.isInteger(times[0])).toBe(true);
      });
    });

    describe('what else is recorded', () => {
      it('gives the newest observation, or the newest closed one', async () => {
        const run = someRun(clusterId);
        const observe = (observedAtMs: number, closed: boolean) => ({
          ...chainOf(run),
          runId: run.runId,
          observedAtMs,
          closed,
          temporal: { at: observedAtMs, nested: [null, 'x'] },
        });
        for (const one of [observe(20, true), observe(30, false), observe(10, true)])
          await store.recordObservation(one);
        expect(await store.readObservation(chainOf(run), false)).toEqual(observe(30, false));
        expect(await store.readObservation(chainOf(run), true)).toEqual(observe(20, true));
      });

      it('appends a judgement when verdict or reason changed', async () => {
        const run = someRun(clusterId);
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
        for (const one of steps) appended.push(await store.recordJudgement(one));
        expect(appended).toEqual([true, false, true, true, false, true]);
        expect(await store.readJudgement(chainOf(run))).toEqual(steps[5]);
        expect(await wholeRow(run)).toEqual(before);
      });

      it('appends one of two equal judgements made at once', async () => {
        const run = someRun(clusterId);
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
        const appended = await Promise.all(Array.from({ length: 8 }, () => store.recordJudgement(one)));
        expect(appended.filter(Boolean)).toHaveLength(1);
      });

      it('gives outages that have not ended or ended after a moment', async () => {
        const gap = (workerId: string, fromMs: number, untilMs: number | null) => ({
          workerId,
          namespace: 'default',
          fromMs,
          untilMs,
        });
        await store.recordGap(gap('w1', 10, 20));
        await store.recordGap(gap('w2', 30, null));
        await store.recordGap(gap('w2', 5, 12));
        await store.recordGap({ ...gap('w3', 1, null), namespace: 'elsewhere' });
        expect(await store.readGaps('default', 12)).toEqual([gap('w1', 10, 20), gap('w2', 30, null)]);
        await store.recordGap(gap('w2', 30, 40));
        await store.recordGap(gap('w2', 30, null));
        expect(await store.readGaps('default', 20)).toEqual([gap('w2', 30, 40)]);
      });
    });
  });
}
