import { describe, expect, it } from 'vitest';
import { sourceCheckContract } from '../../activities/agents/source-check/contract.ts';
import { sixCasesContracts } from '../../activities/agents/six-cases/contracts.ts';
import { classify } from '../../health/classify.ts';
import { memoryStore, sixRuns, testClock, verdictMatchers } from '../../health/testing/index.ts';
import { VERDICTS } from '../../health/verdict.ts';
import type { Reason, Verdict } from '../../health/verdict.ts';
import { defineContract } from '../../receipts/contract.ts';
import type { DefinedContract } from '../../receipts/contract.ts';
import { Emitter, someRun } from '../store/given-receipts.ts';

const check = { name: 'any-check', options: {}, run: () => Promise.resolve({ result: 'pass' as const }) };
const demanding = defineContract({
  workflowType: 'demanding',
  milestones: { pages: { fresh: '30s' } },
  effects: {
    charge: { due: 'once', levels: ['accepted', 'settled'], window: '1s' },
    log: { due: 'at-least-once' },
    look: { due: 'any' },
  },
  deliverables: {
    report: {
      destination: 'file',
      check,
      minimumBytes: 5_000,
      coverage: true,
      fresh: '1m',
      transports: ['mail', 's3'],
    },
    opinion: { destination: 'wiki', noDeterministicCheck: 'taste' },
  },
  budgets: { run: '2h', attempts: 3 },
});
const effectOnly = defineContract({ workflowType: 'pays', effects: { charge: { due: 'once' } } });
const contracts: readonly DefinedContract[] = [sourceCheckContract, ...sixCasesContracts, demanding, effectOnly];

describe('six runs', () => {
  it.each(contracts.map((defined) => [defined.contract.workflowType, defined] as const))(
    'of %s get their verdicts',
    (_, defined) => {
      const runs = sixRuns(defined);
      expect(Object.keys(runs).sort()).toEqual([...VERDICTS].sort());
      for (const [verdict, run] of Object.entries(runs)) {
        expect(classify(run, run.policy, run.nowMs), verdict).toMatchObject({ verdict, runId: run.run.runId });
      }
    },
  );

  it('are refused for a contract that owes nothing, since nothing could tell its success from a claim', () => {
    const owesNothing = defineContract({ workflowType: 'free', effects: { look: { due: 'any' } } });
    expect(() => sixRuns(owesNothing)).toThrow(expect.objectContaining({ code: 'CONTRACT_INVALID' }) as Error);
  });

  it('are looked at when asked', () => {
    expect(sixRuns(effectOnly, { nowMs: 2_000_000_000_000 }).working.nowMs).toBe(2_000_000_000_000);
  });
});

describe('toHaveVerdict', () => {
  const { stuck } = sixRuns(demanding);
  const of = (...expected: [Verdict | null, Reason?]) => verdictMatchers.toHaveVerdict(stuck, ...expected);

  it('compares the verdict and, where it is given, the reason, of evidence or of a judgement', () => {
    expect(of('stuck')).toMatchObject({ pass: true });
    expect(of('stuck', 'milestone-stale')).toMatchObject({ pass: true });
    expect(of('stuck', 'loop')).toMatchObject({ pass: false });
    expect(of('working')).toMatchObject({ pass: false });
    const judgement = classify(stuck, stuck.policy, stuck.nowMs);
    expect(verdictMatchers.toHaveVerdict(judgement, 'stuck')).toMatchObject({ pass: true });
    expect(verdictMatchers.toHaveVerdict({ ...judgement, verdict: null }, null)).toMatchObject({ pass: true });
  });

  it('shows what decided it when it fails', () => {
    expect(of('working', 'loop').message()).toMatch(
      /^expected working \(loop\), and it is stuck \(milestone-stale\): .*\n {2}\S+/,
    );
    expect(of('stuck').message()).toMatch(/^expected anything but stuck, /);
    expect(of(null).message()).toMatch(/^expected no verdict, /);
  });
});

describe('the test clock', () => {
  it('moves only when it is told to, and the store in memory follows it', async () => {
    const clock = testClock(1_000);
    const store = memoryStore({ clusterId: 'c', clock });
    expect(store.nowMs()).toBe(1_000);
    expect(clock.advance('5m')).toBe(301_000);
    const run = someRun('c');
    await store.emit([new Emitter(run).progress()]);
    expect(await store.readChain({ namespace: run.namespace, workflowId: run.workflowId })).toMatchObject({
      lastReceiptAtMs: 301_000,
    });
    expect(() => clock.advance(-1)).toThrow(expect.objectContaining({ field: 'by' }) as Error);
  });
});
