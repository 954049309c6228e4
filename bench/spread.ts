/** Figures of several rounds, and how a table shows them. The machine is noisy: only the median is compared with a target. */

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export function medianOf(values: readonly number[]): number {
  return quantileOf(values, 0.5);
}

/** The value below which that share of the values lies; NaN of none. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function spreadOf(values: readonly number[]): Spread {
  return { min: Math.min(...values), median: medianOf(values), max: Math.max(...values) };
}

/** `a / b` of each round: what two variants have in common in a round (load, temperature) cancels out. */
export function ratiosOf(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, round) => value / (b[round] ?? NaN));
}

/** Three significant digits at most, thousands in full: 10342, 512, 3.81, 0.957. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return value.toPrecision(3);
}

export function showSpread({ min, median, max }: Spread): string {
  return [min, median, max].map(figure).join(' / ');
}

/** Rows in columns that line up; the first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = rows;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(line)].join('\n');
}
