/**
 * What could not be read never makes a verdict better: every source is hidden in turn, from arbitrary evidence. The loss of
 * receipts, which no source reports, is in `properties.test.ts`.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../health/classify.ts';
import type { EvidenceDocument, EvidenceSource } from '../../../health/evidence.ts';
import type { Judgement } from '../../../health/judgement.ts';
import type { Verdict } from '../../../health/verdict.ts';
import { evidenceOf } from '../../support/evidence.ts';
import { arbitraryEvidence } from './arbitrary.ts';

/** `PROPERTY_RUNS=20` looks twenty times as long. */
const MANY_RUNS = { numRuns: 600 * Number(process.env['PROPERTY_RUNS'] ?? 1) };

const judge = (document: EvidenceDocument): Judgement => classify(document, document.policy, document.nowMs);
const outcome = ({ verdict, reason }: Judgement): string => `${verdict ?? 'none'} ${reason}`;

const UNREAD = 'UNAVAILABLE';

/** The document without what one source told, which is marked as unread. */
type Blinding = (document: EvidenceDocument) => EvidenceDocument;
type Described = Extract<EvidenceDocument['temporal'], { source: 'describe' }>;

const unreadAs =
  (source: EvidenceSource, without: Blinding): Blinding =>
  (document) => ({ ...without(document), unread: [...document.unread, { source, code: UNREAD }] });
const ofDescribed =
  (change: (temporal: Described, document: EvidenceDocument) => EvidenceDocument['temporal']): Blinding =>
  (document) =>
    document.temporal.source === 'describe' ? { ...document, temporal: change(document.temporal, document) } : document;
/** One of several, by a number that the document decides. */
const without = <T>(items: readonly T[], { receipts }: EvidenceDocument): T[] => {
  const left = (receipts?.length ?? 0) % Math.max(1, items.length);
  return items.filter((_item, index) => index !== left);
};

/** Every source of evidence, and how it looks when it could not be read. */
const UNREADABLE: Readonly<Record<string, Blinding>> = {
  store: unreadAs('store', (document) => ({
    ...document,
    ...{ chain: null, receipts: null, stops: [], plan: null, gaps: [], contract: null },
  })),
  receipts: unreadAs('receipts', (document) => ({ ...document, receipts: null })),
  contract: unreadAs('contract', (document) => ({ ...document, contract: null })),
  'all children': unreadAs('children', (document) => ({ ...document, children: [] })),
  'one child': unreadAs('children', (document) => ({ ...document, children: without(document.children, document) })),
  'a child without its verdict': unreadAs('children', (document) => ({
    ...document,
    children: document.children.map((child) => ({ ...child, verdict: null, reason: null })),
  })),
  'all task queues': unreadAs(
    'task-queue',
    ofDescribed((temporal) => ({ ...temporal, taskQueues: [] })),
  ),
  'one task queue': unreadAs(
    'task-queue',
    ofDescribed((temporal, document) => ({ ...temporal, taskQueues: without(temporal.taskQueues, document) })),
  ),
  Describe: (document) => ({
    ...document,
    temporal: { source: 'unread', code: UNREAD, listed: document.temporal.listed },
  }),
  // A list that could not be read is Temporal unread; beside an answer of Describe it is nothing.
  'the list': (document) => ({
    ...document,
    temporal:
      document.temporal.source === 'not-asked'
        ? { source: 'unread', code: UNREAD, listed: null }
        : { ...document.temporal, listed: null },
  }),
  // Only a closed run has a close event to ask for.
  'the close event': unreadAs(
    'close-event',
    ofDescribed((temporal) => ({
      ...temporal,
      closeEvent: temporal.describe.closedAtMs === null ? temporal.closeEvent : null,
    })),
  ),
};

/** From the worst to the best: what is not known may move a verdict to the left only. */
const TOWARDS_GREEN: readonly (Verdict | null)[] = [
  'uncertain',
  'false-success',
  'stuck',
  null,
  'waiting',
  'working',
  'healthy',
];

describe('missing evidence never makes it better', () => {
  test.each(Object.entries(UNREADABLE))('%s unread: no verdict is better than before', (_source, blinded) => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const [seen, blind] = [judge(document), judge(blinded(document))];
        // A type without a contract is counted apart and never green, whatever else is known of it or not.
        if (blind.reason === 'not-instrumented') return;
        expect(TOWARDS_GREEN.indexOf(blind.verdict), `${outcome(seen)} became ${outcome(blind)}`).toBeLessThanOrEqual(
          TOWARDS_GREEN.indexOf(seen.verdict),
        );
      }),
      MANY_RUNS,
    );
  });

  test.each(['describe', 'task-queue', 'children', 'close-event'] as const)('%s unread is shown', (source) => {
    const temporal = source === 'describe' ? ({ unread: UNREAD } as const) : undefined;
    const unread = source === 'describe' ? [] : [{ source }];
    const document = evidenceOf({ contract: null, unread, ...(temporal ? { temporal } : {}) });
    const { verdict, findings } = judge(document);
    expect(verdict).toBeNull();
    expect(findings.find(({ finding }) => finding === 'unread')?.facts.map(({ ref }) => ref)).toEqual([source]);
  });

  test('Describe is shown once where the document names it twice', () => {
    const document = evidenceOf({ temporal: { unread: UNREAD }, unread: [{ source: 'describe' }] });
    const shown = judge(document).findings.find(({ finding }) => finding === 'unread');
    expect(shown?.facts.map(({ ref }) => ref)).toEqual(['describe']);
  });
});
