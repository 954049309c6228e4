/** Steps 7 and 9: real progress and declared silence; and what it is called when there is neither. */
import { heartbeatAtMs, liveActivities } from '../liveness.ts';
import type { Fact } from '../judgement.ts';
import { fact, startFact } from '../view.ts';
import type { Milestone, View } from '../view.ts';
import type { Decision, Rule } from './rule.ts';

export const milestoneFresh: Rule = (view) => {
  if (!view.open) return null;
  const fresh = view.milestones.filter(({ freshUntilMs }) => view.nowMs < freshUntilMs);
  const first = fresh[0];
  if (first === undefined) return null;
  return {
    verdict: 'working',
    reason: 'milestone-fresh',
    message: `${first.name} changed lately.`,
    decisive: fresh.flatMap(changeFacts),
  };
};

function changeFacts(milestone: Milestone): readonly Fact[] {
  return [
    fact(milestone.change[2], 'digest', milestone.change[0]),
    fact(`milestone:${milestone.name}`, 'changedAtMs', milestone.changedAtMs),
  ];
}

/** The receipt of the last change declared until when silence is expected. One that changed nothing may not extend it. */
export const expected: Rule = (view) => {
  if (!view.open) return null;
  const declared = view.milestones.filter(({ change }) => change[3] !== null && view.nowMs < change[3]);
  const first = declared[0];
  if (first === undefined) return null;
  return {
    verdict: 'working',
    reason: 'expected',
    message: `Silence is declared${first.step === null ? '' : ` for ${first.step}`}.`,
    decisive: declared.flatMap((milestone) => [
      fact(milestone.change[2], 'expectByMs', milestone.change[3]),
      ...changeFacts(milestone),
    ]),
  };
};

/** After a wait ended, work gets a milestone's time; that the wait was long is no standstill. */
export function resumedUntilMs(view: View): number | null {
  const { resumedAtMs } = view.mission;
  return resumedAtMs === null ? null : Math.min(resumedAtMs, view.nowMs) + view.policy.milestoneFreshMs;
}

export const resumed: Rule = (view) => {
  const untilMs = resumedUntilMs(view);
  if (!view.open || untilMs === null || view.nowMs >= untilMs) return null;
  return {
    verdict: 'working',
    reason: 'resumed',
    message: 'A wait ended lately; the next milestone is not due yet.',
    decisive: [fact('store', 'resumedAtMs', view.mission.resumedAtMs)],
  };
};

/** The newest receipt is young and its digest was seen before: it goes round in circles. */
export const loop: Rule = (view) => {
  if (!view.open) return null;
  const looping = view.milestones.filter(
    (milestone) => milestone.latestReceiptId !== milestone.change[2] && view.nowMs < loopsUntilMs(milestone, view),
  );
  const first = looping[0];
  if (first === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'loop',
    message: `${first.name} is reported again and again with states that were reached before.`,
    decisive: [
      ...looping.flatMap((milestone) => [
        ...changeFacts(milestone),
        fact(milestone.latestReceiptId, 'digest', 'seen before'),
      ]),
      ...heartbeatFacts(view),
    ],
  };
};

/** Until when the newest repetition counts as going on. */
export function loopsUntilMs(milestone: Milestone, view: View): number {
  return Math.min(milestone.latestAtMs, view.nowMs) + (milestone.freshUntilMs - milestone.changedAtMs);
}

/** A fresh heartbeat is named, so that nobody takes it for progress. */
function heartbeatFacts(view: View): readonly Fact[] {
  return liveActivities(view).flatMap((activity) => {
    const beat = heartbeatAtMs(activity);
    return beat === null ? [] : [fact(`activity:${activity.activityId}`, 'lastHeartbeatAtMs', beat)];
  });
}

export const milestoneStale: Rule = (view) => {
  const last = view.milestones[0];
  if (!view.open || last === undefined) return null;
  return {
    verdict: 'stuck',
    reason: 'milestone-stale',
    message: `${last.name} has not changed for too long, and no valid wait is open.`,
    decisive: [...changeFacts(last), ...heartbeatFacts(view)],
  };
};

/** Past its start-up grace, and it never told a milestone. */
export function silent(view: View): Decision {
  return {
    verdict: 'stuck',
    reason: 'silent',
    message: 'It never reported a milestone, and no valid wait is open.',
    decisive: [fact('store', 'receipts', view.row?.receiptCount ?? 0), startFact(view), ...heartbeatFacts(view)],
  };
}
