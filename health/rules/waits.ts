/**
 * Steps 6, 8 and 9: waits. A wait excuses silence only with owner, deadline and resume token, while its deadline lies ahead
 * and somebody can still resolve it. Its passing is never a decision: late is late, not refused.
 */
import type { WaitEntry } from '../../receipts/state.ts';
import type { ChildEvidence } from '../evidence.ts';
import type { Fact } from '../judgement.ts';
import { liveActivities } from '../liveness.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Rule } from './rule.ts';

/** The names of what a wait lacks; empty for a complete one. */
function lacks(wait: WaitEntry): readonly string[] {
  return [
    ...((wait.owner ?? '').trim() === '' ? ['owner'] : []),
    ...(wait.deadlineMs === null ? ['deadline'] : []),
    ...((wait.resumeToken ?? '').trim() === '' ? ['resumeToken'] : []),
  ];
}

function openWaits(view: View): readonly WaitEntry[] {
  return view.open ? view.waits.filter(({ state }) => state === 'open' || state === 'expired') : [];
}

function isOverdue(wait: WaitEntry, view: View): boolean {
  return lacks(wait).length === 0 && (wait.state === 'expired' || view.nowMs >= Number(wait.deadlineMs));
}

/** The workflow that should resolve it is itself going nowhere. */
function unresolvableChild(wait: WaitEntry, view: View): ChildEvidence | null {
  if (wait.resumeBy !== 'workflow') return null;
  const child = view.evidence.children.find(({ workflowId }) => workflowId === wait.condition);
  return child?.verdict === 'stuck' || child?.verdict === 'false-success' ? child : null;
}

/** The workflow that should resolve it could not be looked at: nobody knows whether it still can. */
function isOfUnreadChild({ resumeBy, condition }: WaitEntry, { evidence }: View): boolean {
  return (
    resumeBy === 'workflow' &&
    condition !== null &&
    evidence.unread.some(({ source }) => source === 'children') &&
    !evidence.children.some(({ workflowId, verdict }) => workflowId === condition && verdict !== null)
  );
}

/** Ids of the workflows that an open run awaits, as a child or by a wait, and that have no verdict. */
export function awaitedUnjudged(view: View): readonly string[] {
  if (!view.open) return [];
  const awaited = [
    ...(view.describe?.pendingChildren ?? []).map(({ workflowId }) => workflowId),
    ...openWaits(view).flatMap(({ resumeBy, condition }) => (resumeBy === 'workflow' ? (condition ?? []) : [])),
  ];
  const judged = view.evidence.children.filter(({ verdict }) => verdict !== null);
  return [...new Set(awaited)].filter((id) => !judged.some(({ workflowId }) => workflowId === id)).sort();
}

/** Waits that excuse silence now. */
export function validWaits(view: View): readonly WaitEntry[] {
  return openWaits(view).filter(
    (wait) =>
      wait.state === 'open' &&
      lacks(wait).length === 0 &&
      !isOverdue(wait, view) &&
      unresolvableChild(wait, view) === null &&
      !isOfUnreadChild(wait, view),
  );
}

function waitFacts(wait: WaitEntry): readonly Fact[] {
  const ref = `wait:${String(wait.resumeToken)}`;
  return [
    fact(wait.receiptId, 'state', wait.state),
    fact(ref, 'owner', wait.owner),
    fact(ref, 'deadlineMs', wait.deadlineMs),
    fact(ref, 'resumeToken', wait.resumeToken),
    fact(ref, 'resumeBy', wait.resumeBy),
  ];
}

function waitingFor(waits: readonly WaitEntry[]): string {
  return waits.map(({ name, owner }) => `${String(owner)} (${name})`).join(', ');
}

/** Step 6: parked on a valid wait that was opened after the last milestone, and nothing is live. */
export const parked: Rule = (view) => {
  const lastChangeMs = view.milestones[0]?.changedAtMs ?? Number.NEGATIVE_INFINITY;
  const waits = validWaits(view).filter(({ openedAtMs }) => openedAtMs >= lastChangeMs);
  if (waits.length === 0 || liveActivities(view).length > 0) return null;
  return {
    verdict: 'waiting',
    reason: 'wait',
    message: `Parked; waiting for ${waitingFor(waits)}.`,
    decisive: waits.flatMap(waitFacts),
  };
};

/** Step 8: another valid wait, or an answer that the run has not had time to take. */
export const waiting: Rule = (view) => {
  const waits = validWaits(view);
  const answered = view.open
    ? view.waits.filter((wait) => wait.state === 'resolved' && view.nowMs < resumeGraceEndsAtMs(wait, view))
    : [];
  const excusing = [...waits, ...answered];
  if (excusing.length === 0) return null;
  return {
    verdict: 'waiting',
    reason: 'wait',
    message: waits.length > 0 ? `Waiting for ${waitingFor(waits)}.` : 'Answered; the run is about to take it.',
    decisive: excusing.flatMap(waitFacts),
  };
};

export function resumeGraceEndsAtMs(wait: WaitEntry, view: View): number {
  return Math.min(wait.changedAtMs, view.nowMs) + view.policy.resumeGraceMs;
}

/** Step 9: an answer was recorded and the run did not take it. */
export const decisionNotConsumed: Rule = (view) => {
  const unconsumed = view.open
    ? view.waits.filter((wait) => wait.state === 'resolved' && view.nowMs >= resumeGraceEndsAtMs(wait, view))
    : [];
  const first = unconsumed[0];
  if (first === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'decision-not-consumed',
    message: `${first.name} was answered and the run has not taken the answer.`,
    decisive: unconsumed.flatMap((wait) => [...waitFacts(wait), fact(wait.receiptId, 'changedAtMs', wait.changedAtMs)]),
  };
};

/** Step 9: the deadline passed. Nobody refused, nobody approved. */
export const waitOverdue: Rule = (view) => {
  const overdue = openWaits(view).filter((wait) => isOverdue(wait, view));
  const first = overdue[0];
  if (first === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'wait-overdue',
    message: `${waitingFor(overdue)} is past the deadline: expired, neither approved nor denied.`,
    decisive: overdue.flatMap(waitFacts),
  };
};

export const waitUnresolvable: Rule = (view) => {
  const dead = openWaits(view).flatMap((wait) => {
    const child = lacks(wait).length === 0 && !isOverdue(wait, view) ? unresolvableChild(wait, view) : null;
    return child === null ? [] : [{ wait, child }];
  });
  const first = dead[0];
  if (first === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'wait-unresolvable',
    message: `${first.wait.name} waits for ${first.child.workflowId}, which cannot resolve it.`,
    decisive: dead.flatMap(({ wait, child }) => [
      ...waitFacts(wait),
      fact(`child:${child.workflowId}`, 'verdict', child.verdict),
    ]),
  };
};

export const waitIncomplete: Rule = (view) => {
  const incomplete = openWaits(view).filter((wait) => lacks(wait).length > 0);
  const first = incomplete[0];
  if (first === undefined) return null;
  const missing = [...new Set(incomplete.flatMap(lacks))];
  const change = view.milestones[0];
  return {
    verdict: 'stuck',
    reason: 'wait-incomplete',
    message: `${first.name} lacks ${missing.join(' and ')}: it excuses nothing.`,
    decisive: [
      ...incomplete.flatMap((wait) => lacks(wait).map((field) => fact(wait.receiptId, `missing.${field}`, true))),
      ...(change === undefined ? [] : [fact(change.change[2], 'digest', change.change[0])]),
    ],
  };
};
