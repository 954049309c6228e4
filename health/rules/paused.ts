/** Step 5: somebody paused the run or an activity, and no valid wait says until when. */
import type { PauseState } from '../evidence.ts';
import { fact } from '../view.ts';
import { validWaits } from './waits.ts';
import type { Rule } from './rule.ts';

export const pausedWithoutWait: Rule = (view) => {
  if (!view.open || validWaits(view).length > 0) return null;
  const pauses = [
    ...runPause(view.describe?.paused ?? null),
    ...view.activities.flatMap(({ activityId, paused }) =>
      paused === null ? [] : [{ ref: `activity:${activityId}`, pause: paused }],
    ),
  ];
  const first = pauses[0];
  if (first === undefined) return null;
  const { by, reason } = first.pause;
  return {
    verdict: 'stuck',
    reason: 'paused-without-wait',
    message: `Paused by ${by ?? 'somebody'}${reason === null || reason === '' ? '' : ` (${reason})`}, and no wait says until when.`,
    decisive: pauses.flatMap(({ ref, pause }) => [
      fact(ref, 'paused.by', pause.by),
      fact(ref, 'paused.reason', pause.reason),
      fact(ref, 'paused.sinceMs', pause.sinceMs),
    ]),
  };
};

function runPause(pause: PauseState | null): readonly { readonly ref: string; readonly pause: PauseState }[] {
  return pause === null ? [] : [{ ref: 'describe', pause }];
}
