/** What a judgement lacks or has too much of, compared with what a case expects. Empty is agreement. */
import type { Fact, Judgement } from '../../health/judgement.ts';
import type { Action, Forbidden, Verdict } from '../../health/verdict.ts';
import { timeMs } from '../support/times.ts';
import type { Expected, Reference } from './case-file.ts';

/** The safe action of each verdict and what must not be done under it. */
const ADVICE: Readonly<Record<Verdict, { readonly action: Action; readonly forbidden: readonly Forbidden[] }>> = {
  working: { action: 'leave-alone', forbidden: ['restart'] },
  waiting: { action: 'route-or-wait', forbidden: ['restart', 'answer-for-owner'] },
  stuck: { action: 'investigate-then-bounded-recovery', forbidden: ['unbounded-restart'] },
  uncertain: { action: 'reconcile-no-retry', forbidden: ['retry', 'restart'] },
  'false-success': { action: 'reopen-incident', forbidden: ['close'] },
  healthy: { action: 'close-with-evidence', forbidden: [] },
};

function matches(fact: Fact, [ref, field, value]: Reference): boolean {
  const oneOf = (alternatives: string, actual: string, dotted: boolean): boolean =>
    alternatives
      .split('|')
      .some((wanted) => wanted === '*' || actual === wanted || (dotted && actual.startsWith(`${wanted}.`)));
  return (
    oneOf(ref, fact.ref, false) &&
    (field === undefined || oneOf(field, fact.field, true)) &&
    (value === undefined || fact.value === value)
  );
}

function has(facts: readonly Fact[], reference: Reference): boolean {
  return facts.some((fact) => matches(fact, reference));
}

function disagreementsOnVerdict(judgement: Judgement, expected: Expected): string[] {
  const verdicts = Array.isArray(expected.verdict) ? expected.verdict : [expected.verdict];
  const reasons = [expected.reason ?? []].flat();
  const { verdict, reason, disposition } = judgement;
  return [
    ...(verdicts.includes(verdict) ? [] : [`verdict ${String(verdict)} (${reason}), not ${verdicts.join(' or ')}`]),
    ...(reasons.length === 0 || reasons.includes(reason) ? [] : [`reason ${reason}, not ${reasons.join(' or ')}`]),
    ...(expected.notReason?.includes(reason) === true ? [`reason ${reason}`] : []),
    ...(expected.disposition === undefined || disposition === expected.disposition
      ? []
      : [`disposition ${disposition}, not ${expected.disposition}`]),
  ];
}

function disagreementsOnAdvice(judgement: Judgement, expected: Expected): string[] {
  const advice = judgement.verdict === null ? null : ADVICE[judgement.verdict];
  // A redelivery replaces the action of its verdict and forbids making the result again, not closing.
  const isRedelivery = expected.action === 'redeliver';
  const action = expected.action ?? advice?.action ?? 'none';
  const forbidden = [...(isRedelivery ? [] : (advice?.forbidden ?? [])), ...(expected.forbidden ?? [])];
  return [
    ...(judgement.safeAction === action ? [] : [`action ${judgement.safeAction}, not ${action}`]),
    ...forbidden
      .filter((wanted) => !judgement.forbidden.includes(wanted))
      .map((wanted) => `${wanted} is not forbidden`),
  ];
}

function disagreementsOnEvidence(judgement: Judgement, expected: Expected): string[] {
  const { decisive, findings } = judgement;
  const allFacts = [...decisive, ...findings.flatMap(({ facts }) => facts)];
  const words = findings.map(({ finding }) => finding);
  const sayings = JSON.stringify(findings);
  const text = (reference: Reference): string => reference.join(' ');
  return [
    ...(expected.decisive ?? []).filter((ref) => !has(decisive, ref)).map((ref) => `not decisive: ${text(ref)}`),
    ...(expected.shown ?? []).filter((ref) => !has(allFacts, ref)).map((ref) => `not shown: ${text(ref)}`),
    ...(expected.notDecisive ?? []).filter((ref) => has(decisive, ref)).map((ref) => `decisive: ${text(ref)}`),
    ...(expected.findings ?? []).filter((word) => !words.includes(word)).map((word) => `no finding ${word}`),
    ...(expected.absent ?? []).filter((word) => words.includes(word)).map((word) => `finding ${word}`),
    ...(expected.says ?? []).filter((part) => !sayings.includes(part)).map((part) => `no finding says ${part}`),
  ];
}

export function disagreements(judgement: Judgement, expected: Expected, nowMs: number): string[] {
  const { validUntil, judged } = expected;
  const validUntilMs = validUntil === undefined || validUntil === null ? validUntil : timeMs(validUntil, nowMs);
  const confidence = judged ?? 'deterministic';
  return [
    ...disagreementsOnVerdict(judgement, expected),
    ...disagreementsOnAdvice(judgement, expected),
    ...disagreementsOnEvidence(judgement, expected),
    ...(validUntilMs === undefined || judgement.validUntilMs === validUntilMs
      ? []
      : [`valid until ${String(judgement.validUntilMs)}, not ${String(validUntilMs)}`]),
    ...(judged === undefined || JSON.stringify(judgement.confidence) === JSON.stringify(confidence)
      ? []
      : [`confidence ${JSON.stringify(judgement.confidence)}`]),
  ];
}
