import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../receipts/errors.ts';
import type { BodyContext } from '../../../receipts/input.ts';
import { NOTE_BYTES, parseBody, parseJsonText, RECEIPT_LIMITS } from '../../../receipts/parse.ts';
import type { ReceiptKind } from '../../../receipts/receipt.ts';
import { utf8Length } from '../../../receipts/text.ts';
import { CONTEXT, INPUTS, NOW_MS, refusal, SHA } from './bodies.ts';

const CANARY = 'CANARY-7f3a';
const DAY_MS = 86_400_000;
/** Written in pieces, so that no scanner takes this file for a leak. */
const SECRET = ['gh', 'p_', `${CANARY.replace('-', '')}aB3dE5gH7jK9mN1p`].join('');

function bodyOf(kind: ReceiptKind, changes: object = {}, context: BodyContext = CONTEXT): unknown {
  return parseBody(kind, { ...INPUTS[kind], ...changes }, context).body;
}

/** Expects the refusal and that it says nothing of the value. */
function refused(kind: ReceiptKind, changes: object, code: ErrorCode, field?: string): ReturnType<typeof refusal> {
  const error = refusal(() => bodyOf(kind, changes));
  expect(error).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
  expect(JSON.stringify(error)).not.toContain('CANARY');
  expect(error.message.length).toBeGreaterThan(10);
  return error;
}

describe('a valid input', () => {
  it('becomes the body as it was given', () => {
    expect(parseBody('progress', INPUTS.progress, CONTEXT)).toEqual({ body: INPUTS.progress, sanitised: false });
    expect(bodyOf('effect')).toEqual(INPUTS.effect);
    expect(bodyOf('deliverable')).toEqual(INPUTS.deliverable);
    const { deadline: _deadline, ...wait } = INPUTS.wait;
    expect(bodyOf('wait')).toEqual({ ...wait, deadlineMs: NOW_MS + 2 * DAY_MS, state: 'open' });
  });

  it('may hold members that are undefined', () => {
    expect(bodyOf('progress', { step: undefined, delta: { done: 1, of: undefined } })).toEqual({
      ...INPUTS.progress,
      delta: { done: 1 },
    });
  });

  it('is left as it was', () => {
    const input = { ...INPUTS.progress, note: 'a\u0000b', step: undefined };
    parseBody('progress', input, CONTEXT);
    expect(input).toEqual({ ...INPUTS.progress, note: 'a\u0000b', step: undefined });
  });
});

describe('B1 a required field is missing', () => {
  it.each([
    ['progress', 'milestone'],
    ['progress', 'digest'],
    ['wait', 'name'],
    ['wait', 'resumeBy'],
    ['effect', 'operationId'],
    ['effect', 'state'],
    ['deliverable', 'destination'],
    ['deliverable', 'result'],
  ] as const)('%s without %s', (kind, field) => {
    expect(refused(kind, { [field]: undefined }, 'RECEIPT_INVALID', field).message).toContain('is missing');
  });

  it.each([[null], [undefined], ['text'], [7], [[]], [true]])('%j is no body at all', (input) => {
    expect(refusal(() => parseBody('progress', input, CONTEXT))).toMatchObject({ code: 'RECEIPT_INVALID' });
  });

  it('blank is missing', () => {
    refused('progress', { milestone: '  ' }, 'RECEIPT_INVALID', 'milestone');
    refused('effect', { operationId: '' }, 'RECEIPT_INVALID', 'operationId');
  });
});

describe('B2, B11 a field that nobody knows', () => {
  it('is refused by name, at any depth, before anything else is said of it', () => {
    refused('progress', { prompt: CANARY }, 'RECEIPT_UNKNOWN_FIELD', 'prompt');
    refused('progress', { delta: { headers: { authorization: SECRET } } }, 'RECEIPT_UNKNOWN_FIELD', 'delta.headers');
    refused('effect', { verdict: { by: 'person', body: 1 } }, 'RECEIPT_UNKNOWN_FIELD', 'verdict.body');
    refused('deliverable', { text: CANARY, result: 7 }, 'RECEIPT_UNKNOWN_FIELD', 'text');
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])('%s as a key', (key) => {
    const json = JSON.stringify({ ...INPUTS.progress }).replace('{', `{"${key}":{"admin":true},`);
    const input = parseJsonText(json);
    expect(refusal(() => parseBody('progress', input, CONTEXT))).toMatchObject({
      code: 'RECEIPT_UNKNOWN_FIELD',
      field: key,
    });
    const inside = { ...INPUTS.progress, delta: parseJsonText(`{"${key}":1}`) };
    expect(refusal(() => parseBody('progress', inside, CONTEXT))).toMatchObject({
      code: 'RECEIPT_UNKNOWN_FIELD',
      field: `delta.${key}`,
    });
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it('is not named where its name is content itself', () => {
    refused('progress', { [`a b ${CANARY}`]: 1 }, 'RECEIPT_UNKNOWN_FIELD', '(unnamed)');
    refused('progress', { [SECRET]: 1 }, 'RECEIPT_UNKNOWN_FIELD', '(unnamed)');
    refused('progress', { 'a\u0000b': 1 }, 'RECEIPT_UNKNOWN_FIELD', '(unnamed)');
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    '%s as an identity: it would be found where nothing is stored',
    (word) => {
      refused('progress', { milestone: word }, 'RECEIPT_INVALID', 'milestone');
      refused('effect', { operationId: word }, 'RECEIPT_INVALID', 'operationId');
      refused('wait', { resumeToken: word }, 'RECEIPT_INVALID', 'resumeToken');
    },
  );
});

describe('B3 a value of the wrong kind', () => {
  it('says what was expected and what kind came', () => {
    const error = refused('progress', { delta: { done: `${CANARY}12` } }, 'RECEIPT_INVALID', 'delta.done');
    expect(error).toMatchObject({ got: 'string' });
    expect(error.message).toContain('a number');
    expect(refused('effect', { state: CANARY }, 'RECEIPT_INVALID', 'state').message).toContain('attempted');
    refused('deliverable', { coverage: { expected: 1.5, accepted: 1 } }, 'RECEIPT_INVALID', 'coverage.expected');
    refused('progress', { delta: { done: -1 } }, 'RECEIPT_INVALID', 'delta.done');
    refused('progress', { delta: { done: 1n } }, 'RECEIPT_INVALID', 'delta.done');
    refused('progress', { delta: [] }, 'RECEIPT_INVALID', 'delta');
  });

  it('takes 64 ids and no more', () => {
    const ids = Array.from({ length: 64 }, (_, at) => `source-${at}`);
    expect(bodyOf('progress', { delta: { ids } })).toMatchObject({ delta: { ids } });
    const error = refused('progress', { delta: { ids: [...ids, CANARY] } }, 'RECEIPT_INVALID', 'delta.ids');
    expect(error).toMatchObject({ limit: 64 });
  });
});

describe('B4 size', () => {
  const withBytes = (bytes: number): object => {
    const ids = Array.from({ length: 8 }, (_, at) => `${at}`.padEnd(900, 'x'));
    const spare = bytes - Buffer.byteLength(JSON.stringify({ ...INPUTS.progress, delta: { ids }, step: '' }));
    return { delta: { ids }, step: 'y'.repeat(spare) };
  };

  it('takes exactly 8 KiB and refuses one byte more', () => {
    expect(RECEIPT_LIMITS.bytes).toBe(8192);
    bodyOf('progress', withBytes(8192));
    const error = refused('progress', withBytes(8193), 'RECEIPT_TOO_LARGE');
    expect(error).toMatchObject({ limit: 8192, got: '8193 bytes' });
  });

  it('counts bytes and escapes, not characters', () => {
    refused('wait', { condition: '🦁'.repeat(2100) }, 'RECEIPT_TOO_LARGE');
    refused('wait', { condition: `a${'\n'.repeat(4100)}` }, 'RECEIPT_TOO_LARGE');
  });

  it('refuses three megabytes wherever they stand', () => {
    const much = CANARY.repeat(300_000);
    refused('progress', { note: much }, 'RECEIPT_TOO_LARGE', 'note');
    refused('progress', { delta: { ids: Array.from({ length: 300_000 }, () => CANARY) } }, 'RECEIPT_TOO_LARGE');
    refused('progress', { delta: { [much]: 1 } }, 'RECEIPT_TOO_LARGE');
  });
});

describe('B5 nesting and keys', () => {
  it('refuses a fifth level', () => {
    refused('progress', { delta: { a: { b: { c: {} } } } }, 'RECEIPT_TOO_DEEP', 'delta.a.b.c');
    expect(refused('progress', { delta: { ids: [[[[]]]] } }, 'RECEIPT_TOO_DEEP')).toMatchObject({ limit: 4 });
  });

  it('refuses the 65th key', () => {
    const keys = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, 1]));
    expect(refused('progress', keys, 'RECEIPT_TOO_DEEP')).toMatchObject({ limit: 64 });
  });

  it('refuses a value that contains itself', () => {
    const cycle: Record<string, unknown> = {};
    cycle['delta'] = cycle;
    refused('progress', { delta: cycle }, 'RECEIPT_TOO_DEEP');
  });
});

describe('B6 numbers that are none', () => {
  it.each([Number.NaN, Infinity, -Infinity, -0])('%d', (value) => {
    refused('progress', { delta: { done: value } }, 'RECEIPT_NUMBER', 'delta.done');
    refused('progress', { expectBy: value }, 'RECEIPT_NUMBER', 'expectBy');
    refused('wait', { deadline: value }, 'RECEIPT_NUMBER', 'deadline');
    refused('deliverable', { confidence: value }, 'RECEIPT_NUMBER', 'confidence');
  });

  it('1e400 in JSON', () => {
    refused('progress', { delta: parseJsonText('{"done":1e400}') as object }, 'RECEIPT_NUMBER', 'delta.done');
    refused('progress', { delta: parseJsonText('{"done":-0}') as object }, 'RECEIPT_NUMBER', 'delta.done');
  });
});

describe('B8, B9 bad text', () => {
  const bad = ['inv\u0000', 'r\ud83e', '\u001b[31mred', 'gpj\u202eexe', 'a\u0085b'];

  it.each(bad)('in a label is replaced and marked: %j', (text) => {
    const labels: readonly (readonly [ReceiptKind, object])[] = [
      ['progress', { note: text, step: text, end: text, delta: { unit: text, invariant: { name: 'i', value: text } } }],
      ['progress', { cost: { cause: 'first', model: text, currency: text } }],
      ['wait', { note: text, condition: text }],
      ['effect', { state: 'verified', verdict: { by: 'destination', level: text, reference: text } }],
      ['deliverable', { name: text, destination: text, cause: text, subject: { digest: SHA, version: text } }],
    ];
    for (const [kind, changes] of labels) {
      const { body, sanitised } = parseBody(kind, { ...INPUTS[kind], ...changes }, CONTEXT);
      expect(sanitised).toBe(true);
      expect(JSON.stringify(body)).toContain('\ufffd');
      expect(JSON.stringify(body)).not.toMatch(/\\u|[\u0085\u202e]/);
    }
  });

  it.each(bad)('in an identity is refused with its place: %j', (text) => {
    const position = text.search(/[\u0085\u202e\ud83e]|[^ -~]/);
    const identities: readonly (readonly [ReceiptKind, object, string])[] = [
      ['progress', { milestone: text }, 'milestone'],
      ['progress', { digest: text }, 'digest'],
      ['progress', { delta: { ids: ['ok', text] } }, 'delta.ids[1]'],
      ['wait', { resumeToken: text }, 'resumeToken'],
      ['wait', { owner: text }, 'owner'],
      ['wait', { approvers: [text] }, 'approvers[0]'],
      ['effect', { operationId: text }, 'operationId'],
      ['effect', { name: text }, 'name'],
      ['effect', { target: text }, 'target'],
      ['deliverable', { check: text }, 'check'],
    ];
    for (const [kind, changes, field] of identities) {
      expect(refused(kind, changes, 'RECEIPT_TEXT', field)).toMatchObject({ position });
    }
  });

  it('leaves an emoji, a tab and a new line in a note', () => {
    const { body, sanitised } = parseBody('progress', { ...INPUTS.progress, note: 'ok 🦁\n\tnext' }, CONTEXT);
    expect({ body, sanitised }).toMatchObject({ body: { note: 'ok 🦁\n\tnext' }, sanitised: false });
  });

  it('cuts a long note at a character, however it was cut before, and marks it', () => {
    const byLength = (note: string): { note: string; sanitised: boolean } => {
      const parsed = parseBody('progress', { ...INPUTS.progress, note }, CONTEXT);
      return { note: parsed.body.note ?? '', sanitised: parsed.sanitised };
    };
    const cut = byLength('🦁'.repeat(400).slice(0, 701));
    expect(cut).toEqual({ note: '🦁'.repeat(50), sanitised: true });
    expect(byLength('x'.repeat(NOTE_BYTES)).sanitised).toBe(false);
    expect(byLength('x'.repeat(NOTE_BYTES + 1))).toEqual({ note: 'x'.repeat(NOTE_BYTES), sanitised: true });
    // A NUL is one byte and its replacement three: the cut comes after the replacing.
    expect(utf8Length(byLength('\u0000'.repeat(150)).note)).toBeLessThanOrEqual(NOTE_BYTES);
    expect(byLength(`${'x'.repeat(199)}\ud83e`)).toEqual({ note: 'x'.repeat(199), sanitised: true });
  });
});

describe('B10 a value that looks like a secret', () => {
  it('is refused by field and rule', () => {
    const places: readonly (readonly [ReceiptKind, object, string])[] = [
      ['progress', { note: `sent ${SECRET}` }, 'note'],
      ['progress', { milestone: SECRET }, 'milestone'],
      ['progress', { delta: { ids: ['a', SECRET] } }, 'delta.ids[1]'],
      ['wait', { condition: SECRET }, 'condition'],
      ['wait', { resumeToken: SECRET }, 'resumeToken'],
      ['effect', { operationId: `default/${SECRET}` }, 'operationId'],
      ['effect', { state: 'verified', verdict: { by: 'destination', reference: SECRET } }, 'verdict.reference'],
      ['deliverable', { destination: `https://user:${CANARY}@example.org` }, 'destination'],
    ];
    for (const [kind, changes, field] of places) {
      expect(refused(kind, changes, 'RECEIPT_SECRET', field).message).toMatch(/rule (github-token|url-credentials)/);
    }
  });

  it('is seen beyond where a note is cut', () => {
    refused('progress', { note: `${'x '.repeat(95)}${SECRET}` }, 'RECEIPT_SECRET', 'note');
  });
});

describe('B14 a wait that nobody can end', () => {
  it.each([
    [{ owner: undefined }, 'owner'],
    [{ owner: '   ' }, 'owner'],
    [{ owner: null, deadline: undefined }, 'owner, deadline'],
    [{ deadline: null }, 'deadline'],
    [{ resumeToken: '' }, 'resumeToken'],
    [{ resumeToken: '\t ' }, 'resumeToken'],
    [{ owner: undefined, deadline: undefined, resumeToken: undefined }, 'owner, deadline, resumeToken'],
    [{ owner: '', deadline: 'tomorrow' }, 'owner'],
    [{ deadline: ' ' }, 'deadline'],
  ])('%j lacks %s', (changes, missing) => {
    const input = { ...INPUTS.wait, ...changes };
    expect(refusal(() => parseBody('wait', input, CONTEXT))).toMatchObject({ code: 'WAIT_INCOMPLETE', field: missing });
  });
});

describe('B15 deadlines', () => {
  it.each([
    ['epoch ms', NOW_MS + 1, NOW_MS + 1],
    ['a Date', new Date(NOW_MS + 5000), NOW_MS + 5000],
    ['ISO text in UTC', '2026-03-02T12:00:00Z', NOW_MS + DAY_MS],
    ['ISO text with an offset', '2026-03-02T13:00:00.250+01:00', NOW_MS + DAY_MS + 250],
    ['ISO text without seconds', '2026-03-02T12:00Z', NOW_MS + DAY_MS],
    ['a length of time', '2 days', NOW_MS + 2 * DAY_MS],
    ['a short length of time', '90s', NOW_MS + 90_000],
    ['the horizon itself', NOW_MS + 90 * DAY_MS, NOW_MS + 90 * DAY_MS],
  ])('%s', (_form, deadline, expected) => {
    expect(bodyOf('wait', { deadline })).toMatchObject({ deadlineMs: expected });
  });

  it.each([
    ['now', NOW_MS],
    ['the past', NOW_MS - 1],
    ['no length', '0s'],
    ['a length backwards', '-2 days'],
    ['beyond the horizon', NOW_MS + 90 * DAY_MS + 1],
    ['beyond the horizon as a length', '91 days'],
    ['text without a zone', '2026-03-02T12:00:00'],
    ['a day without a time', '2026-03-02'],
    ['words', 'tomorrow'],
    ['a day that does not exist', '2026-02-30T12:00:00Z'],
    ['a month that does not exist', '2026-13-40T12:00:00Z'],
    ['a number in text', '172800000'],
    ['an unknown unit', '2 fortnights'],
    ['an invalid Date', new Date('x')],
    ['an object', {}],
    ['very long text', `${CANARY} `.repeat(50)],
  ])('%s is refused', (_form, deadline) => {
    refused('wait', { deadline }, 'WAIT_DEADLINE', 'deadline');
  });

  it('keeps to the policy where it says less or more', () => {
    const short = { ...CONTEXT, waitHorizonMs: DAY_MS };
    expect(refusal(() => bodyOf('wait', { deadline: '2 days' }, short))).toMatchObject({
      code: 'WAIT_DEADLINE',
      limit: DAY_MS,
    });
    bodyOf('wait', { deadline: '120 days' }, { ...CONTEXT, waitHorizonMs: 365 * DAY_MS });
  });

  it('takes the stored name as epoch ms, but not beside the other', () => {
    expect(bodyOf('wait', { deadline: undefined, deadlineMs: NOW_MS + 7 })).toMatchObject({ deadlineMs: NOW_MS + 7 });
    refused('wait', { deadlineMs: NOW_MS + 7 }, 'RECEIPT_UNKNOWN_FIELD', 'deadline');
    refused('wait', { deadline: undefined, deadlineMs: '2 days' }, 'RECEIPT_INVALID', 'deadlineMs');
  });

  it('lets a wait end after its deadline', () => {
    expect(bodyOf('wait', { state: 'expired', deadline: NOW_MS - 1 })).toMatchObject({ state: 'expired' });
  });

  it('holds silence to the same horizon', () => {
    expect(bodyOf('progress', { expectBy: '20m' })).toMatchObject({ expectByMs: NOW_MS + 1_200_000 });
    refused('progress', { expectBy: '91 days' }, 'RECEIPT_INVALID', 'expectBy');
    refused('progress', { expectBy: 'soon' }, 'RECEIPT_INVALID', 'expectBy');
  });
});

describe('B16 an effect that is said to have ended', () => {
  it('needs a verdict', () => {
    refused('effect', { state: 'verified' }, 'EFFECT_VERDICT_REQUIRED', 'verdict');
    refused('effect', { state: 'none' }, 'EFFECT_VERDICT_REQUIRED', 'verdict');
    for (const state of ['verified', 'none']) bodyOf('effect', { state, verdict: { by: 'destination' } });
    for (const state of ['attempted', 'unknown']) bodyOf('effect', { state });
  });

  it('needs none where it was never attempted', () => {
    bodyOf('effect', { state: 'none' }, { ...CONTEXT, hasAttempt: () => false });
    const attempted = { ...CONTEXT, hasAttempt: (id: string) => id === INPUTS.effect.operationId };
    expect(refusal(() => bodyOf('effect', { state: 'none' }, attempted))).toMatchObject({
      code: 'EFFECT_VERDICT_REQUIRED',
    });
  });

  it('as a delivery names its deliverable', () => {
    refused('effect', { role: 'delivery' }, 'RECEIPT_INVALID', 'deliverable');
    bodyOf('effect', { role: 'delivery', deliverable: 'report' });
  });

  it('states how long its key is protected', () => {
    expect(bodyOf('effect', { protectedUntil: '24h' })).toMatchObject({ protectedUntilMs: NOW_MS + DAY_MS });
    refused('effect', { protectedUntil: 'for a while' }, 'RECEIPT_INVALID', 'protectedUntil');
  });
});

describe('B19 digests of deliverables', () => {
  it.each([
    ['MD5', '9e107d9d372bb6826bd81d3542a419d6'],
    ['MD5 that says so', 'md5:9e107d9d372bb6826bd81d3542a419d6'],
    ['too short', `sha256:${'ab'.repeat(31)}`],
    ['too long', `sha256:${'ab'.repeat(33)}`],
    ['capitals', `sha256:${'AB'.repeat(32)}`],
    ['without its algorithm', 'ab'.repeat(32)],
    ['a number', 7],
    ['nothing', null],
    ['a canary', CANARY],
  ])('%s', (_what, digest) => {
    refused('deliverable', { subject: { digest } }, 'DELIVERABLE_DIGEST', 'subject.digest');
  });

  it('is asked for only where the check has one and it passed', () => {
    refused('deliverable', { subject: undefined }, 'DELIVERABLE_DIGEST', 'subject.digest');
    refused('deliverable', { subject: { sizeBytes: 7 } }, 'DELIVERABLE_DIGEST', 'subject.digest');
    bodyOf('deliverable', { subject: undefined, result: 'fail', cause: 'missing' });
    bodyOf('deliverable', { subject: undefined, check: 'httpResource' });
  });
});

describe('B20 what counts as a check', () => {
  it.each(['done', 'agent-statement', 'llm-judge', 'sha256', 'filedigest', CANARY])('%s does not', (check) => {
    refused('deliverable', { check }, 'DELIVERABLE_CHECK_REQUIRED', 'check');
  });

  it('where no check is registered, none does', () => {
    const { checks: _checks, ...bare } = CONTEXT;
    expect(refusal(() => bodyOf('deliverable', {}, bare))).toMatchObject({ code: 'DELIVERABLE_CHECK_REQUIRED' });
  });

  it('a judgement is labelled and states its confidence', () => {
    expect(bodyOf('deliverable', { check: 'judged', confidence: 0.93 })).toMatchObject({ confidence: 0.93 });
    refused('deliverable', { check: 'judged' }, 'DELIVERABLE_CHECK_REQUIRED', 'confidence');
    refused('deliverable', { check: 'judged', confidence: 1.01 }, 'RECEIPT_INVALID', 'confidence');
    refused('deliverable', { confidence: 0.9 }, 'RECEIPT_INVALID', 'confidence');
  });
});

describe('B21 a result of something else than what is in force', () => {
  it('is refused by what differs', () => {
    refused('deliverable', { missionFingerprint: CANARY }, 'DELIVERABLE_STALE', 'missionFingerprint');
    refused('deliverable', { revision: '3' }, 'DELIVERABLE_STALE', 'revision');
    const revised = { ...CONTEXT, revision: '3' };
    expect(refusal(() => bodyOf('deliverable', { revision: '2' }, revised))).toMatchObject({
      code: 'DELIVERABLE_STALE',
      field: 'revision',
    });
  });

  it('is taken, and not stored in the body, where it agrees', () => {
    const agreed = { missionFingerprint: 'mission-1', revision: '3' };
    expect(bodyOf('deliverable', agreed, { ...CONTEXT, revision: '3' })).toEqual(INPUTS.deliverable);
  });
});

describe('a reset of counts', () => {
  it('is handed on beside the body', () => {
    const parsed = parseBody('progress', { ...INPUTS.progress, reset: 'source-replaced' }, CONTEXT);
    expect(parsed).toEqual({ body: INPUTS.progress, sanitised: false, reset: 'source-replaced' });
    refused('progress', { reset: 7 }, 'RECEIPT_INVALID', 'reset');
  });
});
