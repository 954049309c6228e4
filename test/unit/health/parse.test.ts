import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import { renderSchemas } from '../../../bin/dev/schemas.ts';
import { classify } from '../../../health/classify.ts';
import type { EvidenceDocument } from '../../../health/evidence.ts';
import type { Judgement } from '../../../health/judgement.ts';
import { parseEvidence } from '../../../health/parse.ts';
import type { evidenceSchema, judgementSchema, policySchema } from '../../../health/parse.ts';
import { DEFAULT_POLICY } from '../../../health/policy.ts';
import type { Policy } from '../../../health/policy.ts';
import { parseJsonText } from '../../../receipts/parse.ts';
import { asRow, evidenceOf } from '../../support/evidence.ts';

const FULL = evidenceOf({
  activities: [{ id: 'a1', started: '-2m', heartbeat: '-1s', failure: 'HTTP503' }],
  workflowTask: {},
  queues: [{ lastPoll: null }],
  children: [{ workflowId: 'wf-c', verdict: 'working' }],
  stops: [{ stop: 's1', state: 'requested', at: '-1s' }],
  plan: { units: 2, committed: 1, failed: 0, unclaimed: 1 },
  unread: [{ source: 'task-queue' }],
  gaps: [{ from: '-1h', until: '-50m' }],
  receipts: [
    { progress: 'p1', at: '-3m' },
    { wait: 'w1', at: '-2m' },
    { effect: 'e1', op: 'pay:1', state: 'verified', at: '-1m' },
    { deliverable: 'd1', at: '-30s' },
  ],
});

type Json = Record<string, unknown>;

/** Schemas make mutable types; nothing else may differ. */
type Mutable<T> = T extends string | number | boolean | null | undefined
  ? T
  : { -readonly [K in keyof T]: Mutable<T[K]> };

/** The full document with one member replaced, by its dotted path; `undefined` takes it away. */
function spoiled(path: string, value: unknown, document: EvidenceDocument = FULL): unknown {
  const copy = structuredClone(document) as unknown as Json;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce<Json>((at, name) => at[name] as Json, copy);
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
  return copy;
}

describe('a valid document', () => {
  test('is read as it is, with receipts and with the row they fold to', () => {
    expect(parseEvidence(FULL)).toEqual(FULL);
    expect(parseEvidence(asRow(FULL))).toEqual(asRow(FULL));
  });

  test('may come from a namespace without a store, of a run that nobody could read', () => {
    const blind = evidenceOf({
      temporal: { unread: 'UNAVAILABLE' },
      receipts: null,
      contract: null,
      storeAsked: false,
    });
    const unread = { ...blind, run: { ...blind.run, runId: '', chainId: '', workflowType: '' } };
    expect(parseEvidence(unread)).toEqual(unread);
  });

  test('may name the same receipt twice', () => {
    const twice = { ...FULL, receipts: [...(FULL.receipts ?? []), ...(FULL.receipts ?? [])] };
    expect(parseEvidence(twice)).toEqual(twice);
  });

  test('keeps what people wrote readable: a control character in a reason is replaced', () => {
    const document = evidenceOf({ status: 'PAUSED', paused: { by: 'ops', reason: 'night\u0007ly' } });
    expect(JSON.stringify(parseEvidence(document))).toContain('night\ufffdly');
  });
});

describe('refused with EVIDENCE_INVALID and the field', () => {
  test.each([
    ['an unknown field', 'verdict', 'healthy', 'verdict'],
    ['an unknown field inside', 'temporal.describe.memo', {}, 'temporal.describe.memo'],
    ['a missing field', 'policy', undefined, 'policy'],
    ['a version of another time', 'schemaVersion', 2, 'schemaVersion'],
    ['a number as text', 'nowMs', '1780315200000', 'nowMs'],
    ['a fraction of a millisecond', 'nowMs', 1.5, 'nowMs'],
    ['a time before 1970', 'temporal.describe.startedAtMs', 0, 'temporal.describe.startedAtMs'],
    ['minus zero', 'policy.skewMs', -0, 'policy.skewMs'],
    ['infinity', 'policy.skewMs', Infinity, 'policy.skewMs'],
    ['not a number', 'policy.skewMs', NaN, 'policy.skewMs'],
    ['a negative length', 'policy.skewMs', -1, 'policy.skewMs'],
    ['a status that is none', 'temporal.describe.status', 'UNSPECIFIED', 'temporal.describe.status'],
    ['a source that is none', 'unread', [{ source: 'gossip', code: 'X' }], 'unread[0].source'],
    ['a receipt of a fifth kind', 'receipts.0.kind', 'rumour', 'receipts[0].kind'],
    ['an attempt before the first', 'receipts.0.attempt', 0, 'receipts[0].attempt'],
    ['a blank identity', 'run.workflowId', ' ', 'run.workflowId'],
    ['an identity with a control character', 'run.workflowId', 'wf\u00001', 'run.workflowId'],
    ['a name that every object has', 'receipts.0.body.milestone', 'constructor', 'receipts[0].body.milestone'],
    ['not a document', 'temporal', [], 'temporal'],
  ])('%s', (_name, path, value, field) => {
    expect(() => parseEvidence(spoiled(path, value))).toThrow(
      expect.objectContaining({ code: 'EVIDENCE_INVALID', field }),
    );
  });

  test.each([null, 'text', 7, [], undefined])('no object at all: %j', (value) => {
    expect(() => parseEvidence(value)).toThrow(expect.objectContaining({ code: 'EVIDENCE_INVALID' }));
  });

  test('keys that would reach the prototype', () => {
    const text = JSON.stringify(FULL).replace('"policy":{', '"policy":{"__proto__":{},');
    expect(() => parseEvidence(parseJsonText(text))).toThrow(expect.objectContaining({ code: 'EVIDENCE_INVALID' }));
  });

  test('nesting without end', () => {
    const endless: Json = {};
    endless['contract'] = endless;
    expect(() => parseEvidence({ ...FULL, contract: endless })).toThrow(
      expect.objectContaining({ code: 'EVIDENCE_INVALID' }),
    );
  });

  test('the value itself is never in the message', () => {
    const secret = 'hunter2-hunter2';
    for (const path of ['nowMs', 'temporal', 'policy.retry', 'receipts.0.body.milestone.x']) {
      const base = path.startsWith('receipts')
        ? spoiled('receipts.0.body.milestone', { x: secret })
        : spoiled(path, secret);
      const error: unknown = (() => {
        try {
          return parseEvidence(base);
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toMatchObject({ code: 'EVIDENCE_INVALID' });
      expect(`${JSON.stringify(error)} ${String(error)}`).not.toContain(secret);
    }
  });
});

describe('refused because it could be judged in two ways', () => {
  const describe_ = FULL.temporal.source === 'describe' ? FULL.temporal.describe : null;
  const [receipt] = FULL.receipts ?? [];

  test.each([
    ['row and receipts', { ...asRow(FULL), receipts: FULL.receipts }, 'receipts'],
    ['two states of one stop', { ...FULL, stops: [...FULL.stops, ...FULL.stops] }, 'stops[1]'],
    ['two verdicts on one child', { ...FULL, children: [...FULL.children, ...FULL.children] }, 'children[1]'],
    [
      'two states of one activity',
      spoiled('temporal.describe.pendingActivities', [
        ...(describe_?.pendingActivities ?? []),
        ...(describe_?.pendingActivities ?? []),
      ]),
      'temporal.describe.pendingActivities[1]',
    ],
    [
      'one receipt id for two receipts',
      { ...FULL, receipts: [...(FULL.receipts ?? []), { ...receipt, occurredAtMs: 1 }] },
      'receipts[4].receiptId',
    ],
  ])('%s', (_name, document, field) => {
    expect(() => parseEvidence(document)).toThrow(expect.objectContaining({ code: 'EVIDENCE_INVALID', field }));
  });
});

describe('the published schemas', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const [evidence, policy, judgement] = ['evidence', 'policy', 'judgement'].map((name): ValidateFunction =>
    ajv.compile(JSON.parse(renderSchemas().get(`${name}.v1.json`) ?? '') as object),
  ) as [ValidateFunction, ValidateFunction, ValidateFunction];

  test('take what the code takes', () => {
    for (const document of [FULL, asRow(FULL)]) expect(evidence(document), JSON.stringify(evidence.errors)).toBe(true);
    expect(policy(DEFAULT_POLICY)).toBe(true);
    expect(judgement(classify(FULL, FULL.policy, FULL.nowMs))).toBe(true);
  });

  test('refuse what it refuses', () => {
    expect(evidence(spoiled('verdict', 'healthy'))).toBe(false);
    expect(evidence(spoiled('temporal.describe.startedAtMs', 0))).toBe(false);
    expect(evidence(spoiled('policy', undefined))).toBe(false);
  });

  test('are the types', () => {
    expectTypeOf<Mutable<z.output<typeof evidenceSchema>>>().toEqualTypeOf<Mutable<EvidenceDocument>>();
    expectTypeOf<Mutable<z.output<typeof policySchema>>>().toEqualTypeOf<Mutable<Policy>>();
    expectTypeOf<Mutable<z.output<typeof judgementSchema>>>().toEqualTypeOf<Mutable<Judgement>>();
  });
});
