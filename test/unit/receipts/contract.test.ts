import { describe, expect, it } from 'vitest';
import { defineContract } from '../../../receipts/contract.ts';
import type { Contract } from '../../../receipts/contract.ts';
import { parseContract, parseJsonText } from '../../../receipts/parse.ts';
import { refusal } from './bodies.ts';

const { contract: CONTRACT } = defineContract({
  workflowType: 'sourceCheck',
  milestones: { 'sources-checked': { fresh: '10m' }, extracted: { activityTypes: ['extract'] } },
  effects: { charge: { due: 'once', class: 'keyed', levels: ['accepted', 'settled'], window: '2m', owner: 'billing' } },
  deliverables: {
    report: {
      destination: 'file',
      check: {
        name: 'fileDigest',
        options: { coverage: true, nested: { deep: [1, { deeper: true }] } },
        run: () => Promise.resolve({ result: 'unread' }),
      },
      coverage: true,
    },
    summary: { destination: 'mail', noDeterministicCheck: 'prose for people', transports: ['mail'] },
  },
  budgets: { run: '2h', attempts: 5, reconcile: '2m', verify: '1m' },
});

/** The contract with one member at a path replaced. */
function spoiled(path: readonly string[], value: unknown): unknown {
  const copy = structuredClone(CONTRACT) as unknown as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  let at = copy;
  for (const part of path.slice(0, -1)) at = at[part] as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(at, last);
  else at[last] = value;
  return copy;
}

describe('defineContract', () => {
  it.each(['', 'x'.repeat(101), 'soon', -1, Number.NaN, '-2 days', {}])('refuses %j as a length of time', (run) => {
    const definition = { workflowType: 'w', budgets: { run: run as '1h' } };
    expect(refusal(() => defineContract(definition))).toMatchObject({ code: 'CONTRACT_INVALID', field: 'budgets.run' });
  });
});

describe('parseContract', () => {
  it('takes what defineContract makes, also through JSON', () => {
    expect(parseContract(CONTRACT)).toEqual(CONTRACT);
    expect(parseContract(JSON.parse(JSON.stringify(CONTRACT)))).toEqual(CONTRACT);
    const empty: Contract = { ...CONTRACT, milestones: {}, effects: {}, deliverables: {}, budgets: {} };
    expect(parseContract(empty)).toEqual(empty);
  });

  it.each([
    [['workflowType'], undefined, 'workflowType'],
    [['workflowType'], ' ', 'workflowType'],
    [['schemaVersion'], 2, 'schemaVersion'],
    [['owner'], 'CANARY', 'owner'],
    [['milestones', 'sources-checked', 'freshMs'], '10m', 'milestones.sources-checked.freshMs'],
    [['milestones', 'sources-checked', 'freshMs'], -1, 'milestones.sources-checked.freshMs'],
    [['milestones', 'sources-checked', 'freshMs'], Infinity, 'milestones.sources-checked.freshMs'],
    [['effects', 'charge', 'due'], 'CANARY', 'effects.charge.due'],
    [['effects', 'charge', 'levels'], [], 'effects.charge.levels'],
    [['deliverables', 'report', 'check'], undefined, 'deliverables.report.check'],
    [['deliverables', 'report', 'check', 'name'], '', 'deliverables.report.check.name'],
    [['deliverables', 'summary', 'noDeterministicCheck'], undefined, 'deliverables.summary.noDeterministicCheck'],
    [['deliverables', 'summary', 'noDeterministicCheck'], '  ', 'deliverables.summary.noDeterministicCheck'],
    [['deliverables', 'report', 'destination'], 'fi\u0000le', 'deliverables.report.destination'],
    [['effects', 'charge', 'owner'], 'https://u:CANARY@h', 'effects.charge.owner'],
    [['budgets', 'attempts'], 0, 'budgets.attempts'],
    [['budgets', 'tokens'], 5, 'budgets.tokens'],
    [['effects', 're\u202ename'], { due: 'any' }, 'name[1]'],
    [['effects', 'toString'], { due: 'any' }, 'effects.toString'],
  ])('refuses %j = %j', (path, value, field) => {
    const error = refusal(() => parseContract(spoiled(path, value)));
    expect(error).toMatchObject({ code: 'CONTRACT_INVALID', field });
    expect(JSON.stringify(error)).not.toContain('CANARY');
  });

  it('refuses what is no contract, a prototype and one of megabytes', () => {
    for (const value of [null, [], 'x', 7, undefined]) {
      expect(refusal(() => parseContract(value))).toMatchObject({ code: 'CONTRACT_INVALID' });
    }
    const json = JSON.stringify(CONTRACT).replace('"milestones":{', '"milestones":{"__proto__":{},');
    expect(refusal(() => parseContract(parseJsonText(json)))).toMatchObject({ code: 'CONTRACT_INVALID' });
    expect(refusal(() => parseContract({ ...CONTRACT, workflowType: 'x'.repeat(70_000) }))).toMatchObject({
      code: 'CONTRACT_INVALID',
      limit: 65_536,
    });
  });
});
