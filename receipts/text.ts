/**
 * Text that a database, a terminal or a reader would take for something else (R16).
 *
 * Bad are: NUL and every other control character (C0, DEL, C1, so also the escape that begins an ANSI sequence), lone
 * surrogates (half an emoji), bidirectional controls, and the line and paragraph separators. Tab and line feed are allowed
 * in labels, which are read by people, and never in identities, which are compared. Carriage return is bad everywhere: on a
 * terminal it overwrites what stands before it. Emoji, their joiners and every script are fine.
 *
 * In a label each bad unit becomes U+FFFD, one for one; an identity is never rewritten, since two different ones could
 * become equal: it is refused where it is read (`receipts/inspect.ts`).
 */
const REPLACEMENT = '\uFFFD';

// With the `u` flag \p{Cs} matches only a surrogate that has no partner.
const BAD_IN_IDENTITY = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const BAD_IN_LABEL = /(?![\t\n])[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const BAD_IN_LABEL_EACH = new RegExp(BAD_IN_LABEL.source, 'gu');
const BAD_ON_TERMINAL = new RegExp(BAD_IN_IDENTITY.source, 'gu');

/** Index (UTF-16 unit) of the first character that an identity may not hold; -1 where there is none. */
export function badIdentityAt(text: string): number {
  return text.search(BAD_IN_IDENTITY);
}

/** The text with each bad unit replaced by U+FFFD; the same string where it is clean. */
export function cleanLabel(text: string): string {
  return BAD_IN_LABEL.test(text) ? text.replace(BAD_IN_LABEL_EACH, REPLACEMENT) : text;
}

/** Bytes of a code point in UTF-8. A lone surrogate counts as U+FFFD, which is what an encoder writes for it. */
function utf8Width(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** Length in UTF-8 bytes, without making the bytes. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else {
      const codePoint = text.codePointAt(at) ?? unit;
      bytes += utf8Width(codePoint);
      if (codePoint > 0xffff) at += 1;
    }
  }
  return bytes;
}

/** The longest beginning of at most `maximumBytes` UTF-8 bytes that does not end inside a character. */
export function cutToBytes(text: string, maximumBytes: number): string {
  if (text.length * 3 <= maximumBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Width(character.codePointAt(0) ?? 0);
    if (bytes > maximumBytes) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** At most `maximumCharacters` code points, the last one an ellipsis where something was left out. For people only. */
export function shorten(text: string, maximumCharacters: number): string {
  if (text.length <= maximumCharacters) return text;
  const characters: string[] = [];
  for (const character of text) {
    characters.push(character);
    if (characters.length > maximumCharacters) {
      return `${characters.slice(0, Math.max(0, maximumCharacters - 1)).join('')}…`;
    }
  }
  return text;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/**
 * Text as it may be printed on one line of a terminal: control characters, lone surrogates and bidirectional controls are
 * shown as escapes (`\n`, `\x1b`, `\u202e`) instead of being carried out. For every value that others wrote.
 */
export function terminalText(text: string): string {
  return BAD_IN_IDENTITY.test(text) ? text.replace(BAD_ON_TERMINAL, escapeUnit) : text;
}

function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return SHORT_ESCAPES[unit] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0');
}
