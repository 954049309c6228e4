/** Times of test cases: text relative to the moment of judging. */
/** The moment at which every case is judged unless it says otherwise. */
export const NOW_MS = Date.parse('2026-06-01T12:00:00Z');

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds of a length of time such as `5h50m` or `60.05s`. */
export function lengthMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== text) {
    throw new Error(`not a length of time: ${text}`);
  }
  return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? NaN), 0));
}

/** Epoch milliseconds of `-4m`, `+2h`, `now`, or of a number that is one already. */
export function timeMs(time: string | number, nowMs: number = NOW_MS): number {
  if (typeof time === 'number') return time;
  if (time === 'now') return nowMs;
  const sign = time.startsWith('-') ? -1 : time.startsWith('+') ? 1 : NaN;
  if (Number.isNaN(sign)) throw new Error(`not a relative time: ${time}`);
  return nowMs + sign * lengthMs(time.slice(1));
}

type OptionalTime = string | number | null | undefined;
export function optionalTimeMs(time: OptionalTime, nowMs: number): number | null {
  return time === null || time === undefined ? null : timeMs(time, nowMs);
}
