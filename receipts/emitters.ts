/**
 * Per emitter: which fence is its newest, and which places of each fence's sequence were taken. Decides what is late, what is
 * missing, and the order in which an emitter's receipts were taken. Pure; a part of the fold (`receipts/fold.ts`).
 *
 * Every fence is counted for itself: that a newer attempt writes does not fill the hole that its predecessor left.
 */
import { compareFence, compareOrder, fenceKey } from './envelope.ts';
import type { OrderParts } from './envelope.ts';

/** Places of a sequence as closed ranges, ascending, with a hole between each two. */
export type Ranges = readonly (readonly [first: number, last: number])[];

/** What came under one fence: one activity attempt, or one run of a workflow. */
export interface FenceState {
  readonly fence: number;
  readonly attempt: number;
  readonly taken: Ranges;
  /** Since when a place is missing before one that was taken; null where none is. */
  readonly gapSinceMs: number | null;
}

export interface EmitterState {
  readonly newest: FenceState;
  /** The fences that are not the newest, by `fenceKey`. */
  readonly replaced: Readonly<Record<string, FenceState>>;
  /** When the store took its newest receipt, late ones too. */
  readonly lastRecordedAtMs: number;
}

/** One more receipt of an emitter: the emitter as it is now, the fence that took it, and whether a newer one was there. */
export interface Placed {
  readonly emitter: EmitterState;
  readonly fence: FenceState;
  readonly isLate: boolean;
}

export function placeReceipt(
  before: EmitterState | undefined,
  receipt: OrderParts & { readonly recordedAtMs: number },
): Placed {
  const lastRecordedAtMs = Math.max(before?.lastRecordedAtMs ?? 0, receipt.recordedAtMs);
  const { newest, replaced } = before ?? { newest: undefined, replaced: {} };
  const newness = newest === undefined ? 1 : compareFence(receipt, newest);
  if (newness < 0 && newest !== undefined) {
    const key = fenceKey(receipt);
    const fence = take(replaced[key], receipt);
    return { emitter: { newest, replaced: { ...replaced, [key]: fence }, lastRecordedAtMs }, fence, isLate: true };
  }
  const fence = take(newness === 0 ? newest : undefined, receipt);
  const left = newest === undefined || newness === 0 ? replaced : { ...replaced, [fenceKey(newest)]: newest };
  return { emitter: { newest: fence, replaced: left, lastRecordedAtMs }, fence, isLate: false };
}

function take(before: FenceState | undefined, receipt: OrderParts & { readonly recordedAtMs: number }): FenceState {
  const { fence, attempt, sequence, recordedAtMs } = receipt;
  const taken = withPlace(before?.taken ?? [], sequence);
  const gapSinceMs = missingOf(taken) === 0 ? null : (before?.gapSinceMs ?? recordedAtMs);
  return { fence, attempt, taken, gapSinceMs };
}

/** A place that is taken twice is taken once: a second receipt of the same place must not hide a hole. */
function withPlace(ranges: Ranges, place: number): Ranges {
  const joined = ranges.filter(([first, last]) => place >= first - 1 && place <= last + 1);
  const apart = ranges.filter((range) => !joined.includes(range));
  const range: Ranges[number] = [
    Math.min(place, ...joined.map(([first]) => first)),
    Math.max(place, ...joined.map(([, last]) => last)),
  ];
  return [...apart, range].sort(([a], [b]) => a - b);
}

/** How many places are missing before the highest one that was taken. */
export function missingOf(taken: Ranges): number {
  return highestOf(taken) - taken.reduce((count, [first, last]) => count + last - first + 1, 0);
}

function highestOf(taken: Ranges): number {
  return Math.max(0, ...taken.map(([, last]) => last));
}

/**
 * When the store says that it took a receipt: now, but so that (recordedAtMs, fence, attempt, sequence) sorts one emitter's
 * receipts in the very order in which they were taken. Without that a receipt that came late within the same millisecond,
 * or under a transaction that began earlier, would not be late when its chain is folded again.
 */
export function takenAtMs(emitter: EmitterState | undefined, receipt: OrderParts, nowMs: number): number {
  if (emitter === undefined) return nowMs;
  const { newest } = emitter;
  const isBehind = compareOrder(receipt, { ...newest, sequence: highestOf(newest.taken) }) <= 0;
  return Math.max(nowMs, emitter.lastRecordedAtMs + (isBehind ? 1 : 0));
}
