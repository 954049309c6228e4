/**
 * How long an attempt may still hold a finished result, and how it stays alive meanwhile.
 *
 * Holding is bounded by what ends the attempt first: its own timeouts, the run's deadline, or a cancellation. Some of the
 * time is left over for the completion itself: a result that is given too late is work done twice.
 */
import type { Context } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { Delta } from '../receipts/receipt.ts';

const MARGIN_SHARE = 0.1;
const MARGIN_MINIMUM_MS = 500;
const MARGIN_MAXIMUM_MS = 5_000;
/** After a cancellation, a pause or a shutdown somebody waits for this activity to end. */
const AFTER_CANCEL_MS = 2_000;
/** A local activity holds one of its worker's workflow-task slots. */
const LOCAL_MAXIMUM_MS = 1_000;
/** One commit takes less: an attempt that ran to its end still gets one try. */
const FLOOR_MS = 200;

const PROGRESS_KEY = 'temporal-health/progress';

/** What a heartbeat of ours carries: what Temporal's own screens show beside "last heartbeat". No content (R15). */
export interface BeatDetails {
  readonly [PROGRESS_KEY]: { readonly milestone: string; readonly delta?: Delta };
}

function isBeatOfOurs(details: unknown): boolean {
  return typeof details === 'object' && details !== null && PROGRESS_KEY in details;
}

export class Attempt {
  readonly #ctx: Context;
  readonly #endsAtMs: number;
  #lastDetails: unknown;
  #beatWith: ((details?: unknown) => void) | null = null;

  /** @param runDeadlineMs when Temporal ends the run, epoch ms */
  constructor(ctx: Context, runDeadlineMs: number | null) {
    this.#ctx = ctx;
    const { info } = ctx;
    const nowMs = Date.now();
    // A zero is a timeout that is not set. The schedule's own timeout counts from the first attempt's schedule time.
    const left = [
      info.startToCloseTimeoutMs,
      info.scheduleToCloseTimeoutMs > 0 ? info.scheduledTimestampMs + info.scheduleToCloseTimeoutMs - nowMs : 0,
      runDeadlineMs === null ? 0 : runDeadlineMs - nowMs,
    ].filter((ms) => ms > 0);
    const lengthMs = left.length === 0 ? 0 : Math.min(...left);
    const marginMs = Math.min(MARGIN_MAXIMUM_MS, Math.max(MARGIN_MINIMUM_MS, lengthMs * MARGIN_SHARE));
    this.#endsAtMs = performance.now() + Math.max(0, lengthMs - marginMs);
    this.#lastDetails = info.heartbeatDetails;
    if (info.heartbeatTimeoutMs) this.#watchHeartbeats();
  }

  /**
   * A milestone is a sign of life too, where one is expected: so a cancellation arrives without a heartbeat of the
   * activity's own. The checkpoint of one that has its own stays what it is.
   */
  beat(progress: BeatDetails['temporal-health/progress']): void {
    const isOurs = this.#lastDetails === undefined || isBeatOfOurs(this.#lastDetails);
    if (isOurs) this.#lastDetails = { [PROGRESS_KEY]: progress } satisfies BeatDetails;
    this.#beatWith?.(this.#lastDetails);
  }

  /** False when nothing more can be waited for: what comes now would come too late. */
  get hasTime(): boolean {
    return performance.now() < this.#endsAtMs;
  }

  /**
   * Waits for a promise while the attempt can afford it, heartbeating; undefined when it could not.
   * @param atMostMs a shorter patience than the attempt's own
   */
  async hold<T>(promise: Promise<T>, atMostMs = Infinity): Promise<T | undefined> {
    const { cancellationSignal: signal, info } = this.#ctx;
    const over = new AbortController();
    const leftMs = Math.min(this.#endsAtMs - performance.now(), info.isLocal ? LOCAL_MAXIMUM_MS : Infinity);
    const patienceMs = Math.min(atMostMs, Math.max(FLOOR_MS, leftMs));
    const sleep = (ms: number): Promise<undefined> =>
      delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
    const cancelled = new Promise<undefined>((resolve) => {
      // Runs outside the activity's context: nothing here may ask for it.
      const onAbort = (): void => void sleep(this.#patienceAfterAbortMs()).then(resolve);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true, signal: over.signal });
    });
    const beat = info.heartbeatTimeoutMs
      ? setInterval(() => {
          this.#ctx.heartbeat(this.#lastDetails);
        }, info.heartbeatTimeoutMs / 3)
      : undefined;
    try {
      return await Promise.race([promise, sleep(patienceMs), cancelled]);
    } finally {
      clearInterval(beat);
      over.abort();
    }
  }

  #patienceAfterAbortMs(): number {
    const details = this.#ctx.cancellationDetails;
    return details?.notFound === true || details?.timedOut === true ? 0 : AFTER_CANCEL_MS;
  }

  /** A heartbeat of ours must not wipe out the checkpoint of the activity's own last one. */
  #watchHeartbeats(): void {
    const original = this.#ctx.heartbeat;
    this.#beatWith = original;
    Object.defineProperty(this.#ctx, 'heartbeat', {
      configurable: true,
      value: (details?: unknown) => {
        this.#lastDetails = details;
        original(details);
      },
    });
  }
}
