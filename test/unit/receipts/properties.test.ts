import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestJson, isSha256 } from '../../../receipts/digest.ts';
import { HealthError } from '../../../receipts/errors.ts';
import { parseBody, parseContract, parseJsonText, parseReceipt } from '../../../receipts/parse.ts';
import { RECEIPT_KINDS } from '../../../receipts/receipt.ts';
import { CONTEXT, INPUTS, receiptOf } from './bodies.ts';

const CANARY = 'CANARY7f3a';

/** Any JSON value, with the words that tend to break things. */
const nasty = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    ...['\u0000', '\ud83e', '__proto__', 'constructor', -0, Number.NaN, Infinity, '', ' ', null, [], {}, [[[[[[]]]]]]],
    ...[
      '2 days',
      'tomorrow',
      `https://u:${CANARY}@h`,
      CANARY.repeat(1000),
      { toString: 1 },
      { 'a key': CANARY },
      { extra: CANARY },
    ],
  ),
  fc.string({ unit: 'binary' }),
  fc.object({ maxDepth: 3, withBigInt: true, withDate: true, withNullPrototype: true, withMap: true }),
);

/** Runs it; whatever it throws must be a HealthError with a code, a sentence and no value. */
function onlyHealthErrors(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof HealthError)) throw error;
    expect(error.cause).toBeUndefined();
    expect(JSON.stringify(error)).not.toContain(CANARY);
  }
}

/** A valid object with some of its members spoiled and some added. */
const spoiled = (valid: object): fc.Arbitrary<object> =>
  fc
    .tuple(fc.subarray(Object.keys(valid), { maxLength: 2 }), fc.array(nasty, { minLength: 2, maxLength: 2 }), nasty)
    .map(([keys, values, extra]) => ({
      ...valid,
      ...Object.fromEntries(keys.map((key, at) => [key, values[at]])),
      ...(typeof extra === 'string' ? { note: extra } : {}),
    }));

describe('the border', () => {
  it.each(RECEIPT_KINDS)('throws nothing but HealthErrors for whatever comes as a %s', (kind) => {
    fc.assert(
      fc.property(fc.oneof(nasty, spoiled(INPUTS[kind])), (input) => {
        onlyHealthErrors(() => parseBody(kind, input, CONTEXT));
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          nasty,
          spoiled(receiptOf(kind)),
          spoiled(INPUTS[kind]).map((b) => receiptOf(kind, b)),
        ),
        (r) => {
          onlyHealthErrors(() => parseReceipt(r));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('throws nothing but HealthErrors for whatever comes as a contract or as JSON text', () => {
    fc.assert(
      fc.property(nasty, fc.string({ unit: 'binary' }), fc.uint8Array(), (value, text, bytes) => {
        onlyHealthErrors(() => parseContract(value));
        onlyHealthErrors(() => parseJsonText(text));
        onlyHealthErrors(() => parseJsonText(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('takes again what it has taken, unchanged', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RECEIPT_KINDS), fc.string({ unit: 'binary', maxLength: 300 }), (kind, text) => {
        const label = { progress: 'step', wait: 'condition', effect: 'reference', deliverable: 'cause' }[kind];
        const body = kind === 'effect' ? { verdict: { by: 'person', reference: text } } : { [label]: text, name: 'n' };
        const once = attempt(() => parseReceipt(receiptOf(kind, kind === 'progress' ? { step: text } : body)));
        if (once !== null) expect(parseReceipt(once)).toEqual(once);
      }),
    );
  });
});

function attempt<T>(call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (error instanceof HealthError) return null;
    throw error;
  }
}

describe('digestJson', () => {
  /** The same value with the keys of every object in another order. */
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, member]) => [key, reversed(member)]),
    );
  };

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const digest = digestJson(value);
        expect(isSha256(digest)).toBe(true);
        expect(digestJson(reversed(value))).toBe(digest);
        expect(digestJson(JSON.parse(JSON.stringify(value)))).toBe(digest);
      }),
    );
  });

  it('depends on everything else', () => {
    const values = [{ a: 1 }, { a: '1' }, { a: 1, b: null }, { b: 1 }, [1, 2], [2, 1], '', null, 0, false, {}, []];
    expect(new Set(values.map(digestJson)).size).toBe(values.length);
  });
});
