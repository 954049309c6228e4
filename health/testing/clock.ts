/** A clock that only a test moves. */
import { durationMs } from '../../receipts/duration.ts';
import type { Duration } from '../../receipts/duration.ts';

export interface TestClock {
  /** Epoch ms. */
  readonly nowMs: () => number;
  /** Moves on by a length (`'5m'`, or ms) and answers the new time. */
  readonly advance: (by: Duration) => number;
}

/** Begins at a fixed moment, so that a failure reads the same every time, or at `startMs` (epoch ms). */
export function testClock(startMs = Date.UTC(2026, 0, 1, 12)): TestClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance(by) {
      nowMs += durationMs(by, 'by');
      return nowMs;
    },
  };
}
