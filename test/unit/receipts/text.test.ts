import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { badIdentityAt, cleanLabel, cutToBytes, shorten, terminalText, utf8Length } from '../../../receipts/text.ts';

const BAD: readonly (readonly [what: string, unit: string])[] = [
  ['NUL', '\u0000'],
  ['the escape of an ANSI sequence', '\u001b'],
  ['bell', '\u0007'],
  ['carriage return', '\r'],
  ['delete', '\u007f'],
  ['a C1 control', '\u009b'],
  ['the first half of an emoji', '\ud83e'],
  ['the second half of an emoji', '\udd81'],
  ['right-to-left override', '\u202e'],
  ['an isolate', '\u2066'],
  ['the Arabic letter mark', '\u061c'],
  ['a line separator', '\u2028'],
];

const GOOD = ['plain', 'ok 🦁', 'a family 👩‍👩‍👧', 'Grüße, 日本語, עברית', 'naïve café', '', '\ufffd'];

describe('text', () => {
  it.each(BAD)('replaces %s in a label, unit by unit, and finds it in an identity', (_what, unit) => {
    expect(cleanLabel(`inv${unit}9`)).toBe('inv\ufffd9');
    expect(badIdentityAt(`inv${unit}9`)).toBe(3);
  });

  it.each(GOOD)('leaves %j as it is', (text) => {
    expect(cleanLabel(text)).toBe(text);
    expect(badIdentityAt(text)).toBe(-1);
    expect(terminalText(text)).toBe(text);
  });

  it('allows tab and line feed in labels only', () => {
    expect(cleanLabel('a\tb\nc')).toBe('a\tb\nc');
    expect(badIdentityAt('a\tb')).toBe(1);
    expect(badIdentityAt('a\n')).toBe(1);
  });

  it('keeps an emoji beside a half one', () => {
    expect(cleanLabel('\ud83e\ud83e\udd81\udd81')).toBe('\ufffd🦁\ufffd');
  });

  it('leaves nothing behind that would need replacing again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const cleaned = cleanLabel(text);
        expect(Buffer.from(cleaned).toString()).toBe(cleaned);
        expect(cleanLabel(cleaned)).toBe(cleaned);
        expect(cleaned).toHaveLength(text.length);
      }),
    );
  });

  it('counts the bytes that an encoder writes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
      }),
    );
  });

  it('cuts at a character and as late as it may', () => {
    expect(cutToBytes('ab🦁', 5)).toBe('ab');
    expect(cutToBytes('ab🦁', 6)).toBe('ab🦁');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, limit) => {
        const cut = cutToBytes(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(utf8Length(cut)).toBeLessThanOrEqual(limit);
        const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
        if (cut !== text) expect(utf8Length(cut + next)).toBeGreaterThan(limit);
      }),
    );
  });

  it('shortens for people by characters, and says so', () => {
    expect(shorten('🦁🦁🦁', 3)).toBe('🦁🦁🦁');
    expect(shorten('🦁🦁🦁🦁', 3)).toBe('🦁🦁…');
    expect(shorten('abcdef', 3)).toBe('ab…');
  });

  it('shows on a terminal what it does not carry out', () => {
    expect(terminalText('\u001b[31mred\u001b[0m')).toBe('\\x1b[31mred\\x1b[0m');
    expect(terminalText('a\nb\tc\rd')).toBe('a\\nb\\tc\\rd');
    expect(terminalText('gpj\u202eexe')).toBe('gpj\\u202eexe');
    expect(terminalText('\u009b2J')).toBe('\\x9b2J');
    expect(terminalText('half \ud83e')).toBe('half \\ud83e');
  });
});
