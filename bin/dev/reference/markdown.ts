/** Pieces of Markdown for the pages of the reference. The pages are formatted by prettier in the end. */
import { terminalText } from '../../../receipts/text.ts';

/** A page by its path below `docs/reference/`, e.g. `reasons/loop.md`. */
export type Pages = Map<string, string>;

export const GENERATED = '<!-- Written by bin/dev/reference.ts from health/reference/: change it there. -->';

/** Blocks with an empty line between each two; empty ones are left out. */
export function page(title: string, ...blocks: readonly string[]): string {
  return [GENERATED, `# ${title}`, ...blocks.filter((block) => block !== '')].join('\n\n') + '\n';
}

export function section(title: string, ...blocks: readonly string[]): string {
  return [`## ${title}`, ...blocks.filter((block) => block !== '')].join('\n\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function link(text: string, to: string): string {
  return `[${text}](${to})`;
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

export function numbered(items: readonly string[]): string {
  return items.map((item, at) => `${String(at + 1)}. ${item}`).join('\n');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

export function fenced(language: string, text: string): string {
  return ['```' + language, text.trimEnd(), '```'].join('\n');
}

/** Text that others wrote, as a word in a sentence or a cell. */
export function quoted(text: string): string {
  return terminalText(text).replaceAll(/([*_<>[\]\\])/g, '\\$1');
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

/** A length of time in the largest unit that fits without a rest: 600000 is `10 min`. */
export function lengthOf(ms: number): string {
  const found = UNITS.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0);
  return found === undefined ? `${String(ms)} ms` : `${String(ms / found[0])} ${found[1]}`;
}
