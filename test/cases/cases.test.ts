import { describe, expect, test } from 'vitest';
import { classify } from '../../health/classify.ts';
import { ALL_REASONS } from '../../health/verdict.ts';
import { parseEvidence } from '../../health/parse.ts';
import { asRow, evidenceOf } from '../support/evidence.ts';
import { caseFiles, readCases } from './case-file.ts';
import { disagreements } from './matching.ts';

const PUBLIC = caseFiles('public/');
const REASONS = caseFiles('reasons/');
const FILES = ['six-cases.json', ...PUBLIC, ...REASONS];

for (const file of FILES) {
  describe(file, () => {
    for (const { name, given, expected } of readCases(file)) {
      const document = evidenceOf(given);
      const judgement = classify(document, document.policy, document.nowMs);

      test(name, () => {
        const differences = disagreements(judgement, expected, document.nowMs);
        expect(differences, JSON.stringify(judgement, null, 1)).toEqual([]);
      });

      test(`${name} (a valid document, and unchanged by reading it)`, () => {
        expect(parseEvidence(JSON.parse(JSON.stringify(document)))).toEqual(document);
      });

      test(`${name} (judged from the chain's row)`, () => {
        const row = asRow(document);
        const { verdict, reason, safeAction } = classify(row, row.policy, row.nowMs);
        expect({ verdict, reason, safeAction }).toEqual({
          verdict: judgement.verdict,
          reason: judgement.reason,
          safeAction: judgement.safeAction,
        });
      });
    }
  });
}

describe('every reason', () => {
  test('has a file of its own', () => {
    expect([...REASONS].sort()).toEqual(ALL_REASONS.map((reason) => `reasons/${reason}.json`).sort());
  });

  test.each(ALL_REASONS)('%s: a case in which it decides, and a near miss in which it does not', (reason) => {
    const decided = readCases(`reasons/${reason}.json`).map(({ given }) => {
      const document = evidenceOf(given);
      return classify(document, document.policy, document.nowMs).reason;
    });
    expect(decided).toContain(reason);
    expect(decided.filter((other) => other !== reason)).not.toEqual([]);
  });
});

test('the six-case fixture covers the six verdicts', () => {
  expect(readCases('six-cases.json').map(({ expected }) => expected.verdict)).toEqual([
    'working',
    'waiting',
    'stuck',
    'uncertain',
    'false-success',
    'healthy',
  ]);
});
