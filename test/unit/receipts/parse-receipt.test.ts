import { describe, expect, it } from 'vitest';
import { parseJsonText, parseReceipt } from '../../../receipts/parse.ts';
import { RECEIPT_KINDS } from '../../../receipts/receipt.ts';
import { ENVELOPE, receiptOf, refusal, SHA } from './bodies.ts';

const CANARY = 'CANARY-7f3a';

describe('parseReceipt', () => {
  it.each(RECEIPT_KINDS)('takes a whole %s receipt as it is', (kind) => {
    expect(parseReceipt(receiptOf(kind))).toEqual(receiptOf(kind));
    expect(parseReceipt(parseJsonText(JSON.stringify(receiptOf(kind))))).toEqual(receiptOf(kind));
  });

  it.each(Object.keys(ENVELOPE).filter((name) => name !== 'activityType'))('B1 refuses one without %s', (name) => {
    const { [name]: _missing, ...rest } = receiptOf('progress');
    expect(refusal(() => parseReceipt(rest))).toMatchObject({ code: 'RECEIPT_INVALID', field: name, got: 'nothing' });
  });

  it('B1 refuses what has no kind or body', () => {
    const { body: _body, ...bodiless } = receiptOf('wait');
    expect(refusal(() => parseReceipt(bodiless))).toMatchObject({ code: 'RECEIPT_INVALID', field: 'body' });
    expect(refusal(() => parseReceipt({ ...receiptOf('wait'), kind: CANARY }))).toMatchObject({
      code: 'RECEIPT_INVALID',
      field: 'kind',
    });
    for (const value of [null, undefined, [], 'text', 7]) {
      expect(refusal(() => parseReceipt(value))).toMatchObject({ code: 'RECEIPT_INVALID' });
    }
  });

  it.each([
    ['B2', { prompt: CANARY }, {}, 'RECEIPT_UNKNOWN_FIELD', 'prompt'],
    ['B2', {}, { prompt: CANARY }, 'RECEIPT_UNKNOWN_FIELD', 'body.prompt'],
    ['B2 the store writes it', { recordedAtMs: 1 }, {}, 'RECEIPT_UNKNOWN_FIELD', 'recordedAtMs'],
    ['B3', { fence: '12' }, {}, 'RECEIPT_INVALID', 'fence'],
    ['B3', {}, { delta: { done: '12' } }, 'RECEIPT_INVALID', 'body.delta.done'],
    ['a sequence from 0', { sequence: 0 }, {}, 'RECEIPT_INVALID', 'sequence'],
    ['a time that is no whole number', { occurredAtMs: 1.5 }, {}, 'RECEIPT_INVALID', 'occurredAtMs'],
    ['another schema major', { schemaVersion: 2 }, {}, 'RECEIPT_INVALID', 'schemaVersion'],
    ['an id that is no UUID', { receiptId: CANARY }, {}, 'RECEIPT_INVALID', 'receiptId'],
    ['a UUID of version 4', { receiptId: '550e8400-e29b-41d4-a716-446655440000' }, {}, 'RECEIPT_INVALID', 'receiptId'],
    ['B4', {}, { note: CANARY.repeat(800) }, 'RECEIPT_TOO_LARGE', 'body.note'],
    ['B4', { workflowId: CANARY.repeat(800) }, {}, 'RECEIPT_TOO_LARGE', 'workflowId'],
    ['B5', {}, { delta: { ids: [[]] } }, 'RECEIPT_TOO_DEEP', 'body.delta.ids[0]'],
    ['B6', { fence: Infinity }, {}, 'RECEIPT_NUMBER', 'fence'],
    ['B6', {}, { delta: { done: -0 } }, 'RECEIPT_NUMBER', 'body.delta.done'],
    ['B8', { workflowId: 'w\u0000' }, {}, 'RECEIPT_TEXT', 'workflowId'],
    ['B8', {}, { milestone: 'w\ud83e' }, 'RECEIPT_TEXT', 'body.milestone'],
    ['B10', { workflowId: `https://u:${CANARY}@h` }, {}, 'RECEIPT_SECRET', 'workflowId'],
    ['B10', {}, { note: `https://u:${CANARY}@h` }, 'RECEIPT_SECRET', 'body.note'],
    ['a reserved word', { emitter: 'constructor' }, {}, 'RECEIPT_INVALID', 'emitter'],
  ])('%s %j %j', (_item, envelope, body, code, field) => {
    const error = refusal(() => parseReceipt(receiptOf('progress', body, envelope)));
    expect(error).toMatchObject({ code, field });
    expect(JSON.stringify(error)).not.toContain('CANARY');
  });

  it('B11 refuses __proto__ in the envelope and in the body', () => {
    const json = JSON.stringify(receiptOf('progress'));
    for (const [spoiled, field] of [
      [json.replace('{', '{"__proto__":{"x":1},'), '__proto__'],
      [json.replace('"body":{', '"body":{"__proto__":{"x":1},'), 'body.__proto__'],
    ] as const) {
      expect(refusal(() => parseReceipt(parseJsonText(spoiled)))).toMatchObject({
        code: 'RECEIPT_UNKNOWN_FIELD',
        field,
      });
    }
  });

  it('B5 counts the keys of envelope and body together', () => {
    const keys = Object.fromEntries(Array.from({ length: 45 }, (_, at) => [`k${at}`, 1]));
    expect(refusal(() => parseReceipt(receiptOf('progress', keys)))).toMatchObject({ code: 'RECEIPT_TOO_DEEP' });
  });

  it('B8 marks what was replaced or cut, and only that', () => {
    expect(parseReceipt(receiptOf('progress', { note: 'a\u0000b' }))).toMatchObject({
      sanitised: true,
      body: { note: 'a\ufffdb' },
    });
    expect(parseReceipt(receiptOf('progress', { note: 'x'.repeat(201) }))).toMatchObject({ sanitised: true });
    expect(parseReceipt(receiptOf('progress', { note: 'fine' }))).not.toHaveProperty('sanitised');
    expect(parseReceipt(receiptOf('progress', {}, { sanitised: true }))).toMatchObject({ sanitised: true });
  });

  it('B19 refuses another digest than SHA-256', () => {
    expect(refusal(() => parseReceipt(receiptOf('deliverable', { subject: { digest: 'md5:00' } })))).toMatchObject({
      code: 'DELIVERABLE_DIGEST',
      field: 'body.subject.digest',
    });
  });

  it('takes what a foreign emitter may state and a judge will not believe', () => {
    parseReceipt(receiptOf('wait', { owner: null, deadlineMs: null, resumeToken: null }));
    parseReceipt(receiptOf('effect', { state: 'verified' }));
    parseReceipt(receiptOf('deliverable', { check: 'agent-statement', subject: { digest: SHA } }));
  });
});
