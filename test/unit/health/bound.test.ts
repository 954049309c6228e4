import { expect, test } from 'vitest';
import { classify } from '../../../health/classify.ts';
import { heartbeatStaleAtMs } from '../../../health/liveness.ts';
import { bind } from '../../../health/view.ts';
import { asRow, evidenceOf } from '../../support/evidence.ts';

const own = asRow(evidenceOf({ receipts: [{ progress: 'p1', at: '-1m' }] }));

test('a row of another chain says nothing of this run, and is named', () => {
  if (own.chain === null) throw new Error('no row');
  const foreign = { ...own, chain: { ...own.chain, chainId: 'R9' } };
  const judgement = classify(foreign, foreign.policy, foreign.nowMs);
  expect(classify(own, own.policy, own.nowMs).verdict).toBe('working');
  expect(judgement.verdict).toBe('stuck');
  expect(judgement.findings.map(({ finding }) => finding)).toContain('foreign-evidence');
});

test('a milestone that never changed is none', () => {
  if (own.chain === null) throw new Error('no row');
  const [key = '', mission] = Object.entries(own.chain.state.missions)[0] ?? [];
  if (mission === undefined) throw new Error('no mission');
  const milestones = Object.fromEntries(
    Object.entries(mission.milestones).map(([name, state]) => [name, { ...state, seen: [] }]),
  );
  const state = { ...own.chain.state, missions: { [key]: { ...mission, milestones } } };
  const empty = { ...own, chain: { ...own.chain, state } };
  expect(classify(empty, empty.policy, empty.nowMs).reason).toBe('silent');
});

test('an attempt that waits to start cannot be late with its heartbeat', () => {
  const waits = evidenceOf({ activities: [{ id: 'a1', state: 'SCHEDULED', attempt: 2, heartbeatTimeout: '60s' }] });
  const view = bind(waits, waits.policy, waits.nowMs);
  expect(view.activities.map((activity) => heartbeatStaleAtMs(activity, view))).toEqual([null]);
});

test('settled effects that left the row still count by their name', () => {
  const contract = { effects: { pay: { due: 'once' as const } }, deliverables: {} };
  const done = asRow(evidenceOf({ status: 'COMPLETED', contract, receipts: [{ progress: 'p1', at: '-5m' }] }));
  const { chain } = done;
  if (chain === null) throw new Error('no row');
  const reasonWith = (count: number): string => {
    const state = { ...chain.state, settledOlder: { pay: count } };
    return classify({ ...done, chain: { ...chain, state } }, done.policy, done.nowMs).reason;
  };
  expect([0, 1, 2].map(reasonWith)).toEqual(['effect-missing', 'verified', 'effect-contradicted']);
});
