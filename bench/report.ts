/**
 * What a bench says at the end: its figures beside their targets, whether what it counted was really there, and one line
 * of JSON. A rate whose correctness line fails is no rate.
 */
import { figure, showSpread, spreadOf, table } from './spread.ts';

export interface BenchOptions {
  readonly rounds: number;
  /** A smoke test of the bench: short rounds, the figures are worth little. */
  readonly quick: boolean;
  readonly note: (line: string) => void;
}

/** `atLeast` and `atMost` are the same kind of limit from two sides. */
export type Limit = { readonly atLeast: number } | { readonly atMost: number };

export interface Metric {
  /** Its name in the JSON line. */
  readonly name: string;
  readonly meaning: string;
  readonly perRound: readonly number[];
  /** What it is to be on a quiet machine. */
  readonly target?: Limit;
  /** Under it (or over it) a change has broken something, however noisy the machine is. */
  readonly floor?: Limit;
}

/** What was acknowledged against what is stored. */
export interface Correctness {
  readonly variant: string;
  readonly holds: boolean;
  readonly line: string;
}

export interface BenchReport {
  /** Absolute figures, for scale only. */
  readonly figures: readonly (readonly string[])[];
  readonly correctness: readonly Correctness[];
  readonly metrics: readonly Metric[];
}

function meets(value: number, limit: Limit): boolean {
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost;
}

function showLimit(limit: Limit | undefined): string {
  if (limit === undefined) return '';
  return 'atLeast' in limit ? `≥ ${limit.atLeast}` : `≤ ${limit.atMost}`;
}

function isUnmeasured(value: number): boolean {
  return Number.isNaN(value);
}

function metricRow({ meaning, perRound, target, floor }: Metric): string[] {
  const spread = spreadOf(perRound);
  const judge = (limit: Limit | undefined): string => {
    if (limit === undefined) return '';
    if (isUnmeasured(spread.median)) return 'not measured';
    return meets(spread.median, limit) ? 'met' : 'MISSED';
  };
  return [meaning, showSpread(spread), showLimit(target), judge(target), showLimit(floor), judge(floor)];
}

/** The report as text, without the JSON line. */
export function reportText({ figures, correctness, metrics }: BenchReport): string {
  return [
    table(figures),
    table([['variant', 'correct', 'acknowledged = stored'], ...correctness.map(correctnessRow)]),
    table([['ratio (min / median / max)', 'value', 'target', '', 'floor', ''], ...metrics.map(metricRow)]),
  ].join('\n\n');
}

function correctnessRow({ variant, holds, line }: Correctness): string[] {
  return [variant, holds ? 'yes' : 'NO', line];
}

/** The medians by name, for programs. */
export function jsonLine(bench: string, { metrics }: BenchReport): string {
  const metric = Object.fromEntries(
    metrics.map(({ name, perRound }) => [name, Number(spreadOf(perRound).median.toPrecision(4))]),
  );
  return JSON.stringify({ bench, metric });
}

/** Why the bench must fail: counts that do not agree always, floors only where they are asked for. */
export function failuresOf({ correctness, metrics }: BenchReport, withFloors: boolean): string[] {
  const wrong = correctness.filter(({ holds }) => !holds).map(({ variant, line }) => `${variant}: ${line}`);
  if (!withFloors) return wrong;
  const under = metrics.flatMap(({ name, perRound, floor }) => {
    const { median } = spreadOf(perRound);
    if (floor === undefined || isUnmeasured(median) || meets(median, floor)) return [];
    return [`${name}: ${figure(median)} against a floor of ${showLimit(floor)}`];
  });
  return [...wrong, ...under];
}
