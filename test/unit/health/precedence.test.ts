/**
 * Each pair of reasons, put together: the one that comes earlier in the order of decision decides. Pairs that cannot be
 * true of one run at once are listed with why, so that no pair is left out silently.
 */
import { describe, expect, test } from 'vitest';
import { classify } from '../../../health/classify.ts';
import type { Judgement } from '../../../health/judgement.ts';
import { ALL_REASONS } from '../../../health/verdict.ts';
import type { Reason } from '../../../health/verdict.ts';
import { evidenceOf } from '../../support/evidence.ts';
import type { Given } from '../../support/given.ts';
import { INGREDIENTS, together } from './ingredients.ts';
import type { Ingredient, World } from './ingredients.ts';

function judge(given: Given): Judgement {
  const document = evidenceOf(given);
  return classify(document, document.policy, document.nowMs);
}

/** What one run cannot be at once. A pair is matched in either order; `*` is every reason. */
const IMPOSSIBLE: readonly (readonly [one: readonly Reason[], other: readonly Reason[] | '*', why: string])[] = [
  [['unknown-run'], '*', 'an unknown run has no evidence: any other makes it known'],
  [['silent'], ['milestone-fresh', 'expected', 'loop', 'milestone-stale'], 'a milestone is no silence'],
  [['silent'], ['starting'], 'silence is called starting while the grace lasts'],
  [['starting'], ['milestone-fresh', 'expected', 'loop', 'milestone-stale'], 'who told a milestone has started'],
  [['verified'], ['judged'], 'judged is what verified is called where one deliverable has no check'],
  [
    ['not-instrumented'],
    [
      'effect-level',
      'deliverable-unchecked',
      'deliverable-missing',
      'deliverable-failed',
      'deliverable-stale',
      'deliverable-mismatch',
      'deliverable-claimed',
      'deliverable-incomplete',
      'not-delivered',
      'effect-missing',
      'judged',
      'verified',
    ],
    'without a contract nothing is owed',
  ],
  [
    ['not-instrumented'],
    ['retry-cannot-finish'],
    'without a contract only what Temporal bounds is held against a retry',
  ],
  [['not-instrumented'], ['deadline-spent'], 'the deadline of this piece is the contract budget'],
  [['not-instrumented'], ['expected', 'loop', 'milestone-stale'], 'the freshness of these pieces is the contract’s'],
  [['paused-without-wait'], ['wait'], 'a valid wait is what excuses a pause'],
  [['reporting-failure'], ['milestone-fresh'], 'a fresh milestone outweighs a stale heartbeat'],
];

function whyImpossible(a: Ingredient, b: Ingredient): string | null {
  for (const [one, other, why] of IMPOSSIBLE) {
    const matches = (x: Reason, y: Reason): boolean => one.includes(x) && (other === '*' || other.includes(y));
    if (matches(a.reason, b.reason) || matches(b.reason, a.reason)) return why;
  }
  return commonWorld(a, b) === null ? `${a.worlds.join('/')} is not ${b.worlds.join('/')}` : null;
}

function commonWorld(a: Ingredient, b: Ingredient): World | null {
  return a.worlds.find((world) => b.worlds.includes(world)) ?? null;
}

/** These decide without a contract as well: a real effect, a failed end, a run that cannot move, a store that is down. */
const SPEAK_WITHOUT_CONTRACT: readonly Reason[] = [
  'effect-unsettled',
  'effect-contradicted',
  'evidence-unread',
  'closed-without-result',
  'workflow-task-failing',
  'no-poller',
  'permanent-failure',
  'attempts-spent',
  'paused-without-wait',
];

/** Which of two reasons the design lets decide; both where it gives them no order. */
function winners(a: Ingredient, b: Ingredient): readonly Reason[] {
  for (const [one, other] of [[a, b] as const, [b, a] as const]) {
    if (one.reason !== 'not-instrumented') continue;
    if (other.reason === 'continued') return ['continued'];
    return [SPEAK_WITHOUT_CONTRACT.includes(other.reason) ? other.reason : one.reason];
  }
  if (a.rank === b.rank) return [a.reason, b.reason];
  return [a.rank < b.rank ? a.reason : b.reason];
}

/** What is left when nothing else decides: it does not lose, it is not reached. */
const RESIDUAL: readonly Reason[] = ['milestone-stale', 'silent', 'verified', 'judged', 'stopped'];

test('there is a piece of evidence for every reason', () => {
  expect(INGREDIENTS.map(({ reason }) => reason).sort()).toEqual([...ALL_REASONS].sort());
});

describe('alone', () => {
  test.each(INGREDIENTS.flatMap((piece) => piece.worlds.map((world) => [piece.reason, world, piece.given] as const)))(
    '%s decides a run that is %s',
    (reason, world, given) => {
      const judgement = judge(together(world, given));
      expect(judgement.reason, JSON.stringify(judgement, null, 1)).toBe(reason);
    },
  );
});

const PAIRS = INGREDIENTS.flatMap((a, index) => INGREDIENTS.slice(index + 1).map((b) => [a, b] as const));

describe('of each pair the earlier decides, and the other is shown', () => {
  const possible = PAIRS.filter(([a, b]) => whyImpossible(a, b) === null);
  test.each(possible.map(([a, b]) => [`${a.reason} and ${b.reason}`, a, b] as const))('%s', (_name, a, b) => {
    const world = commonWorld(a, b);
    expect(world).not.toBeNull();
    const judgement = judge(together(world ?? 'open', a.given, b.given));
    expect(winners(a, b), JSON.stringify(judgement, null, 1)).toContain(judgement.reason);
    const loser = judgement.reason === a.reason ? b.reason : a.reason;
    if (judgement.reason === 'not-instrumented' || RESIDUAL.includes(loser)) return;
    const words = [...judgement.findings.map(({ finding }) => finding), ...judgement.decisive.map(({ ref }) => ref)];
    expect([loser, `deliverable:of-${loser}`], JSON.stringify(judgement, null, 1)).toSatisfy((shown: string[]) =>
      shown.some((word) => words.includes(word)),
    );
  });
});

test('every listed impossibility is one of known reasons and leaves most pairs to be tested', () => {
  const impossible = PAIRS.filter(([a, b]) => whyImpossible(a, b) !== null);
  expect(PAIRS.length).toBe((ALL_REASONS.length * (ALL_REASONS.length - 1)) / 2);
  expect(impossible.length).toBeLessThan(PAIRS.length);
});
