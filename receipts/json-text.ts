/**
 * JSON text from outside: what `JSON.parse` would take silently or describe with the text itself is refused here by its
 * place. A duplicate key is a fault because two readers may each take another of the two values.
 *
 * No message repeats the text: V8's own messages quote it, so they are neither shown nor kept as a cause.
 */
import { HealthError } from './errors.ts';

/** Deeper than any document of this project; it bounds the recursion below. */
const MAXIMUM_NESTING = 64;

/**
 * The value of JSON text or of its UTF-8 bytes.
 * @throws HealthError BODY_NOT_JSON with `position`: the byte of bad UTF-8, otherwise the character (UTF-16 unit), from 0.
 */
export function parseJsonText(json: string | Uint8Array): unknown {
  const text = typeof json === 'string' ? json : decodeUtf8(json);
  if (text.startsWith('\uFEFF')) throw fault('It begins with a byte order mark.', 0);
  const scan: Scan = { text, at: 0 };
  skipBlanks(scan);
  scanValue(scan, 0);
  skipBlanks(scan);
  if (scan.at < text.length) throw fault('There is more after the end of the value.', scan.at);
  return JSON.parse(text) as unknown;
}

interface Scan {
  readonly text: string;
  at: number;
}

function fault(what: string, position: number): HealthError {
  return new HealthError('BODY_NOT_JSON', `This is not JSON that can be taken: at position ${position}: ${what}`, {
    position,
    hint: 'Send one JSON value as UTF-8 without a byte order mark, each key once.',
  });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw fault('The bytes are not UTF-8.', firstBadByte(bytes));
  }
}

/** The first byte up to which a streaming decoder refuses the text: found by halving, since no decoder tells it. */
function firstBadByte(bytes: Uint8Array): number {
  const accepts = (length: number): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  if (accepts(bytes.length)) return bytes.length;
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (accepts(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

function skipBlanks(scan: Scan): void {
  for (;;) {
    const unit = scan.text.charCodeAt(scan.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scan.at += 1;
  }
}

function scanValue(scan: Scan, nesting: number): void {
  if (nesting > MAXIMUM_NESTING) throw fault(`It nests deeper than ${MAXIMUM_NESTING} levels.`, scan.at);
  const first = scan.text[scan.at];
  if (first === '{') scanObject(scan, nesting);
  else if (first === '[') scanArray(scan, nesting);
  else if (first === '"') scanString(scan);
  else scanWord(scan);
}

function scanObject(scan: Scan, nesting: number): void {
  const keys = new Set<string>();
  scan.at += 1;
  skipBlanks(scan);
  if (scan.text[scan.at] === '}') {
    scan.at += 1;
    return;
  }
  for (;;) {
    const keyAt = scan.at;
    if (scan.text[keyAt] !== '"') throw fault('A key is expected.', keyAt);
    const key = scanString(scan);
    if (keys.has(key)) throw fault('The same key comes twice in one object.', keyAt);
    keys.add(key);
    skipBlanks(scan);
    if (scan.text[scan.at] !== ':') throw fault('A colon is expected.', scan.at);
    scan.at += 1;
    skipBlanks(scan);
    scanValue(scan, nesting + 1);
    if (endsAfterValue(scan, '}')) return;
  }
}

function scanArray(scan: Scan, nesting: number): void {
  scan.at += 1;
  skipBlanks(scan);
  if (scan.text[scan.at] === ']') {
    scan.at += 1;
    return;
  }
  for (;;) {
    scanValue(scan, nesting + 1);
    if (endsAfterValue(scan, ']')) return;
  }
}

/** Takes the closing bracket (true) or the comma before the next member (false). */
function endsAfterValue(scan: Scan, close: '}' | ']'): boolean {
  skipBlanks(scan);
  const next = scan.text[scan.at];
  if (next !== close && next !== ',') throw fault(`A comma or ${close} is expected.`, scan.at);
  scan.at += 1;
  if (next === ',') skipBlanks(scan);
  return next === close;
}

const HEX4 = /[0-9a-fA-F]{4}/y;

/** Takes a string and answers its value. */
function scanString(scan: Scan): string {
  const { text } = scan;
  const start = scan.at;
  let escaped = false;
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      scan.at = at + 1;
      return escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at);
    }
    if (unit < 0x20) throw fault('A control character stands in a string.', at);
    if (unit === 0x5c) {
      escaped = true;
      at += 1;
      HEX4.lastIndex = at + 1;
      if (text[at] === 'u' ? !HEX4.test(text) : !'"\\/bfnrt'.includes(text[at] ?? '?')) {
        throw fault('An escape is not one of JSON.', at);
      }
    }
  }
  throw fault('A string does not end.', text.length);
}

const WORD = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z.+-])/y;

function scanWord(scan: Scan): void {
  WORD.lastIndex = scan.at;
  if (!WORD.test(scan.text)) {
    throw fault(scan.at >= scan.text.length ? 'It ends too early.' : 'A value is expected.', scan.at);
  }
  scan.at = WORD.lastIndex;
}
