/** Steps 7 to 9: a parent that only awaits a child is as well as the child is. One that nobody judged decides nothing. */
import type { ChildEvidence } from '../evidence.ts';
import type { Reason, Verdict } from '../verdict.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import type { Decision, Rule } from './rule.ts';

function pendingChildren(view: View): readonly ChildEvidence[] {
  if (!view.open) return [];
  const pending = view.describe?.pendingChildren ?? [];
  return view.evidence.children
    .filter((child) => pending.some(({ workflowId }) => workflowId === child.workflowId))
    .sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
}

function childRule(own: Verdict, reason: Reason, of: readonly Verdict[], says: string): Rule {
  return (view): Decision | null => {
    const children = pendingChildren(view).filter(({ verdict }) => verdict !== null && of.includes(verdict));
    const first = children[0];
    if (first === undefined) return null;
    return {
      verdict: own,
      reason,
      message: `It awaits ${first.workflowId}, which is ${says}.`,
      decisive: children.flatMap((child) => [
        fact(`child:${child.workflowId}`, 'verdict', child.verdict),
        fact(`child:${child.workflowId}`, 'reason', child.reason),
      ]),
    };
  };
}

export const childWorking = childRule('working', 'child-working', ['working'], 'working');
export const childWaiting = childRule('waiting', 'child-waiting', ['waiting'], 'waiting');
/** Stuck would invite a restart of a parent whose child may have done something: it stays uncertain. */
export const childUncertain = childRule('uncertain', 'child-uncertain', ['uncertain'], 'uncertain');
export const childStuck = childRule('stuck', 'child-stuck', ['stuck', 'false-success'], 'going nowhere');
