/** What is shown and never decides: signs of life of the wrong attempt, history pressure, ends of loops, sources that differ. */
import type { Fact, Finding } from './judgement.ts';
import { heartbeatStaleAtMs, liveActivities } from './liveness.ts';
import { stopsOf, isUnconfirmed } from './stops.ts';
import { excluded, receiptFor } from './rules/deliverables.ts';
import { fact } from './view.ts';
import type { View } from './view.ts';

/** History this full of the hard limit is near it. */
const NEAR_LIMIT = 0.8;

function one(finding: string, message: string, facts: readonly Fact[]): readonly Finding[] {
  return facts.length === 0 ? [] : [{ finding, message, facts }];
}

export function findingsOf(view: View): readonly Finding[] {
  return [
    ...view.findings,
    ...temporalNotAsked(view),
    ...listedOtherwise(view),
    ...heartbeats(view),
    ...stopsOnTheirWay(view),
    ...refusedStops(view),
    ...history(view),
    ...unstableOperationIds(view),
    ...endsOfLoops(view),
    ...exclusions(view),
    ...unjudgedChildren(view),
    ...partlyUnread(view),
    ...nothingDue(view),
  ];
}

function temporalNotAsked({ evidence }: View): readonly Finding[] {
  if (evidence.temporal.source !== 'not-asked') return [];
  return [{ finding: 'temporal-not-asked', message: 'Judged without asking Temporal about this run.', facts: [] }];
}

/** Visibility may lag; Describe is right. */
function listedOtherwise({ evidence, describe }: View): readonly Finding[] {
  const { listed } = evidence.temporal;
  if (listed === null || describe === null || listed.status === describe.status) return [];
  return one('sources-disagree', `The list says ${listed.status}, Describe says ${describe.status}; Describe counts.`, [
    fact('list', 'status', listed.status),
    fact('describe', 'status', describe.status),
  ]);
}

function heartbeats(view: View): readonly Finding[] {
  if (!view.open) return [];
  const ofEarlier = view.activities.filter(
    ({ attempt, lastHeartbeatAtMs, lastStartedAtMs }) =>
      attempt > 1 && lastHeartbeatAtMs !== null && (lastStartedAtMs === null || lastHeartbeatAtMs < lastStartedAtMs),
  );
  const stale = liveActivities(view).filter((activity) => {
    const atMs = heartbeatStaleAtMs(activity, view);
    return atMs !== null && view.nowMs >= atMs;
  });
  return [
    ...one(
      'heartbeat-of-earlier-attempt',
      'The last heartbeat belongs to an earlier attempt and says nothing of this one.',
      ofEarlier.map((activity) =>
        fact(`activity:${activity.activityId}`, 'lastHeartbeatAtMs', activity.lastHeartbeatAtMs),
      ),
    ),
    ...one(
      'heartbeat-stale',
      'A live attempt has not beaten for longer than it may.',
      stale.map((activity) => fact(`activity:${activity.activityId}`, 'lastHeartbeatAtMs', activity.lastHeartbeatAtMs)),
    ),
  ];
}

function stopsOnTheirWay(view: View): readonly Finding[] {
  const travelling = stopsOf(view).filter((stop) => stop.state === 'requested' && !isUnconfirmed(stop, view));
  return one(
    'stop-requested',
    'A stop was requested and is neither confirmed nor refused yet.',
    travelling.map((stop) => fact(`stop:${stop.stopId}`, 'requestedAtMs', stop.requestedAtMs)),
  );
}

function refusedStops(view: View): readonly Finding[] {
  const refused = stopsOf(view).filter(({ state }) => state === 'refused');
  return one(
    'stop-refused',
    'A stop was refused: what it was to end goes on.',
    refused.map((stop) => fact(`stop:${stop.stopId}`, 'state', stop.state)),
  );
}

function history({ describe, policy }: View): readonly Finding[] {
  if (describe === null) return [];
  const { historyEvents, historyBytes, historyGrowthPerMinute } = describe;
  const { warnEvents, hardEvents, warnBytes, hardBytes } = policy.history;
  if (historyEvents < warnEvents && historyBytes < warnBytes) return [];
  const near = historyEvents >= NEAR_LIMIT * hardEvents || historyBytes >= NEAR_LIMIT * hardBytes;
  const eventsLeft = Math.max(0, hardEvents - historyEvents);
  const minutesLeft =
    historyGrowthPerMinute === null || historyGrowthPerMinute <= 0
      ? null
      : Math.floor(eventsLeft / historyGrowthPerMinute);
  return one(
    near ? 'history-near-limit' : 'history-warn',
    `History holds ${historyEvents} events and ${historyBytes} bytes; continue as new before the limit ends the run.`,
    [
      fact('history', 'historyEvents', historyEvents),
      fact('history', 'historyBytes', historyBytes),
      fact('history', 'eventsLeft', eventsLeft),
      fact('history', 'bytesLeft', Math.max(0, hardBytes - historyBytes)),
      fact('history', 'minutesLeft', minutesLeft),
    ],
  );
}

/** The same target and input under two operation ids: an id that changes with the attempt protects nothing. */
function unstableOperationIds({ effects }: View): readonly Finding[] {
  const unstable = effects.filter((effect) =>
    effects.some(
      (other) =>
        other.operationId !== effect.operationId &&
        other.name === effect.name &&
        effect.target !== null &&
        effect.inputDigest !== null &&
        other.target === effect.target &&
        other.inputDigest === effect.inputDigest,
    ),
  );
  return one(
    'unstable-operation-id',
    'The same input went to the same target under different operation ids.',
    unstable.map((effect) => fact(`effect:${effect.operationId}`, 'inputDigest', effect.inputDigest)),
  );
}

function endsOfLoops({ milestones }: View): readonly Finding[] {
  const ended = milestones.filter(({ end }) => end !== null);
  return one(
    'loop-ended',
    `A loop ended: ${ended.map(({ end }) => String(end)).join(', ')}.`,
    ended.map((milestone) => fact(milestone.latestReceiptId, 'end', milestone.end)),
  );
}

function exclusions(view: View): readonly Finding[] {
  const facts = view.dueDeliverables.flatMap((due) => {
    const entry = receiptFor(due, view);
    const coverage = entry?.coverage ?? null;
    if (entry === null || coverage === null || excluded(coverage) === 0) return [];
    return [
      fact(entry.receiptId, 'coverage.excluded', excluded(coverage)),
      fact(entry.receiptId, 'coverage.excludedBy', String(coverage.excludedBy)),
    ];
  });
  return one('units-excluded', 'Units were excluded by a recorded decision.', facts);
}

function unjudgedChildren({ evidence, describe, open }: View): readonly Finding[] {
  if (!open || describe === null) return [];
  const unjudged = describe.pendingChildren.filter(
    ({ workflowId }) => (evidence.children.find((child) => child.workflowId === workflowId)?.verdict ?? null) === null,
  );
  return one(
    'child-not-judged',
    'Pending children without a verdict decide nothing.',
    unjudged
      .map(({ workflowId }) => fact(`child:${workflowId}`, 'verdict', null))
      .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  );
}

function partlyUnread({ evidence }: View): readonly Finding[] {
  const { unread, temporal } = evidence;
  const facts = unread.map(({ source, code }) => fact(source, 'unread', code));
  // A type without a contract has no verdict whether Temporal answers or not: that it did not must be seen here.
  const isListed = unread.some(({ source }) => source === 'describe');
  if (temporal.source === 'unread' && !isListed) facts.push(fact('describe', 'unread', temporal.code));
  return one('unread', 'Some sources could not be read.', facts);
}

function nothingDue({ contract, status }: View): readonly Finding[] {
  if (contract === null || status !== 'COMPLETED') return [];
  const due =
    Object.keys(contract.deliverables).length +
    Object.values(contract.effects).filter(({ due: often }) => often !== 'any').length;
  return due > 0
    ? []
    : [{ finding: 'nothing-due', message: 'The contract names nothing that is due at the end.', facts: [] }];
}
