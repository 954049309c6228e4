import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { outdatedSchemas, renderSchemas, SCHEMA_BASE } from '../../../bin/dev/schemas.ts';
import { defineContract } from '../../../receipts/contract.ts';
import type { Contract } from '../../../receipts/contract.ts';
import type { Receipt, StoredReceipt } from '../../../receipts/envelope.ts';
import { foldChain } from '../../../receipts/fold.ts';
import type { bodySchemas, contractSchema, receiptSchema } from '../../../receipts/parse.ts';
import { chainRowSchema, parseReceipt, storedReceiptSchema } from '../../../receipts/parse.ts';
import { RECEIPT_KINDS } from '../../../receipts/receipt.ts';
import type { ReceiptBodies } from '../../../receipts/receipt.ts';
import type { ChainRow } from '../../../receipts/state.ts';
import { receiptOf } from './bodies.ts';

/** Schemas make mutable types; nothing else may differ. */
type Mutable<T> = T extends string | number | boolean | null | undefined
  ? T
  : { -readonly [K in keyof T]: Mutable<T[K]> };

describe('types and schemas', () => {
  it('are the same', () => {
    expectTypeOf<Mutable<z.output<typeof receiptSchema>>>().toEqualTypeOf<Mutable<Receipt>>();
    expectTypeOf<Mutable<z.output<typeof storedReceiptSchema>>>().toEqualTypeOf<Mutable<StoredReceipt>>();
    expectTypeOf<Mutable<z.output<typeof contractSchema>>>().toEqualTypeOf<Mutable<Contract>>();
    expectTypeOf<Mutable<z.output<typeof chainRowSchema>>>().toEqualTypeOf<Mutable<ChainRow>>();
    type Bodies = { [K in keyof typeof bodySchemas]: z.output<(typeof bodySchemas)[K]> };
    expectTypeOf<Mutable<Bodies>>().toEqualTypeOf<Mutable<ReceiptBodies>>();
  });

  it('agree on what the fold makes of all four receipts', () => {
    const stored = RECEIPT_KINDS.map((kind, at) =>
      storedReceiptSchema.parse({
        ...receiptOf(kind, {}, { sequence: at + 1, receiptId: `r${at}` }),
        recordedAtMs: at,
      }),
    );
    const row = foldChain(stored, null);
    expect(chainRowSchema.parse(row)).toEqual(row);
    expect(chainRowSchema.parse(JSON.parse(JSON.stringify(row)))).toEqual(row);
    expect(chainRowSchema.safeParse({ ...row, verdict: 'healthy' }).success).toBe(false);
  });
});

describe('published schemas', () => {
  const rendered = new Map([...renderSchemas()].map(([file, text]) => [file, JSON.parse(text) as { $id: string }]));
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  for (const schema of rendered.values()) ajv.addSchema(schema);
  const validator = (name: string): ValidateFunction => {
    const validate = ajv.getSchema(`${SCHEMA_BASE}${name}.json`);
    if (validate === undefined) throw new Error(`${name} is not published.`);
    return validate;
  };

  it('are the committed files', async () => {
    expect(await outdatedSchemas()).toEqual([]);
  });

  it('are valid JSON Schemas of draft 2020-12 under their own address', () => {
    for (const [file, schema] of rendered) {
      expect(schema.$id).toBe(`${SCHEMA_BASE}${file}`);
      expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
      expect(ajv.validateSchema(schema)).toBe(true);
    }
  });

  it.each(RECEIPT_KINDS)('take a %s receipt and refuse an unknown field in it', (kind) => {
    const validate = validator('receipt.v1');
    expect(validate(parseReceipt(receiptOf(kind)))).toBe(true);
    expect(validate(receiptOf(kind, { prompt: 'x' }))).toBe(false);
    expect(validate(receiptOf(kind, {}, { recordedAtMs: 1 }))).toBe(false);
    expect(validate(receiptOf(kind, {}, { sequence: '1' }))).toBe(false);
  });

  it('take a contract as it is registered', () => {
    const { contract } = defineContract({
      workflowType: 'sourceCheck',
      milestones: { checked: { fresh: '10m' } },
      effects: { charge: { due: 'once' } },
      deliverables: { report: { destination: 'file', noDeterministicCheck: 'prose' } },
    });
    const validate = validator('contract.v1');
    expect(validate(JSON.parse(JSON.stringify(contract)))).toBe(true);
    expect(validate({ ...contract, extra: 1 })).toBe(false);
  });
});
