import ms from 'ms';
import type { StringValue } from 'ms';
import { HealthError } from './errors.ts';

/** A length of time: milliseconds, or text as the `ms` package reads it (`'10m'`, `'2 days'`). */
export type Duration = number | StringValue;

/** Milliseconds of a duration; refuses what is not a finite, non-negative length. */
export function durationMs(duration: Duration, field: string): number {
  const value = typeof duration === 'string' ? readText(duration) : duration;
  if (value === undefined || !Number.isFinite(value) || value < 0) {
    throw new HealthError('CONTRACT_INVALID', `${field} is not a length of time.`, {
      field,
      got: typeof duration,
      hint: "Give milliseconds or text such as '10m' or '2 days'.",
    });
  }
  return Math.round(value);
}

/** `ms` answers undefined (or NaN) for text it cannot read, although its types say number; empty or long text it throws at. */
function readText(text: StringValue): number | undefined {
  const { length } = text as string;
  return length === 0 || length > 100 ? undefined : ms(text);
}
