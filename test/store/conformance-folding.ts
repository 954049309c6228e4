/** Conformance: what receipts add up to. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Emitter, someDigest, someRun, verified } from './given-receipts.ts';
import type { StoreUnderTest } from './given-receipts.ts';

export function describeFolding({ clusterId, store, emit, wholeRow }: StoreUnderTest): void {
  describe('folding', () => {
    it('remembers 32 digests of a milestone and tells a loop from progress', async () => {
      const run = someRun(clusterId());
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
      const run = someRun(clusterId());
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
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const opened = emitter.wait();
      await emit(emitter.wait({ state: 'consumed' }, { occurredAtMs: 6_000 }));
      await emit(opened);
      expect((await wholeRow(run)).state.missions['']).toMatchObject({ waits: {}, resumedAtMs: 6_000 });
    });

    it('follows a wait through its life within one list, and keeps one without a token under its receipt', async () => {
      const run = someRun(clusterId());
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

    it.each(['\u00a0', '\t\n\v\f\r', '\u2028\ufeff\u3000', ''])('takes white space (%j) for no token', async (text) => {
      const run = someRun(clusterId());
      const nameless = new Emitter(run).wait({ resumeToken: text });
      await emit(nameless);
      expect(Object.keys((await wholeRow(run)).state.missions['']!.waits)).toEqual([nameless.receiptId]);
    });

    it('adds up what is said of an effect, in one list or in several', async () => {
      const run = someRun(clusterId());
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
      const again = someRun(clusterId());
      const same = said.map((receipt) => ({ ...receipt, ...again, receiptId: randomUUID() }));
      for (const one of same.toReversed()) await emit(one);
      await wholeRow(again);
    });

    it('keeps 64 settled effects, counts the older verified ones once, and takes one back that is heard of again', async () => {
      const run = someRun(clusterId());
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

    it('counts nothing for an effect that left and is open again', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const done = Array.from({ length: 65 }, (_, index) =>
        emitter.effect(verified({ operationId: `op-${String(index)}` })),
      );
      await emit(...done);
      expect((await wholeRow(run)).state.settledOlder).toEqual({ charge: 1 });
      await emit(emitter.effect({ operationId: 'op-0' }));
      const { state } = await wholeRow(run);
      expect(state.settledOlder).toEqual({});
      expect(Object.keys(state.effects)).toHaveLength(65);
    });

    it('keeps the newest check of a deliverable, by each check that ran', async () => {
      const run = someRun(clusterId());
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
      const first = someRun(clusterId(), { runStartedAtMs: 1_000 });
      const second = { ...first, runId: randomUUID(), runStartedAtMs: 2_000 };
      await emit(new Emitter(second).progress());
      await emit(new Emitter(first).progress());
      expect(await wholeRow(first)).toMatchObject({ runId: second.runId, runStartedAtMs: 2_000 });
    });

    it('counts age from the earlier of happened and recorded', async () => {
      const run = someRun(clusterId());
      const emitter = new Emitter(run);
      const future = store().nowMs() + 3_600_000;
      await emit(emitter.progress({ milestone: 'ahead' }, { occurredAtMs: future }));
      await emit(emitter.progress({ milestone: 'backlog' }, { occurredAtMs: 5 }));
      const { milestones } = (await wholeRow(run)).state.missions['']!;
      expect(milestones['ahead']!.latestAtMs).toBeLessThan(future);
      expect(milestones['backlog']!.latestAtMs).toBe(5);
    });
  });
}
