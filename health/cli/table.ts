/** Tables without lines, aligned by what characters occupy on a screen. */
import Table from 'cli-table3';
import { shorten } from '../../receipts/text.ts';

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};

export interface TableFit {
  /** Width of the terminal; null where nothing is cut. */
  readonly columns: number | null;
  /** The column that gives way. */
  readonly flexible: number;
  /** Its least width. */
  readonly least: number;
}

// eslint-disable-next-line no-control-regex -- our own colour codes occupy no room
const COLOR = /\u001b\[[\d;]*m/g;

/** Characters that a cell occupies, near enough to give the flexible column its room. */
function widthOf(cell: string): number {
  return Array.from(cell.replace(COLOR, '')).length;
}

export function table(rows: readonly (readonly string[])[], { columns, flexible, least }: TableFit): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  const others = widths.reduce((sum, width, at) => sum + (at === flexible ? 0 : width + 1), 0);
  const room = columns === null ? Number.POSITIVE_INFINITY : Math.max(least, columns - others - 1);
  const grid = new Table({ chars: NO_LINES, style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] } });
  for (const row of rows) grid.push(row.map((cell, at) => (at === flexible ? shorten(cell, room) : cell)));
  return grid
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
