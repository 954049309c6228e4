/** What somebody who looks at a moment gets to see of a story, and what is lost on the way to them. */
import type { StoredReceipt } from '../../../receipts/envelope.ts';
import type { Description, Evidence, PendingActivity, TemporalState } from '../../../health/evidence.ts';
import type { Random } from './random.ts';
import { POLICY, RUN } from './story.ts';
import type { Story } from './story.ts';

/** What the looker lacks: then uncertain is right as well, and nothing worse or better is. */
export type Lack = 'nothing' | 'store' | 'describe' | 'a receipt';

export interface Seen {
  readonly evidence: Evidence;
  readonly lack: Lack;
}

export function seenAt(story: Story, nowMs: number, random: Random): Seen {
  const stored = story.receipts.filter(({ recordedAtMs }) => recordedAtMs <= nowMs);
  const isDown = story.outages.some(({ fromMs, untilMs }) => nowMs >= fromMs && nowMs < (untilMs ?? Infinity));
  const receipts = disordered(stored, random);
  const lost = isDown || !random.chance(0.1) ? undefined : losable(stored, random);
  const isUndescribed = !isDown && lost === undefined && random.chance(0.05);
  // What was due around then may have been lost with the store's clients; the classifier may say that it does not know.
  const closesNear = story.outages.some(
    ({ untilMs }) => (story.close?.atMs ?? 0) - (untilMs ?? 0) <= POLICY.milestoneFreshMs,
  );
  const lack: Lack =
    isDown || (story.close !== null && closesNear)
      ? 'store'
      : lost !== undefined
        ? 'a receipt'
        : isUndescribed
          ? 'describe'
          : 'nothing';
  return {
    lack,
    evidence: {
      schemaVersion: 1,
      run: RUN,
      missionFingerprint: null,
      temporal: isUndescribed
        ? { source: 'unread', code: 'TEMPORAL_UNREACHABLE', listed: null }
        : temporalAt(story, nowMs),
      chain: null,
      receipts: isDown ? null : receipts.filter((receipt) => receipt !== lost),
      storeAsked: true,
      stops: [],
      children: [],
      plan: null,
      contract: story.contract,
      unread: isDown ? [{ source: 'store', code: 'STORE_UNAVAILABLE' }] : [],
      gaps: story.outages.filter(({ untilMs }) => untilMs !== null && untilMs <= nowMs),
    },
  };
}

/** In any order, some of them twice. */
function disordered(receipts: readonly StoredReceipt[], random: Random): readonly StoredReceipt[] {
  const places = receipts.flatMap((receipt) => (random.chance(0.1) ? [receipt, receipt] : [receipt]));
  return places
    .map((receipt) => ({ receipt, place: random.between(0, 1_000_000) }))
    .sort((a, b) => a.place - b.place)
    .map(({ receipt }) => receipt);
}

/** One that leaves a hole. The loss of an emitter's last receipts cannot be seen: a stated limit. */
function losable(receipts: readonly StoredReceipt[], random: Random): StoredReceipt | undefined {
  const inside = receipts.filter((receipt) =>
    receipts.some(
      (later) =>
        later.emitter === receipt.emitter &&
        later.fence === receipt.fence &&
        later.attempt === receipt.attempt &&
        later.sequence > receipt.sequence,
    ),
  );
  return inside[random.between(0, inside.length)];
}

export function temporalAt(story: Story, nowMs: number): TemporalState {
  const isClosed = story.close !== null && nowMs >= story.close.atMs;
  const describe: Description = {
    status: isClosed ? (story.close?.status ?? 'RUNNING') : 'RUNNING',
    startedAtMs: story.startedAtMs,
    closedAtMs: isClosed ? (story.close?.atMs ?? null) : null,
    expiresAtMs: null,
    historyEvents: 100,
    historyBytes: 50_000,
    historyGrowthPerMinute: null,
    resetRunId: null,
    cancelRequested: false,
    taskQueue: 'main',
    paused: null,
    pendingActivities: isClosed ? [] : activitiesAt(story, nowMs),
    pendingWorkflowTask: null,
    pendingChildren: [],
  };
  const polledAtMs = Math.min(nowMs - 1_000, story.unpolledFromMs);
  return {
    source: 'describe',
    observedAtMs: nowMs,
    describe,
    closeEvent: isClosed ? story.closeEvent() : null,
    taskQueues: [{ name: 'main', kind: 'activity', lastPollAtMs: polledAtMs, backlogCount: 0, backlogAgeMs: 0 }],
    listed: null,
  };
}

function activitiesAt(story: Story, nowMs: number): readonly PendingActivity[] {
  return story.attempts
    .filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs)
    .map(({ activity, fromMs, beatsEveryMs }) => {
      if (beatsEveryMs === null) return activity;
      const beats = Math.floor((Math.min(nowMs, story.unpolledFromMs) - fromMs) / beatsEveryMs);
      return beats <= 0 ? activity : { ...activity, lastHeartbeatAtMs: fromMs + beats * beatsEveryMs };
    });
}
