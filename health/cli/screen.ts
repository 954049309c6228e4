/** A screen that replaces itself on a terminal. What does not fit its height is counted, never scrolled away. */
import { write } from './output.ts';
import type { Terminal } from './output.ts';
import { widthOf } from './table.ts';

export class Screen {
  readonly #terminal: Terminal;
  #height = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async show(text: string): Promise<void> {
    // Asked each time: the window may have been resized since.
    const columns = Math.max(1, process.stdout.columns || (this.#terminal.columns ?? 80));
    const rows = (process.stdout.rows || (this.#terminal.rows ?? 24)) - 1;
    const kept = fit(text.trimEnd().split('\n'), columns, rows);
    const back = this.#height === 0 ? '' : `\u001b[${this.#height}A\r`;
    this.#height = kept.reduce((sum, line) => sum + heightOf(line, columns), 0);
    await write(`${back}\u001b[J${kept.join('\n')}\n`);
  }
}

function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / columns));
}

function fit(lines: readonly string[], columns: number, rows: number): readonly string[] {
  const total = lines.reduce((sum, line) => sum + heightOf(line, columns), 0);
  if (total <= rows) return lines;
  const kept: string[] = [];
  let height = 1;
  for (const line of lines) {
    height += heightOf(line, columns);
    if (height > rows) break;
    kept.push(line);
  }
  return [...kept, `(${lines.length - kept.length} more lines: make the window higher)`];
}
