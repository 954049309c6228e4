/** Tables without lines, aligned by what characters occupy on a screen. */
import Table from 'cli-table3';

const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '' },
  ...{ 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};

// eslint-disable-next-line no-control-regex -- our own colour codes occupy no room
const COLOR = /\u001b\[[\d;]*m/g;

/** Characters that a cell occupies, near enough to share a terminal's width. */
export function widthOf(cell: string): number {
  return Array.from(cell.replace(COLOR, '')).length;
}

/** What each column needs to show everything. */
export function naturalWidths(rows: readonly (readonly string[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
}

/** Everything in one line a row, as wide as it is. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const made = new Table({ chars: NO_LINES, style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] } });
  for (const row of rows) made.push([...row]);
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Columns that need more than their width go on in further lines: nothing is cut. */
export function wrappedTable(
  rows: readonly (readonly string[])[],
  widths: readonly (number | null)[],
): readonly string[] {
  return table(
    rows.flatMap((row) => {
      const cells = row.map((cell, at) => wrap(cell, widths[at] ?? null));
      const height = Math.max(...cells.map((parts) => parts.length));
      return Array.from({ length: height }, (_, line) => cells.map((parts) => parts[line] ?? ''));
    }),
  );
}

/** As `table`, but what the last column has too much goes on in further lines. */
export function wrapLast(
  rows: readonly (readonly string[])[],
  columns: number | null,
  least: number,
): readonly string[] {
  const widths = naturalWidths(rows);
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + 1, 0);
  const room = columns === null ? null : Math.max(least, columns - others);
  return wrappedTable(rows, [...widths.slice(0, -1).map(() => null), room]);
}

/** As `table`, but what the widest column has too much goes on in further lines. */
export function wrapWidest(
  rows: readonly (readonly string[])[],
  columns: number | null,
  least: number,
): readonly string[] {
  const widths = naturalWidths(rows);
  const all = widths.reduce((sum, width) => sum + width + 1, -1);
  if (columns === null || all <= columns) return table(rows);
  const widest = Math.max(...widths);
  const at = widths.indexOf(widest);
  const room = Math.max(least, columns - (all - widest));
  return wrappedTable(
    rows,
    widths.map((_, column) => (column === at ? room : null)),
  );
}

/** Lines of at most `width` characters, broken between words, and within a word only where it is wider by itself. */
export function wrap(text: string, width: number | null): readonly string[] {
  if (width === null || widthOf(text) <= width) return [text];
  const found: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') found.push(line);
    const letters = Array.from(word);
    while (letters.length > width) found.push(letters.splice(0, width).join(''));
    line = letters.join('');
  }
  return line === '' ? found : [...found, line];
}

export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
