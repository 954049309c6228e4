/** One plain line for each change of a run, where nothing can be redrawn. */
import { terminalText } from '../../receipts/text.ts';
import type { ReportRow } from '../report.ts';
import type { Context } from './context.ts';
import { glyphOf, inColor } from './output.ts';

const WIDEST_VERDICT = 'false-success'.length;

export function changeLine(row: ReportRow, { terminal }: Context): string {
  const word = (row.verdict ?? 'no verdict').padEnd(WIDEST_VERDICT);
  return [
    `${row.judgedAt.slice(11, 19)}Z`,
    inColor(row.verdict, `${glyphOf(row.verdict, terminal)} ${word}`, terminal),
    terminalText(row.workflowId),
    row.reason,
    terminalText(row.message),
  ].join(' ');
}

/** Changes that come faster than a reader of a log wants them: the newest of each run, at most every few seconds. */
export class ChangeLines {
  readonly #leastMs: number;
  readonly #write: (rows: readonly ReportRow[]) => Promise<void>;
  readonly #nowMs: () => number;
  readonly #held = new Map<string, ReportRow>();
  #writtenAtMs = -Infinity;

  constructor(leastMs: number, write: (rows: readonly ReportRow[]) => Promise<void>, nowMs: () => number = Date.now) {
    this.#leastMs = leastMs;
    this.#write = write;
    this.#nowMs = nowMs;
  }

  add(row: ReportRow): void {
    this.#held.delete(row.workflowId);
    this.#held.set(row.workflowId, row);
  }

  /** Writes what is held if the last lines are old enough, or at the `end`. */
  async flush(end = false): Promise<void> {
    const nowMs = this.#nowMs();
    if (this.#held.size === 0 || (!end && nowMs - this.#writtenAtMs < this.#leastMs)) return;
    const rows = [...this.#held.values()];
    this.#held.clear();
    this.#writtenAtMs = nowMs;
    await this.#write(rows);
  }
}
