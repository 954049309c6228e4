/** Times and lengths as a person reads them. Documents always hold ISO-8601 in UTC. */
import { HealthError } from '../../receipts/errors.ts';
import { isoTime } from '../report.ts';

export const TIME_FORMATS = ['relative', 'iso', 'raw'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `31m`, `2h`, `3d4h`: the largest unit, and the next one where the first is small. */
export function lengthText(ms: number): string {
  const length = Math.max(0, Math.round(ms));
  if (length < 1_000) return length === 0 ? '0s' : `${length}ms`;
  const at = UNITS.findIndex(([, unitMs]) => length >= unitMs);
  const [name, unitMs] = UNITS[at] ?? UNITS[3];
  const whole = Math.floor(length / unitMs);
  const next = UNITS[at + 1];
  if (next === undefined || whole >= 10) return `${whole}${name}`;
  const rest = Math.floor((length % unitMs) / next[1]);
  return rest === 0 ? `${whole}${name}` : `${whole}${name}${rest}${next[0]}`;
}

/** A moment: `31m ago`, `in 2h`, an ISO time, or epoch ms. */
export function timeText(atMs: number, nowMs: number, format: TimeFormat): string {
  if (format === 'raw') return String(atMs);
  if (format === 'iso') return isoTime(atMs) ?? String(atMs);
  return atMs > nowMs ? `in ${lengthText(atMs - nowMs)}` : `${lengthText(nowMs - atMs)} ago`;
}

/** How long something has lasted, in a column headed SINCE. */
export function sinceText(atMs: number, nowMs: number, format: TimeFormat): string {
  return format === 'relative' ? lengthText(nowMs - atMs) : timeText(atMs, nowMs, format);
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** @throws HealthError INVALID_TIME, with an example. */
export function parseTime(text: string, flag: string): number {
  const atMs = ISO.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new HealthError('INVALID_TIME', `${flag} takes a time with its zone, for example 2026-06-01T12:00:00Z.`, {
      field: flag,
    });
  }
  return atMs;
}
