/**
 * Evidence that could not be read, or has a hole. What is missing may not be taken for good: wherever the missing part could
 * have told something worse than the verdict without it, the run is uncertain. Not asked is not unread.
 *
 *   always            store, Describe, contract, receipts: step 3, nothing can be concluded without them
 *   where work waits  task queues: only against what would excuse the run (steps 6 to 8), for a run that is stuck anyway is
 *                     no better for it
 *   where one counts  children: a wait for one is not valid, and in step 9 the parent that awaits one is not called stuck
 *   never             the close event of a closed run: without it a verdict is the same or worse
 */
import type { EvidenceSource, Unread } from '../evidence.ts';
import type { Fact } from '../judgement.ts';
import { fact } from '../view.ts';
import type { View } from '../view.ts';
import { overdueWork } from './no-poller.ts';
import type { Decision, Rule } from './rule.ts';
import { awaitedUnjudged } from './waits.ts';

/** Without these nothing can be concluded; the others are findings. */
const NEEDED: readonly EvidenceSource[] = ['store', 'describe', 'contract', 'receipts'];

export const evidenceUnread: Rule = ({ evidence, contract }) => {
  // Without a contract no more was to be read than real effects and the contract itself.
  const needed = evidence.unread.some(
    ({ source }) => source === 'store' || source === 'contract' || source === 'receipts',
  );
  if (contract === null && !needed) return null;
  const unread = evidence.unread
    .filter(({ source }) => NEEDED.includes(source))
    .map(({ source, code }) => fact(source, 'unread', code));
  const { temporal } = evidence;
  if (temporal.source === 'unread' && !unread.some(({ ref }) => ref === 'describe')) {
    unread.push(fact('describe', 'unread', temporal.code));
  }
  if (unread.length === 0) return null;
  return couldNotRead(unread.sort((a, b) => (a.ref < b.ref ? -1 : 1)));
};

function couldNotRead(unread: readonly Fact[], about: readonly Fact[] = []): Decision {
  return {
    verdict: 'uncertain',
    reason: 'evidence-unread',
    message: `Could not read ${[...new Set(unread.map(({ ref }) => ref))].join(' and ')}; nothing is concluded from what is missing.`,
    decisive: [...unread, ...about],
  };
}

function unreadOf(view: View, source: Unread['source']): readonly Fact[] {
  return view.evidence.unread
    .filter((unread) => unread.source === source)
    .map(({ code }) => fact(source, 'unread', code));
}

/** Work waits for longer than a worker needs to take it, and whether anybody polls for it could not be read. */
export const queueUnread: Rule = (view) => {
  const unread = unreadOf(view, 'task-queue');
  const waiting = overdueWork(view).filter(({ queue }) => queue === null);
  if (unread.length === 0 || waiting.length === 0) return null;
  return couldNotRead(
    unread,
    waiting.map(({ ref, sinceMs }) => fact(ref, 'dueSinceMs', sinceMs)),
  );
};

/** It awaits a child, and how the child is could not be read: by now that may be what it stands still for. */
export const childrenUnread: Rule = (view) => {
  const unread = unreadOf(view, 'children');
  const awaited = awaitedUnjudged(view);
  if (unread.length === 0 || awaited.length === 0) return null;
  return couldNotRead(
    unread,
    awaited.map((workflowId) => fact(`child:${workflowId}`, 'verdict', null)),
  );
};

/** Receipts are missing in the middle of a fence's sequence, and had time to arrive: a closed run waits for none any more. */
export const evidenceGap: Rule = ({ row, open, nowMs, policy }) => {
  const gaps = Object.entries(row?.state.emitterGaps ?? {})
    .filter(([, gap]) => !open || nowMs >= gap.sinceMs + policy.gapGraceMs)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (gaps.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'evidence-gap',
    message: `Receipts are missing between others of ${gaps.map(([, { emitter, attempt }]) => `${emitter} (attempt ${attempt})`).join(', ')}.`,
    decisive: gaps.flatMap(([, { runId, emitter, attempt, missing, sinceMs }]) => {
      const ref = `gap:${runId}/${emitter}`;
      return [fact(ref, 'attempt', attempt), fact(ref, 'missing', missing), fact(ref, 'sinceMs', sinceMs)];
    }),
  };
};

/** A worker could not write, and that time reaches now: an open run's silence says nothing. */
export const evidenceOutage: Rule = ({ evidence, open, nowMs }) => {
  if (!open) return null;
  const lasting = evidence.gaps.filter(
    ({ fromMs, untilMs }) => fromMs <= nowMs && (untilMs === null || untilMs >= nowMs),
  );
  if (lasting.length === 0) return null;
  return {
    verdict: 'uncertain',
    reason: 'evidence-outage',
    message: 'Receipts cannot be recorded at present.',
    decisive: lasting.map(({ workerId, fromMs }) => fact(`outage:${workerId}`, 'fromMs', fromMs)),
  };
};
