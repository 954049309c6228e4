/** The past is what was judged then: random lives are judged as they go, and again when they are over. */
import { describe, expect, it } from 'vitest';
import { classify } from '../../health/classify.ts';
import { gatherRunAt } from '../../health/gather.ts';
import type { Sources } from '../../health/gather.ts';
import type { EvidenceDocument } from '../../health/evidence.ts';
import type { Judgement } from '../../health/judgement.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { temporalAt } from '../chaos/worlds/evidence-at.ts';
import { liveOne } from '../chaos/worlds/lives.ts';
import type { Life } from '../chaos/worlds/lives.ts';
import { randomOf } from '../chaos/worlds/random.ts';
import { POLICY, RUN } from '../chaos/worlds/story.ts';

const chain = { namespace: RUN.namespace, workflowId: RUN.workflowId, chainId: RUN.chainId };

interface Lived {
  readonly store: ReceiptStore;
  readonly sources: Sources;
  readonly judgements: readonly Judgement[];
  readonly endsAtMs: number;
}

/** Lives one life into a store; at some moments somebody looks, judges and writes both down, as `explain` does. */
async function lived({ story, endsAtMs }: Life, seed: number): Promise<Lived> {
  const random = randomOf(seed + 1_000_000);
  let nowMs = story.startedAtMs;
  const store = createMemoryStore({ clusterId: RUN.clusterId, nowMs: () => nowMs });
  await store.registerContracts(RUN.namespace, [story.contract]);
  const moments = Array.from({ length: 6 }, () => random.between(story.startedAtMs, endsAtMs + 1_000_000));
  const isDown = (atMs: number): boolean =>
    story.outages.some(({ fromMs, untilMs }) => atMs >= fromMs && atMs < (untilMs ?? Infinity));
  const steps = [
    ...story.receipts.map((receipt) => ({ atMs: receipt.recordedAtMs, do: () => store.emit([receipt]) })),
    ...story.outages.map((gap) => ({
      atMs: gap.untilMs ?? Infinity,
      do: () => store.recordGap({ ...gap, namespace: RUN.namespace }),
    })),
    ...moments.filter((atMs) => !isDown(atMs)).map((atMs) => ({ atMs: atMs + 0.5, do: () => look(Math.floor(atMs)) })),
  ].sort((a, b) => a.atMs - b.atMs);

  const judgements: Judgement[] = [];
  async function look(atMs: number): Promise<void> {
    const row = await store.readChain(chain);
    if (row === null) return;
    const temporal = temporalAt(story, atMs);
    const closed = story.close !== null && atMs >= story.close.atMs;
    await store.recordObservation({ ...chain, runId: RUN.runId, observedAtMs: atMs, closed, temporal });
    const document: EvidenceDocument = {
      ...{ schemaVersion: 1, run: RUN, missionFingerprint: null, temporal, chain: row, receipts: null },
      ...{ storeAsked: true, stops: [], children: [], plan: null, contract: story.contract, unread: [] },
      gaps: (await store.readGaps(RUN.namespace, 0)).map(({ workerId, fromMs, untilMs }) => ({
        workerId,
        fromMs,
        untilMs,
      })),
      ...{ policy: POLICY, nowMs: atMs },
    };
    const judgement = classify(document, POLICY, atMs);
    judgements.push(judgement);
    const { verdict, reason, ruleVersion, judgedAtMs } = judgement;
    const { evidenceVersion } = row;
    await store.recordJudgement({
      ...{ ...chain, runId: RUN.runId, evidenceVersion, ruleVersion, judgedAtMs, verdict, reason, judgement },
    });
  }
  for (const step of steps) {
    nowMs = Math.max(nowMs, Math.floor(step.atMs));
    await step.do();
  }
  nowMs = endsAtMs + 100_000_000;
  const sources: Sources = {
    ...{ clusterId: RUN.clusterId, temporal: { unread: 'TEMPORAL_UNREACHABLE' }, store, policy: POLICY },
    judge: (document) => classify(document, document.policy, document.nowMs),
    localNowMs: () => nowMs,
  };
  return { store, sources, judgements, endsAtMs };
}

const judgedAt = async (sources: Sources, atMs: number): Promise<Judgement> => {
  const { document } = await gatherRunAt(chain, atMs, sources);
  return classify(document, document.policy, document.nowMs);
};

describe('a past moment', () => {
  it('is judged as it was judged then, to the byte, whatever came since', { timeout: 300_000 }, async () => {
    let compared = 0;
    for (let seed = 1; seed <= 400; seed += 1) {
      const { sources, judgements } = await lived(liveOne(randomOf(seed)), seed);
      for (const judgement of judgements) {
        const again = await judgedAt(sources, judgement.judgedAtMs);
        expect(again, `seed ${String(seed)} at ${String(judgement.judgedAtMs)}`).toEqual(judgement);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  it('that nobody looked at is uncertain while the run was open, and tells what was said before it', async () => {
    const { store, sources, judgements } = await lived(liveOne(randomOf(12)), 12);
    const row = (await store.readChain(chain))!;
    const atMs = row.firstReceiptAtMs + 1;
    const { document, judgedThen } = await gatherRunAt(chain, atMs, { ...sources, judge: null });
    expect(document.temporal).toEqual({ source: 'unread', code: 'NOT_OBSERVED', listed: null });
    expect(document.chain?.receiptCount).toBeLessThan(row.receiptCount);
    expect(classify(document, document.policy, document.nowMs)).toMatchObject({ verdict: 'uncertain' });
    expect(judgedThen).toBeNull();
    const last = judgements.at(-1)!;
    expect((await gatherRunAt(chain, last.judgedAtMs, sources)).judgedThen).not.toBeNull();
  });

  it('before the first receipt, ahead, or with no store is refused', async () => {
    const { sources, endsAtMs } = await lived(liveOne(randomOf(3)), 3);
    const code = (code: string): Error => expect.objectContaining({ code }) as Error;
    await expect(gatherRunAt(chain, 1, sources)).rejects.toThrow(code('NOT_FOUND'));
    await expect(gatherRunAt(chain, endsAtMs * 2, sources)).rejects.toThrow(code('INVALID_TIME'));
    await expect(gatherRunAt(chain, 1, { ...sources, store: null })).rejects.toThrow(code('CONFIG_MISSING'));
    const down = { ...sources, store: { unread: 'DB_UNREACHABLE' } } as const;
    await expect(gatherRunAt(chain, 1, down)).rejects.toThrow(code('DB_UNREACHABLE'));
    await expect(gatherRunAt({ ...chain, workflowId: 'other' }, 1, sources)).rejects.toThrow(code('NOT_FOUND'));
  });
});
