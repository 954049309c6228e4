/** Step 3: a stop that nobody confirmed. Lease, timeout or silence never confirms one (R12). */
import { impliedStop, isUnconfirmed, stopsOf } from '../stops.ts';
import { fact } from '../view.ts';
import type { Rule } from './rule.ts';
import { workAfterCloseFacts } from './contradictions.ts';

export const stopUnconfirmed: Rule = (view) => {
  const unconfirmed = stopsOf(view).filter((stop) => isUnconfirmed(stop, view));
  if (unconfirmed.length === 0) return null;
  const implied = impliedStop(view);
  const scopes = [...new Set(unconfirmed.map(({ scope }) => scope))].join(' and ');
  return {
    verdict: 'uncertain',
    reason: 'stop-unconfirmed',
    message: `A ${scopes} stop was requested and never confirmed; the work may still be running.`,
    decisive: [
      ...unconfirmed.flatMap((stop) => [
        fact(`stop:${stop.stopId}`, 'state', stop.state),
        fact(`stop:${stop.stopId}`, 'requestedAtMs', stop.requestedAtMs),
      ]),
      ...(implied === null
        ? []
        : [
            fact('close-event', 'identity', implied.by),
            ...view.activities.map(({ activityId, state }) => fact(`activity:${activityId}`, 'state', state)),
          ]),
      ...workAfterCloseFacts(view),
    ],
  };
};
