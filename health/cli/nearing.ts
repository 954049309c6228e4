/** What is still fine and will not be for long: four fifths of a wait's time or of a retry budget are spent. */
import type { EvidenceDocument } from '../evidence.ts';
import { retryingActivity } from '../report.ts';
import { attemptsAllowed } from '../rules/retries.ts';
import { bind } from '../view.ts';

const NEAR = 0.8;

export interface Nearing {
  readonly what: 'wait' | 'retries';
  /** Of the wait, or the activity's type. */
  readonly name: string;
  /** From `NEAR` on; above 1 where the limit is passed. */
  readonly spent: number;
}

export function nearing(document: EvidenceDocument): readonly Nearing[] {
  const view = bind(document, document.policy, document.nowMs);
  if (!view.open) return [];
  const found: Nearing[] = [];
  for (const { name, state, openedAtMs, deadlineMs } of view.waits) {
    if (state !== 'open' || deadlineMs === null || deadlineMs <= openedAtMs) continue;
    found.push({ what: 'wait', name, spent: (view.nowMs - openedAtMs) / (deadlineMs - openedAtMs) });
  }
  const retried = retryingActivity(view.activities);
  if (retried !== null) {
    found.push({ what: 'retries', name: retried.activityType, spent: retried.attempt / attemptsAllowed(view) });
  }
  return found.filter(({ spent }) => spent >= NEAR);
}

export function nearingText({ what, name, spent }: Nearing): string {
  const percent = `${Math.floor(spent * 100)} %`;
  return what === 'wait' ? `${percent} of the time of wait ${name}` : `${percent} of the retries of ${name}`;
}
