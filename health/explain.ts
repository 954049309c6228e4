/**
 * One judged run → everything that `explain` shows: what decided it, what each part of the evidence says by itself, the safe
 * and the forbidden action, and what would change the verdict. Pure; it explains a judgement and never makes one.
 *
 * Sentences hold times as values (`{ atMs }`, `{ lengthMs }`), so that a screen shows ages and a document ISO times.
 */
import type { WaitEntry } from '../receipts/state.ts';
import type { EvidenceDocument } from './evidence.ts';
import type { Fact, Judgement } from './judgement.ts';
import { heartbeatAtMs, heartbeatStaleAtMs, liveActivities, openEffects } from './liveness.ts';
import { isoTime, retryingActivity } from './report.ts';
import { judgeName, receiptFor } from './rules/deliverables.ts';
import { dueWork } from './rules/no-poller.ts';
import { attemptsAllowed } from './rules/retries.ts';
import { queueUnread } from './rules/unread.ts';
import { validWaits } from './rules/waits.ts';
import type { Action, Forbidden, Reason, Verdict } from './verdict.ts';
import { bind } from './view.ts';
import type { View } from './view.ts';

export const EXPLAIN_SCHEMA_VERSION = 1;

export type Phrase = readonly (string | { readonly atMs: number } | { readonly lengthMs: number })[];

export const COMPONENTS = [
  'milestone',
  'heartbeat',
  'wait',
  'effect',
  'deliverable',
  'budget',
  'history',
  'task-queue',
] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** What one part of the evidence says. `vote`: the verdict it would give by itself; null where it gives none. */
export interface Component {
  readonly component: ComponentName;
  readonly vote: Verdict | null;
  readonly says: Phrase;
}

export interface Explanation {
  readonly judgement: Judgement;
  readonly decisive: readonly { readonly fact: Fact; readonly kind: FactKind }[];
  readonly components: readonly Component[];
  readonly safeAction: string;
  readonly forbidden: readonly string[];
  readonly wouldChange: readonly Phrase[];
}

export type FactKind = 'time' | 'length' | 'value';

const TIME_FIELD = /(?:^|\.)(?:\w*(?:At|Until|Since|By)|deadline|since|from|until)Ms$/;
const LENGTH_FIELD = /Ms$/;

/** How a fact's number is to be read: all times of evidence end in `…Ms`, and so do lengths. */
export function factKind({ field, value }: Fact): FactKind {
  if (typeof value !== 'number') return 'value';
  if (TIME_FIELD.test(field)) return 'time';
  return LENGTH_FIELD.test(field) ? 'length' : 'value';
}

export function explain(evidence: EvidenceDocument, judgement: Judgement): Explanation {
  const view = bind(evidence, evidence.policy, judgement.judgedAtMs);
  return {
    judgement,
    decisive: judgement.decisive.map((fact) => ({ fact, kind: factKind(fact) })),
    components: [
      milestone(view),
      heartbeat(view),
      wait(view),
      effect(view),
      deliverable(view),
      budget(view),
      history(view),
      taskQueue(view),
    ],
    safeAction: SAFE_BY_REASON[judgement.reason] ?? SAFE[judgement.safeAction],
    forbidden: judgement.forbidden.map((what) => FORBIDDEN_TEXT[what]),
    wouldChange: wouldChange(judgement, view),
  };
}

function milestone(view: View): Component {
  const last = view.milestones[0];
  if (last === undefined) {
    const asked = view.evidence.storeAsked ? 'none reported' : 'no store was asked';
    return { component: 'milestone', vote: null, says: [asked] };
  }
  // A closed run neither works nor hangs: what it changed last is told, and says nothing more.
  const vote = !view.open ? null : view.nowMs < last.freshUntilMs ? 'working' : 'stuck';
  const again = last.latestReceiptId !== last.change[2];
  return {
    component: 'milestone',
    vote,
    says: [
      `"${last.name}" changed `,
      { atMs: last.changedAtMs },
      ' (limit ',
      { lengthMs: last.freshUntilMs - last.changedAtMs },
      ')',
      ...(again ? [', reported again ', { atMs: last.latestAtMs }, ' with a state that was reached before'] : []),
    ],
  };
}

function heartbeat(view: View): Component {
  const says: Phrase[number][] = [];
  for (const activity of liveActivities(view)) {
    const beat = heartbeatAtMs(activity);
    if (says.length > 0) says.push('; ');
    if (beat === null) {
      says.push(`${activity.activityType}: none in attempt ${activity.attempt}`);
      continue;
    }
    const staleAtMs = heartbeatStaleAtMs(activity, view);
    const stale = staleAtMs !== null && view.nowMs >= staleAtMs;
    says.push(`${activity.activityType}: `, { atMs: beat }, stale ? ', stale' : ', fresh, which is no progress');
  }
  return { component: 'heartbeat', vote: null, says: says.length > 0 ? says : ['nothing is running'] };
}

function wait(view: View): Component {
  const open = view.waits.filter(({ state }) => state === 'open' || state === 'expired');
  const first = open[0];
  if (first === undefined) return { component: 'wait', vote: null, says: ['none open'] };
  const valid = validWaits(view).some(({ receiptId }) => receiptId === first.receiptId);
  const more = open.length > 1 ? [` and ${open.length - 1} more`] : [];
  return { component: 'wait', vote: valid ? 'waiting' : 'stuck', says: [...waitPhrase(first), ...more] };
}

function waitPhrase({ name, owner, deadlineMs, resumeToken }: WaitEntry): Phrase {
  return [
    `${name}: ${owner ?? 'no owner'}, `,
    ...(deadlineMs === null ? ['no deadline'] : ['until ', { atMs: deadlineMs }]),
    ...(resumeToken === null || resumeToken === '' ? [', no resume token'] : []),
  ];
}

function effect(view: View): Component {
  const open = openEffects(view);
  const first = open[0];
  if (first === undefined) {
    const settled = view.effects.length;
    return { component: 'effect', vote: null, says: [settled === 0 ? 'none' : `${settled} settled`] };
  }
  const late = view.nowMs >= first.windowEndsAtMs || first.state === 'unknown';
  return {
    component: 'effect',
    vote: late ? 'uncertain' : null,
    says: [
      `${first.effect.operationId}: ${first.state} `,
      { atMs: first.mark.atMs },
      ', no verdict of its destination',
      ...(open.length > 1 ? [` and ${open.length - 1} more`] : []),
    ],
  };
}

function deliverable(view: View): Component {
  if (view.dueDeliverables.length === 0) {
    return { component: 'deliverable', vote: null, says: [view.contract === null ? 'no contract' : 'none due'] };
  }
  const says = view.dueDeliverables.map((due) => {
    const entry = receiptFor(due, view);
    if (entry === null) return `${due.name}: no receipt`;
    const { confidence } = entry;
    const by = confidence === null ? '' : `, judged by ${judgeName(entry)} with confidence ${confidence}, not checked`;
    return `${due.name}: ${entry.result} at ${entry.destination}${by}`;
  });
  const vote = view.status === 'COMPLETED' ? deliverableVote(view) : null;
  return { component: 'deliverable', vote, says: [says.join('; ')] };
}

/** The worst of them: a missing or failing one, then one that nobody could look at. */
function deliverableVote(view: View): Verdict {
  const results = view.dueDeliverables.map((due) => receiptFor(due, view)?.result ?? 'missing');
  if (results.every((result) => result === 'pass')) return 'healthy';
  return results.some((result) => result !== 'pass' && result !== 'unread') ? 'false-success' : 'uncertain';
}

function budget(view: View): Component {
  const retried = retryingActivity(view.activities);
  const left = view.deadlineMs === null ? null : view.deadlineMs - view.nowMs;
  const allowed = attemptsAllowed(view);
  const spent = view.open && ((retried !== null && retried.attempt > allowed) || (left !== null && left <= 0));
  const attempts: Phrase =
    retried === null
      ? ['no retries']
      : [
          `${retried.activityType} at attempt ${retried.attempt}, ${allowed} budgeted`,
          ...(retried.lastFailure === null ? [] : [`, last failure ${retried.lastFailure.type}`]),
          ...(retried.nextAttemptAtMs === null ? [] : [', next try ', { atMs: retried.nextAttemptAtMs }]),
        ];
  const time: Phrase =
    left === null ? [', no deadline'] : left > 0 ? [', ', { lengthMs: left }, ' left'] : [', deadline passed'];
  return { component: 'budget', vote: spent ? 'stuck' : null, says: [...attempts, ...(view.open ? time : [])] };
}

function history(view: View): Component {
  if (view.describe === null) return { component: 'history', vote: null, says: ['not asked'] };
  const { historyEvents, historyBytes } = view.describe;
  const { hardEvents, hardBytes } = view.policy.history;
  const percent = Math.round(100 * Math.max(historyEvents / hardEvents, historyBytes / hardBytes));
  return { component: 'history', vote: null, says: [`${historyEvents} events, ${percent} % of its limit`] };
}

function taskQueue(view: View): Component {
  const [first] = dueWork(view);
  if (first === undefined) return { component: 'task-queue', vote: null, says: ['no work waits for a worker'] };
  if (first.queue === null) {
    const says = ['work due ', { atMs: first.sinceMs }, ', who polls for it is not known'];
    return { component: 'task-queue', vote: queueUnread(view) === null ? null : 'uncertain', says };
  }
  const { name, lastPollAtMs } = first.queue;
  const unserved =
    view.nowMs >= first.sinceMs + view.policy.noPollerGraceMs &&
    (lastPollAtMs === null || view.nowMs >= lastPollAtMs + view.policy.noPollerGraceMs);
  return {
    component: 'task-queue',
    vote: unserved ? 'stuck' : null,
    says: [
      `${name}: work due `,
      { atMs: first.sinceMs },
      ...(lastPollAtMs === null ? [', nobody polls it'] : [', last poll ', { atMs: lastPollAtMs }]),
    ],
  };
}

const SAFE: Readonly<Record<Action, string>> = {
  'leave-alone': 'Leave it alone.',
  'route-or-wait': 'Route it to the owner, or wait for the deadline.',
  'investigate-then-bounded-recovery': 'Investigate, then one bounded recovery under the same operation ids.',
  'reconcile-no-retry': 'Ask the destination what became of it, and record its answer.',
  'reopen-incident': 'Reopen it as an incident: it reports success, and the evidence does not.',
  redeliver: 'Deliver the same digest again, by the transport only.',
  'close-with-evidence': 'Close it with this evidence.',
  none: 'Nothing is due.',
};

/** Where the action alone would send somebody to the wrong place. */
const SAFE_BY_REASON: Partial<Readonly<Record<Reason, string>>> = {
  judged: 'Close it only with a reason of your own: a judgement stands behind it, and no check.',
  'evidence-unread': 'Make the unread source readable, then ask again; until then change nothing.',
  'evidence-outage': 'Bring the store back, then ask again; until then change nothing.',
  'deliverable-unchecked': 'Make its destination readable and run the check again.',
};

const FORBIDDEN_TEXT: Readonly<Record<Forbidden, string>> = {
  restart: 'restart it',
  'answer-for-owner': "answer in the owner's place",
  'unbounded-restart': 'restart it without a bound',
  retry: 'retry it',
  close: 'close it',
  regenerate: 'make the result again',
};

const CHANGE_BY_VERDICT: Readonly<Record<Verdict, string>> = {
  working: 'No new milestone until its limit would make it stuck.',
  waiting: 'The answer resumes it; the deadline passing makes it stuck.',
  stuck: 'A new milestone, or a wait with owner, deadline and token.',
  uncertain: 'A verdict of the destination, or the missing evidence.',
  'false-success': 'A passing check of every due deliverable at its promised destination.',
  healthy: 'A destination that says otherwise.',
};

const CHANGE_BY_REASON: Partial<Readonly<Record<Reason, string>>> = {
  'no-poller': 'A worker that polls the task queue.',
  'workflow-task-failing': 'Workflow code that can go on with this history.',
  'attempts-spent': 'The activity succeeding, or a wait recorded by who looks after it.',
  'permanent-failure': 'Another input, or a cause that was removed.',
  'paused-without-wait': 'Unpausing it, or a wait that says who resumes it and until when.',
  'closed-without-result': 'A new run of the same work that completes with its result.',
  'evidence-unread': 'The source that could not be read, readable again.',
  'evidence-outage': 'The store taking receipts again.',
  'stop-unconfirmed': 'A confirmation from what was asked to stop.',
};

function wouldChange(judgement: Judgement, view: View): readonly Phrase[] {
  const { verdict, reason, validUntilMs } = judgement;
  const phrases: Phrase[] = [];
  if (reason === 'not-instrumented') {
    phrases.push([`A contract for ${view.evidence.run.workflowType}, and the receipts it asks for.`]);
  } else if (verdict !== null) phrases.push([CHANGE_BY_REASON[reason] ?? CHANGE_BY_VERDICT[verdict]]);
  if (validUntilMs !== null && view.open) phrases.push(['Time alone may change it ', { atMs: validUntilMs }, '.']);
  return phrases;
}

/** A phrase with ISO times, for documents. */
export function phraseText(phrase: Phrase): string {
  return phrase
    .map((part) =>
      typeof part === 'string' ? part : 'atMs' in part ? (isoTime(part.atMs) ?? '') : `${part.lengthMs} ms`,
    )
    .join('');
}
