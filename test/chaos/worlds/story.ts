/**
 * A run on a simulated clock, told from the inside: what it does, what it reports, what Temporal sees of it, and how it truly
 * is at every moment. Nothing here knows how a verdict is found; `lives.ts` tells the stories.
 */
import type { Contract } from '../../../receipts/contract.ts';
import { WORKFLOW_EMITTER } from '../../../receipts/envelope.ts';
import type { StoredReceipt } from '../../../receipts/envelope.ts';
import type { ReceiptBodies, ReceiptKind } from '../../../receipts/receipt.ts';
import { DEFAULT_POLICY } from '../../../health/policy.ts';
import type { CloseEvent, Failure, Outage, PauseState, PendingActivity, RunStatus } from '../../../health/evidence.ts';
import type { Verdict } from '../../../health/verdict.ts';
import type { Random } from './random.ts';

export const POLICY = DEFAULT_POLICY;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

export const RUN = {
  clusterId: 'c1',
  namespace: 'default',
  workflowId: 'world',
  runId: 'R1',
  chainId: 'R1',
  workflowType: 'world',
} as const;

/** How the run truly is from a moment on. */
export interface Truth {
  readonly fromMs: number;
  readonly is: Verdict;
  /** Nobody outside can know before this; until then the other verdicts are right as well. */
  readonly knowableMs: number;
  readonly meanwhile: readonly Verdict[];
}

/** One attempt of an activity, or its rest before the next one. */
interface Attempt {
  readonly activity: PendingActivity;
  readonly fromMs: number;
  untilMs: number;
  /** Its worker beats every so many ms while the attempt lasts. */
  readonly beatsEveryMs: number | null;
}

export interface Close {
  readonly status: RunStatus;
  readonly atMs: number;
  readonly identity: string | null;
}

export class Story {
  readonly random: Random;
  readonly startedAtMs = 1_750_000_000_000;
  nowMs = this.startedAtMs;
  /** The last milestone that was new. */
  changedAtMs = this.startedAtMs;
  readonly receipts: StoredReceipt[] = [];
  readonly truths: Truth[] = [];
  readonly attempts: Attempt[] = [];
  readonly outages: Outage[] = [];
  close: Close | null = null;
  paused: PauseState | null = null;
  pausedFromMs = Infinity;
  /** From here on nobody polls. */
  unpolledFromMs = Infinity;
  contract: Contract;
  #ids = 0;
  #digests = 0;
  #activities = 0;
  readonly #sequences = new Map<string, number>();
  readonly #skewMs: number;

  constructor(random: Random, contract: Contract) {
    this.random = random;
    this.contract = contract;
    // A worker's clock is set by the store's answers, so it may be off by a little; one that runs ahead by hours is harmless.
    const little = random.between(-POLICY.skewMs, POLICY.skewMs);
    this.#skewMs = random.chance(0.1) ? random.between(MINUTE, 600 * MINUTE) : little;
    this.become('working');
  }

  pass(ms: number): void {
    this.nowMs += ms;
  }

  become(is: Verdict, knowableMs = this.nowMs, ...meanwhile: readonly Verdict[]): void {
    this.truths.push({ fromMs: this.nowMs, is, knowableMs, meanwhile });
  }

  newDigest(): string {
    this.#digests += 1;
    return `d${String(this.#digests)}`;
  }

  /** The attempt under way, or the workflow. */
  get emitter(): Pick<StoredReceipt, 'emitter' | 'fence' | 'attempt'> {
    const attempt = this.attempts.at(-1);
    if (attempt === undefined || attempt.untilMs <= this.nowMs) return this.workflow;
    const { activityId, lastStartedAtMs, attempt: number } = attempt.activity;
    return { emitter: activityId, fence: lastStartedAtMs ?? attempt.fromMs, attempt: number };
  }

  get workflow(): Pick<StoredReceipt, 'emitter' | 'fence' | 'attempt'> {
    return { emitter: WORKFLOW_EMITTER, fence: this.startedAtMs, attempt: 1 };
  }

  report<K extends ReceiptKind>(kind: K, body: ReceiptBodies[K], from = this.emitter): StoredReceipt {
    const place = `${from.emitter} ${String(from.fence)} ${String(from.attempt)}`;
    const sequence = (this.#sequences.get(place) ?? 0) + 1;
    this.#sequences.set(place, sequence);
    this.#ids += 1;
    const outage = this.outages.find(
      ({ fromMs, untilMs }) => this.nowMs >= fromMs && this.nowMs < (untilMs ?? Infinity),
    );
    const receipt = {
      ...RUN,
      ...from,
      schemaVersion: 1,
      receiptId: `r${String(this.#ids).padStart(6, '0')}`,
      kind,
      runStartedAtMs: this.startedAtMs,
      sequence,
      missionFingerprint: null,
      occurredAtMs: this.nowMs + this.#skewMs,
      recordedAtMs: outage?.untilMs ?? this.nowMs,
      body,
    } as StoredReceipt;
    this.receipts.push(receipt);
    return receipt;
  }

  milestone(more: Partial<ReceiptBodies['progress']> = {}): void {
    this.report('progress', { milestone: 'step', digest: this.newDigest(), ...more });
    this.changedAtMs = this.nowMs;
  }

  /** A new activity, or the next attempt of the one before. */
  start(
    next: 'activity' | 'attempt',
    over: Partial<PendingActivity> = {},
    beatsEveryMs: number | null = null,
  ): Attempt {
    const before = this.attempts.at(-1)?.activity;
    const again = next === 'attempt' && before !== undefined;
    if (!again) this.#activities += 1;
    const activity: PendingActivity = {
      activityId: again ? before.activityId : `a${String(this.#activities)}`,
      activityType: 'step',
      state: 'STARTED',
      attempt: again ? before.attempt + (before.state === 'SCHEDULED' ? 0 : 1) : 1,
      maximumAttempts: 20,
      scheduledAtMs: this.nowMs,
      lastStartedAtMs: this.nowMs,
      lastHeartbeatAtMs: null,
      heartbeatTimeoutMs: beatsEveryMs === null ? null : 3 * beatsEveryMs,
      nextAttemptAtMs: null,
      lastAttemptEndedAtMs: again
        ? ((before.state === 'SCHEDULED' ? before.lastAttemptEndedAtMs : null) ?? this.nowMs)
        : null,
      expiresAtMs: null,
      lastFailure: again ? before.lastFailure : null,
      lastWorkerIdentity: 'worker-1',
      taskQueue: 'main',
      paused: null,
      ...over,
    };
    this.end();
    const attempt = { activity, fromMs: this.nowMs, untilMs: Infinity, beatsEveryMs };
    this.attempts.push(attempt);
    return attempt;
  }

  /** What is under way ends. */
  end(): void {
    const last = this.attempts.at(-1);
    if (last !== undefined) last.untilMs = Math.min(last.untilMs, this.nowMs);
  }

  /** The attempt fails and rests until its next one. */
  fail(failure: Failure, nextAttemptAtMs: number): void {
    const before = this.attempts.at(-1)?.activity;
    this.start('attempt', {
      state: 'SCHEDULED',
      lastStartedAtMs: before?.lastStartedAtMs ?? null,
      lastAttemptEndedAtMs: this.nowMs,
      nextAttemptAtMs,
      lastFailure: failure,
    });
  }

  finish(status: RunStatus, identity: string | null = null): void {
    this.end();
    this.close = { status, atMs: this.nowMs, identity };
  }

  closeEvent(): CloseEvent | null {
    if (this.close === null) return null;
    return { ...this.close, reason: null, failure: null, successorRunId: null };
  }
}
