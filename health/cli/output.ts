/**
 * Where output goes: data on stdout, everything else on stderr. Colours, glyphs and redrawn lines only where a terminal can
 * show them; a reader that went away (`… | head -1`) ends the command in silence.
 */
import { once } from 'node:events';
import type { Verdict } from '../verdict.ts';

export const OUTPUTS = ['text', 'json', 'jsonl', 'none', 'nagios'] as const;
export type OutputFormat = (typeof OUTPUTS)[number];
export const COLOR_WISHES = ['always', 'never', 'auto'] as const;
export type ColorWish = (typeof COLOR_WISHES)[number];

export interface Terminal {
  readonly colors: 'none' | 'basic' | 'full';
  readonly lightBackground: boolean;
  readonly unicode: boolean;
  /** Null off a terminal: nothing is cut there. */
  readonly columns: number | null;
  /** How high a screen is that may be redrawn on stdout; null where only lines may follow each other. */
  readonly rows: number | null;
  /** Lines may be redrawn on stderr. */
  readonly progress: boolean;
}

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** --color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal. */
export function terminalOf(
  wish: ColorWish,
  env: NodeJS.ProcessEnv,
  stdout: Stream = process.stdout,
  stderr: Stream = process.stderr,
): Terminal {
  const tty = stdout.isTTY === true;
  const dumb = env['TERM'] === 'dumb';
  const set = (name: string): boolean => (env[name] ?? '') !== '';
  const forced = set('FORCE_COLOR') && env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  const colored = wish === 'auto' ? !set('NO_COLOR') && (forced || (tty && !dumb)) : wish === 'always';
  const full = /^(truecolor|24bit)$/i.test(env['COLORTERM'] ?? '');
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return {
    colors: colored ? (full ? 'full' : 'basic') : 'none',
    lightBackground: /;(7|15)$/.test(env['COLORFGBG'] ?? ''),
    unicode: /utf-?8/i.test(locale) || process.platform === 'win32',
    // A terminal that nobody gave a size says 0.
    columns: tty ? stdout.columns || 80 : null,
    rows: tty && !dumb && !set('CI') ? stdout.rows || 24 : null,
    progress: stderr.isTTY === true && !dumb && !set('CI'),
  };
}

interface Look {
  readonly glyph: string;
  readonly ascii: string;
  readonly onWhite: string;
  readonly onDark: string;
  /** SGR number where only the basic colours are there. */
  readonly basic: number;
}

/** DESIGN 8: told apart by word and glyph, and by colour under every kind of colour blindness. */
const LOOKS: Readonly<Record<Verdict, Look>> = {
  working: { glyph: '▶', ascii: '>', onWhite: '#2667ff', onDark: '#669eff', basic: 34 },
  waiting: { glyph: '⏸', ascii: '=', onWhite: '#32454c', onDark: '#00eaff', basic: 36 },
  stuck: { glyph: '■', ascii: 'x', onWhite: '#732511', onDark: '#ff0000', basic: 31 },
  uncertain: { glyph: '?', ascii: '?', onWhite: '#8c7215', onDark: '#e6cf95', basic: 33 },
  'false-success': { glyph: '≠', ascii: '!', onWhite: '#cc008b', onDark: '#a66c97', basic: 35 },
  healthy: { glyph: '✔', ascii: '+', onWhite: '#2e7357', onDark: '#388c65', basic: 32 },
};

function sgr(text: string, codes: string, terminal: Terminal): string {
  return terminal.colors === 'none' ? text : `\u001b[${codes}m${text}\u001b[0m`;
}

export function bold(text: string, terminal: Terminal): string {
  return sgr(text, '1', terminal);
}

export function dim(text: string, terminal: Terminal): string {
  return sgr(text, '2', terminal);
}

export function glyphOf(verdict: Verdict | null, terminal: Terminal): string {
  if (verdict === null) return terminal.unicode ? '·' : '.';
  return terminal.unicode ? LOOKS[verdict].glyph : LOOKS[verdict].ascii;
}

/** The separator between the parts of a line. */
export function dot(terminal: Terminal): string {
  return terminal.unicode ? ' · ' : ' - ';
}

/** Text in a verdict's colour. */
export function inColor(verdict: Verdict | null, text: string, terminal: Terminal): string {
  if (verdict === null) return dim(text, terminal);
  const look = LOOKS[verdict];
  if (terminal.colors !== 'full') return sgr(text, String(look.basic), terminal);
  const hex = terminal.lightBackground ? look.onWhite : look.onDark;
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return sgr(text, `38;2;${channels.join(';')}`, terminal);
}

/** Raised when nobody reads stdout any more. */
export class ReaderGone extends Error {}

function isGone(stream: NodeJS.WriteStream): boolean {
  return stream.destroyed || stream.writableEnded;
}

/** Writes and waits while the reader is slow, so that a long report does not pile up in memory. */
export async function write(text: string, stream: NodeJS.WriteStream = process.stdout): Promise<void> {
  if (isGone(stream)) throw new ReaderGone();
  if (stream.write(text)) return;
  await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
  if (isGone(stream)) throw new ReaderGone();
}

/** One line on stderr that is redrawn; nothing at all off a terminal. */
export class Progress {
  readonly #terminal: Terminal;
  #shown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(text: string): void {
    if (!this.#terminal.progress) return;
    this.#shown = true;
    process.stderr.write(`\r\u001b[2K${text}`);
  }

  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    process.stderr.write('\r\u001b[2K');
  }
}
