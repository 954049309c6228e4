import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText } from '../../../receipts/json-text.ts';
import { refusal } from './bodies.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const text = (json: string): number[] => [...Buffer.from(json)];

const REFUSED: readonly (readonly [hazard: string, json: string | Uint8Array, position: number])[] = [
  ['B12 a key twice', '{"a":1,"a":2}', 7],
  ['B12 a key twice, once escaped', '{"a":1,"\\u0061":2}', 7],
  ['B12 a key twice deep inside', '{"x":[{"k":{"a":1 , "a":1}}]}', 20],
  ['B12 a byte order mark as text', '\ufeff{}', 0],
  ['B12 a byte order mark as bytes', bytes(0xef, 0xbb, 0xbf, ...text('{}')), 0],
  ['B12 bad UTF-8', bytes(...text('{"a":"'), 0xc3, 0x28, ...text('"}')), 7],
  ['B12 a surrogate in UTF-8', bytes(...text('{"a":"'), 0xed, 0xa0, 0x80, ...text('"}')), 7],
  ['B12 UTF-8 that ends inside a character', bytes(...text('"a'), 0xf0, 0x9f), 4],
  ['nothing at all', '', 0],
  ['a bare word', 'nope', 0],
  ['two values', '{} {}', 3],
  ['a trailing comma', '[1,]', 3],
  ['a missing colon', '{"a" 1}', 5],
  ['a key without quotes', '{a:1}', 1],
  ['an object that does not end', '{"a":1', 6],
  ['a string that does not end', '"abc', 4],
  ['a control character in a string', '"a\nb"', 2],
  ['an escape that JSON does not know', '"\\x41"', 2],
  ['a half escape', '"\\u12"', 2],
  ['a leading zero', '[01]', 1],
  ['NaN', '{"a":NaN}', 5],
  ['a comment', '{/* */}', 1],
];

describe('parseJsonText', () => {
  it.each(REFUSED)('refuses %s by its place', (_hazard, json, position) => {
    expect(refusal(() => parseJsonText(json))).toMatchObject({ code: 'BODY_NOT_JSON', position });
  });

  it('never repeats the text', () => {
    for (const json of ['{"a": CANARY-7f3a}', '{"CANARY-7f3a":1,"CANARY-7f3a":2}', '"CANARY-7f3a', 'CANARY-7f3a']) {
      expect(JSON.stringify(refusal(() => parseJsonText(json)))).not.toContain('CANARY');
    }
  });

  it('refuses nesting that would exhaust the stack', () => {
    expect(refusal(() => parseJsonText('['.repeat(100_000)))).toMatchObject({ code: 'BODY_NOT_JSON', position: 65 });
  });

  it('takes every JSON value as JSON.parse takes it, from text and from bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        expect(parseJsonText(json)).toEqual(JSON.parse(json));
        expect(parseJsonText(Buffer.from(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses where no key comes twice', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-',
      '.5',
      'e3',
      '0',
      'true',
      'null',
      ' ',
      '"',
      '\\',
    ];
    const valid = (json: string): boolean => {
      try {
        JSON.parse(json);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const json = parts.join('');
        let taken = true;
        try {
          parseJsonText(json);
        } catch (error) {
          taken = String(error).includes('twice');
        }
        expect(taken).toBe(valid(json));
      }),
      { numRuns: 2000 },
    );
  });

  it('tells one key in two objects from a key that comes twice', () => {
    expect(parseJsonText('[{"a":1},{"a":2}]')).toEqual([{ a: 1 }, { a: 2 }]);
  });
});
