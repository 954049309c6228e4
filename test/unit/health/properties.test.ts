/**
 * What holds of every judgement, whatever the evidence. Where a property has an exception the test names it, and the
 * exception is one the design states: the loss of an emitter's tail cannot be seen.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../health/classify.ts';
import type { EvidenceDocument } from '../../../health/evidence.ts';
import type { Judgement } from '../../../health/judgement.ts';
import { parseEvidence } from '../../../health/parse.ts';
import { judgementSchema } from '../../../health/schemas.ts';
import { REASONS } from '../../../health/verdict.ts';
import { canonicalJson } from '../../../receipts/digest.ts';
import { compareOrder } from '../../../receipts/envelope.ts';
import type { StoredReceipt } from '../../../receipts/envelope.ts';
import { asRow, evidenceOf } from '../../support/evidence.ts';
import { arbitraryEvidence } from './arbitrary.ts';

/** `PROPERTY_RUNS=20` looks twenty times as long. */
const SCALE = Number(process.env['PROPERTY_RUNS'] ?? 1);
const RUNS = { numRuns: 200 * SCALE };
const MANY_RUNS = { numRuns: 600 * SCALE };

const judge = (document: EvidenceDocument, nowMs = document.nowMs): Judgement =>
  classify(document, document.policy, nowMs);
const isGreen = ({ verdict }: Judgement): boolean => verdict === 'working' || verdict === 'healthy';
const outcome = ({ verdict, reason }: Judgement): string => `${verdict ?? 'none'} ${reason}`;
const receiptsOf = (document: EvidenceDocument): readonly StoredReceipt[] => document.receipts ?? [];

/** A permutation that a seed decides, so that a failing run shrinks. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  return [...items]
    .map((item, index) => ({ item, key: Math.sin(seed * 1000 + index * 7919) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** The same value as another writer or a database would keep it: the keys of objects in another order. */
function withKeysReversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withKeysReversed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const reversed = Object.entries(value).reverse();
  return Object.fromEntries(reversed.map(([key, member]) => [key, withKeysReversed(member as unknown)])) as T;
}

describe('a judgement', () => {
  test('is given for every valid document, and is valid itself: no NaN, nothing undefined', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const read = parseEvidence(JSON.parse(JSON.stringify(document)));
        const judgement = judge(read);
        expect(judgementSchema.parse(judgement)).toEqual(judgement);
        expect(JSON.parse(JSON.stringify(judgement))).toEqual(judgement);
      }),
      RUNS,
    );
  });

  test('is the same bytes every time, and leaves the evidence alone', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const before = canonicalJson(document);
        expect(canonicalJson(judge(document))).toBe(canonicalJson(judge(document)));
        expect(canonicalJson(document)).toBe(before);
      }),
      RUNS,
    );
  });

  test('does not depend on the order of anything', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.integer({ min: 1, max: 1_000_000 }), (document, seed) => {
        const mix = <T>(items: readonly T[]): T[] => shuffled(items, seed);
        const { temporal } = document;
        const mixed: EvidenceDocument = {
          ...document,
          receipts: mix(receiptsOf(document)),
          stops: mix(document.stops),
          children: mix(document.children),
          unread: mix(document.unread),
          gaps: mix(document.gaps),
          temporal:
            temporal.source !== 'describe'
              ? temporal
              : {
                  ...temporal,
                  taskQueues: mix(temporal.taskQueues),
                  describe: {
                    ...temporal.describe,
                    pendingActivities: mix(temporal.describe.pendingActivities),
                    pendingChildren: mix(temporal.describe.pendingChildren),
                  },
                },
        };
        expect(canonicalJson(judge(mixed))).toBe(canonicalJson(judge(document)));
        expect(canonicalJson(judge(withKeysReversed(document)))).toBe(canonicalJson(judge(document)));
        const row = asRow(document);
        expect(canonicalJson(judge(withKeysReversed(row)))).toBe(canonicalJson(judge(row)));
      }),
      RUNS,
    );
  });

  test('does not change when receipts come twice', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.array(fc.nat()), (document, picks) => {
        const receipts = receiptsOf(document);
        const again = picks.flatMap((pick) => receipts[pick % Math.max(1, receipts.length)] ?? []);
        const doubled = { ...document, receipts: [...receipts, ...again] };
        expect(canonicalJson(judge(doubled))).toBe(canonicalJson(judge(document)));
      }),
      RUNS,
    );
  });

  test('is the same from the receipts as from the row they fold to', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const own = { ...document, receipts: receiptsOf(document).filter(({ chainId }) => chainId === 'R1') };
        const { findings: _found, ...byReceipts } = judge(own);
        const { findings: _shown, ...byRow } = judge(asRow(own));
        expect(byRow).toEqual(byReceipts);
      }),
      RUNS,
    );
  });

  test('does not change by receipts of other chains, which are only named', () => {
    fc.assert(
      fc.property(arbitraryEvidence, arbitraryEvidence, (document, stranger) => {
        const foreign = receiptsOf(stranger).map((receipt, index) => ({
          ...receipt,
          receiptId: `foreign-${index}`,
          ...(index % 2 === 0 ? { chainId: 'R9' } : { workflowId: 'wf-9' }),
        }));
        const { findings: _before, ...alone } = judge(document);
        const { findings, ...among } = judge({ ...document, receipts: [...receiptsOf(document), ...foreign] });
        expect(among).toEqual(alone);
        const named = JSON.stringify(findings);
        for (const { receiptId } of foreign) expect(named).toContain(`"${receiptId}"`);
      }),
      RUNS,
    );
  });

  test('holds until the moment it names: judged again before, the verdict and the reason are the same', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.double({ min: 0, max: 1, noNaN: true }), (document, share) => {
        const judgement = judge(document);
        const { validUntilMs } = judgement;
        if (validUntilMs !== null) expect(validUntilMs).toBeGreaterThan(document.nowMs);
        const lastMs = (validUntilMs ?? document.nowMs + 400 * 86_400_000) - 1;
        const between = document.nowMs + Math.floor((lastMs - document.nowMs) * share);
        for (const atMs of [document.nowMs + 1, between, lastMs].filter((moment) => moment <= lastMs)) {
          expect(outcome(judge(document, atMs))).toBe(outcome(judgement));
        }
      }),
      MANY_RUNS,
    );
  });

  test('has a reason of its verdict and something decisive, and never a finding that all agrees', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const { verdict, reason, decisive, message, findings } = judge(document);
        expect(findings.map(({ finding }) => finding)).not.toEqual(expect.arrayContaining(['verified']));
        expect(REASONS[verdict ?? 'none']).toContain(reason);
        expect(decisive.length).toBeGreaterThan(0);
        expect(message).not.toBe('');
      }),
      RUNS,
    );
  });
});

describe('missing evidence never makes it better', () => {
  test('a hole in the sequence of a fence, past its grace, is never better than uncertain', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.nat(), (document, pick) => {
        const holed = receiptsOf(document).filter((receipt) => isBeforeAnother(receipt, document));
        const lost = holed[pick % Math.max(1, holed.length)];
        if (lost === undefined || document.contract === null || !isOfNewestFence(lost, document)) return;
        const receipts = receiptsOf(document).filter(({ receiptId }) => receiptId !== lost.receiptId);
        const { verdict, reason } = judge({ ...document, receipts });
        if (verdict === null) expect(['continued', 'unknown-run']).toContain(reason);
        else expect(verdict).toBe('uncertain');
      }),
      RUNS,
    );
  });

  test("losing an emitter's last receipt makes it better only where that receipt was what decided", () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.nat(), (document, pick) => {
        const tails = receiptsOf(document).filter((receipt) => !isBeforeAnother(receipt, document, 0));
        const lost = tails[pick % Math.max(1, tails.length)];
        if (lost === undefined || hasSeveralFences(document) || lost.runId !== document.run.runId) return;
        // A document that names no mission takes that of its first receipt.
        const missions = new Set(receiptsOf(document).map(({ missionFingerprint }) => missionFingerprint));
        if (document.missionFingerprint === null && missions.size > 1) return;
        const before = judge(document);
        const receipts = receiptsOf(document).filter(({ receiptId }) => receiptId !== lost.receiptId);
        const after = judge({ ...document, receipts });
        // Without its only milestone a young run is one that has told nothing yet: it has the start-up grace, and no more.
        if (after.reason === 'starting') return;
        // Without its first sighting a repeated state looks new, once.
        if (receipts.some((receipt) => saysTheSame(receipt, lost))) return;
        if (isGreen(after) && !isGreen(before)) {
          const named = before.decisive.map(({ ref }) => ref);
          // The first receipt also dates the chain, from which its start-up grace and its budget count.
          const dates = receipts.every(({ recordedAtMs }) => recordedAtMs >= lost.recordedAtMs) ? DATED_BY_IT : [];
          expect([named, [...aliasesOf(lost), ...dates]]).toSatisfy(([refs, aliases]: [string[], string[]]) =>
            aliases.some((alias) => refs.includes(alias)),
          );
        }
      }),
      MANY_RUNS,
    );
  });

  test('a time that lies ahead of its storing counts as the time of storing', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.integer({ min: 0, max: 10 ** 9 }), (document, aheadMs) => {
        const at = (extraMs: number): EvidenceDocument => ({
          ...document,
          receipts: receiptsOf(document).map((receipt) => ({
            ...receipt,
            occurredAtMs: receipt.recordedAtMs + extraMs,
          })),
        });
        expect(outcome(judge(at(aheadMs)))).toBe(outcome(judge(at(0))));
      }),
      RUNS,
    );
  });

  test('a heartbeat or a milestone ahead of now is no younger than one of now', () => {
    fc.assert(
      fc.property(arbitraryEvidence, fc.integer({ min: 1, max: 10 ** 9 }), (document, aheadMs) => {
        expect(outcome(judge(withHeartbeats(document, document.nowMs + aheadMs)))).toBe(
          outcome(judge(withHeartbeats(document, document.nowMs))),
        );
      }),
      RUNS,
    );
  });
});

/** True where a later receipt of the same emitter, fence and attempt was stored at least the grace ago. */
function isBeforeAnother(
  receipt: StoredReceipt,
  document: EvidenceDocument,
  graceMs = document.policy.gapGraceMs,
): boolean {
  return receiptsOf(document).some(
    (other) =>
      isOwn(other, document) &&
      isOwn(receipt, document) &&
      other.receiptId !== receipt.receiptId &&
      other.runId === receipt.runId &&
      other.emitter === receipt.emitter &&
      other.fence === receipt.fence &&
      other.attempt === receipt.attempt &&
      compareOrder(other, receipt) > 0 &&
      other.recordedAtMs <= document.nowMs - graceMs,
  );
}

/** A chain remembers the holes of each emitter's newest fence. */
function isOfNewestFence(receipt: StoredReceipt, document: EvidenceDocument): boolean {
  return receiptsOf(document).every(
    (other) =>
      other.runId !== receipt.runId ||
      other.emitter !== receipt.emitter ||
      compareOrder({ ...other, sequence: 0 }, { ...receipt, sequence: 0 }) <= 0,
  );
}

function isOwn({ chainId, workflowId }: StoredReceipt, { run }: EvidenceDocument): boolean {
  return chainId === run.chainId && workflowId === run.workflowId;
}

/** A lost receipt of a newer fence would let those of an older one count that came after it. */
function hasSeveralFences(document: EvidenceDocument): boolean {
  const fences = new Set(
    receiptsOf(document).map(({ runId, emitter, fence, attempt }) => [runId, emitter, fence, attempt].join('/')),
  );
  const emitters = new Set(receiptsOf(document).map(({ runId, emitter }) => `${runId}/${emitter}`));
  return fences.size > emitters.size;
}

function saysTheSame(a: StoredReceipt, b: StoredReceipt): boolean {
  return (
    a.kind === 'progress' &&
    b.kind === 'progress' &&
    a.body.milestone === b.body.milestone &&
    a.body.digest === b.body.digest
  );
}

/** References of what is counted from the chain's first receipt. */
const DATED_BY_IT = ['contract', 'describe'];

/** Under which references a judgement may name what a receipt says. */
function aliasesOf(receipt: StoredReceipt): string[] {
  return [...kindAliasesOf(receipt), `gap:${receipt.runId}/${receipt.emitter}`];
}

function kindAliasesOf(receipt: StoredReceipt): string[] {
  switch (receipt.kind) {
    case 'progress':
      return [receipt.receiptId, `milestone:${receipt.body.milestone}`];
    case 'wait':
      return [receipt.receiptId, `wait:${receipt.body.resumeToken ?? ''}`];
    case 'effect':
      return [receipt.receiptId, `effect:${receipt.body.operationId}`];
    case 'deliverable':
      return [receipt.receiptId, `deliverable:${receipt.body.name}`];
  }
}

function withHeartbeats(document: EvidenceDocument, atMs: number): EvidenceDocument {
  const { temporal } = document;
  if (temporal.source !== 'describe') return document;
  const pendingActivities = temporal.describe.pendingActivities.map((activity) => ({
    ...activity,
    lastHeartbeatAtMs: activity.lastHeartbeatAtMs === null ? null : atMs,
  }));
  return { ...document, temporal: { ...temporal, describe: { ...temporal.describe, pendingActivities } } };
}

describe('what a verdict implies', () => {
  test('healthy: completed, no successor, no open effect, and every due deliverable passed its own check', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        if (judge(document).verdict !== 'healthy') return;
        const { temporal, contract } = document;
        const status = temporal.source === 'describe' ? temporal.describe.status : temporal.listed?.status;
        expect(status).toBe('COMPLETED');
        if (temporal.source === 'describe') expect(temporal.describe.resetRunId).toBeNull();
        for (const [operationId, states] of effectStates(document)) {
          expect(['verified', 'none'], operationId).toContain(states.at(-1));
        }
        for (const [name, due] of Object.entries(contract?.deliverables ?? {})) {
          const passed = receiptsOf(document).some(
            (receipt) =>
              receipt.kind === 'deliverable' &&
              isOwn(receipt, document) &&
              receipt.body.name === name &&
              receipt.body.result === 'pass' &&
              receipt.body.destination === due.destination &&
              (due.check === null ? receipt.body.confidence !== undefined : receipt.body.check === due.check.name),
          );
          expect(passed, name).toBe(true);
        }
      }),
      MANY_RUNS,
    );
  });

  test('working: never by a heartbeat alone, never paused without a wait', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const { verdict, reason } = judge(document);
        if (verdict !== 'working') return;
        expect(REASONS.working).toContain(reason);
        if (reason === 'starting' || reason === 'child-working') return;
        const said = receiptsOf(document).filter(
          (receipt) => isOwn(receipt, document) && (receipt.kind === 'progress' || receipt.kind === 'wait'),
        );
        expect(said).not.toEqual([]);
        expect(outcome(judge(withHeartbeats(document, 1)))).not.toBe('stuck milestone-stale');
      }),
      MANY_RUNS,
    );
  });

  test('waiting: an owner, a deadline ahead and a token; or a retry that sleeps; or a child that waits', () => {
    fc.assert(
      fc.property(arbitraryEvidence, (document) => {
        const { verdict, reason } = judge(document);
        if (verdict !== 'waiting' || reason !== 'wait') return;
        const excuses = receiptsOf(document).some(({ kind, body, ...receipt }) => {
          if (kind !== 'wait') return false;
          const graceMs = document.policy.resumeGraceMs;
          if (body.state === 'resolved') return receipt.recordedAtMs > document.nowMs - graceMs;
          const complete = body.owner !== null && (body.resumeToken ?? '') !== '';
          return body.state === 'open' && complete && (body.deadlineMs ?? 0) > document.nowMs;
        });
        expect(excuses).toBe(true);
      }),
      MANY_RUNS,
    );
  });
});

/** The states that the receipts of each operation claim with somebody's verdict, in order. */
function effectStates(document: EvidenceDocument): Map<string, string[]> {
  const states = new Map<string, string[]>();
  const effects = receiptsOf(document).filter((receipt) => receipt.kind === 'effect' && isOwn(receipt, document));
  for (const receipt of [...effects].sort(compareOrder)) {
    if (receipt.kind !== 'effect') continue;
    const { operationId, state, verdict } = receipt.body;
    const says = verdict === undefined && state !== 'unknown' ? 'attempted' : state;
    states.set(operationId, [...(states.get(operationId) ?? []), says]);
  }
  return states;
}

test('the emptiest evidence is judged', () => {
  const empty = evidenceOf({ temporal: { unread: 'UNAVAILABLE' }, receipts: null, contract: null, storeAsked: false });
  expect(outcome(judge(empty))).toBe('none not-instrumented');
  const all = ['store', 'describe', 'close-event', 'task-queue', 'contract', 'children', 'receipts'] as const;
  const unread = all.map((source) => ({ source, code: 'UNAVAILABLE' }));
  expect(outcome(judge({ ...empty, storeAsked: true, unread }))).toBe('uncertain evidence-unread');
});
