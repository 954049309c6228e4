/**
 * The fold: receipts in, chain state out. Pure. `foldChain` takes the receipts of one chain in any order and sorts them by
 * when the store took them; `foldReceipt` adds one. The Postgres store's SQL does the same to its chain row.
 */
import { compareOrder, effectiveAtMs, orderKey } from './envelope.ts';
import type { ReceiptOf, RunIdentity, StoredReceipt } from './envelope.ts';
import { digestKey } from './digest.ts';
import type { WaitState } from './receipt.ts';
import {
  effectState,
  EMPTY_MISSION,
  EMPTY_STATE,
  isContradicted,
  missionKey,
  REMEMBERED_DIGESTS,
  REMEMBERED_EFFECTS,
  REMEMBERED_LATE,
} from './state.ts';
import type {
  ChainRow,
  ChainState,
  DeliverableEntry,
  EffectEntry,
  EffectMark,
  MilestoneState,
  MissionState,
  SeenDigest,
  WaitEntry,
} from './state.ts';

/** What is known of one emitter: its newest fence, and how many of that fence's receipts came. */
export interface EmitterState {
  readonly fence: number;
  readonly attempt: number;
  readonly highest: number;
  readonly received: number;
  readonly gapSinceMs: number | null;
}

/** A chain in the middle of a fold: the row, and beside it what the store keeps in tables of its own. */
export interface Folding {
  readonly row: ChainRow;
  readonly emitters: Readonly<Record<string, EmitterState>>;
  /** Every wait ever opened, by its key in the row: a late `open` of a closed wait must not open it again. */
  readonly waits: Readonly<Record<string, WaitEntry>>;
  readonly effects: Readonly<Record<string, EffectEntry>>;
}

/** A wait's states in the order of its life; the furthest one wins whatever arrives when. */
const WAIT_LIFE: Readonly<Record<WaitState, number>> = {
  open: 0,
  expired: 1,
  resolved: 2,
  withdrawn: 3,
  superseded: 4,
  consumed: 5,
};

/** Waits in these states still matter to a verdict and stay in the row. */
export const WAITS_KEPT: readonly WaitState[] = ['open', 'expired', 'resolved'];

export function startFold(first: StoredReceipt, contractDigest: string | null): Folding {
  const { clusterId, namespace, workflowId, runId, chainId, workflowType, runStartedAtMs } = first;
  const row: ChainRow = {
    ...({ clusterId, namespace, workflowId, runId, chainId, workflowType } satisfies RunIdentity),
    runStartedAtMs,
    contractDigest,
    missionFingerprint: first.missionFingerprint,
    receiptCount: 0,
    firstReceiptAtMs: first.recordedAtMs,
    lastReceiptAtMs: first.recordedAtMs,
    evidenceVersion: 0,
    state: EMPTY_STATE,
  };
  return { row, emitters: {}, waits: {}, effects: {} };
}

/** Folds the receipts of one chain, each id once, in the order in which the store took them. Empty input folds to null. */
export function foldChain(receipts: readonly StoredReceipt[], contractDigest: string | null): ChainRow | null {
  const known = new Set<string>();
  const inStoreOrder = [...receipts].sort(
    (a, b) => a.recordedAtMs - b.recordedAtMs || compareOrder(a, b) || (a.receiptId < b.receiptId ? -1 : 1),
  );
  let folding: Folding | null = null;
  for (const receipt of inStoreOrder) {
    if (known.has(receipt.receiptId)) continue;
    known.add(receipt.receiptId);
    folding = foldReceipt(folding ?? startFold(receipt, contractDigest), receipt);
  }
  return folding?.row ?? null;
}

/** Adds one receipt that the store has not seen before. */
export function foldReceipt(folding: Folding, receipt: StoredReceipt): Folding {
  const emitterKey = `${receipt.runId}/${receipt.emitter}`;
  const before = folding.emitters[emitterKey];
  const late = before !== undefined && compareFence(receipt, before) < 0;
  const emitter = late ? before : nextEmitter(before, receipt);
  const counted: Folding = {
    ...folding,
    emitters: { ...folding.emitters, [emitterKey]: emitter },
    row: countReceipt(folding.row, receipt, emitterKey, emitter, late),
  };
  // A real effect stays real whatever its fence; everything else of a replaced attempt is kept as late and changes nothing.
  if (receipt.kind === 'effect') return foldEffect(counted, receipt);
  if (late) return counted;
  if (receipt.kind === 'progress') return inMission(counted, receipt, (mission) => foldProgress(mission, receipt));
  if (receipt.kind === 'deliverable')
    return inMission(counted, receipt, (mission) => foldDeliverable(mission, receipt));
  return foldWait(counted, receipt);
}

function compareFence(
  receipt: { fence: number; attempt: number },
  emitter: { fence: number; attempt: number },
): number {
  return receipt.fence - emitter.fence || receipt.attempt - emitter.attempt;
}

function nextEmitter(before: EmitterState | undefined, receipt: StoredReceipt): EmitterState {
  const { fence, attempt, sequence, recordedAtMs } = receipt;
  const sameFence = before !== undefined && compareFence(receipt, before) === 0;
  const highest = sameFence ? Math.max(before.highest, sequence) : sequence;
  const received = sameFence ? before.received + 1 : 1;
  const whole = received >= highest;
  return {
    fence,
    attempt,
    highest,
    received,
    gapSinceMs: whole ? null : ((sameFence ? before.gapSinceMs : null) ?? recordedAtMs),
  };
}

function countReceipt(
  row: ChainRow,
  receipt: StoredReceipt,
  emitterKey: string,
  emitter: EmitterState,
  late: boolean,
): ChainRow {
  const { [emitterKey]: _closed, ...otherGaps } = row.state.emitterGaps;
  const emitterGaps =
    emitter.gapSinceMs === null
      ? otherGaps
      : {
          ...otherGaps,
          [emitterKey]: {
            fence: emitter.fence,
            attempt: emitter.attempt,
            missing: emitter.highest - emitter.received,
            sinceMs: emitter.gapSinceMs,
          },
        };
  const lateReceipts = late
    ? {
        count: row.state.late.count + 1,
        receiptIds: [...row.state.late.receiptIds, receipt.receiptId].slice(-REMEMBERED_LATE),
      }
    : row.state.late;
  const newer = receipt.runStartedAtMs > row.runStartedAtMs;
  return {
    ...row,
    runId: newer ? receipt.runId : row.runId,
    runStartedAtMs: Math.max(row.runStartedAtMs, receipt.runStartedAtMs),
    receiptCount: row.receiptCount + 1,
    lastReceiptAtMs: Math.max(row.lastReceiptAtMs, receipt.recordedAtMs),
    evidenceVersion: row.evidenceVersion + 1,
    state: { ...row.state, emitterGaps, late: lateReceipts },
  };
}

function withState(folding: Folding, change: Partial<ChainState>): Folding {
  return { ...folding, row: { ...folding.row, state: { ...folding.row.state, ...change } } };
}

function inMission(folding: Folding, receipt: StoredReceipt, fold: (mission: MissionState) => MissionState): Folding {
  const key = missionKey(receipt.missionFingerprint);
  const { missions } = folding.row.state;
  return withState(folding, { missions: { ...missions, [key]: fold(missions[key] ?? EMPTY_MISSION) } });
}

function foldProgress(mission: MissionState, receipt: StoredReceipt & ReceiptOf<'progress'>): MissionState {
  const { milestone, digest, expectByMs, step, end } = receipt.body;
  const atMs = effectiveAtMs(receipt);
  const before = mission.milestones[milestone];
  const seen = remember(before?.seen ?? [], [digestKey(digest), atMs, receipt.receiptId, expectByMs ?? null]);
  const isLatest =
    before === undefined ||
    atMs > before.latestAtMs ||
    (atMs === before.latestAtMs && receipt.receiptId > before.latestReceiptId);
  const next: MilestoneState = isLatest
    ? { seen, latestAtMs: atMs, latestReceiptId: receipt.receiptId, step: step ?? null, end: end ?? null }
    : { ...before, seen };
  return { ...mission, milestones: { ...mission.milestones, [milestone]: next } };
}

/** A digest counts from when it was first reached; the newest firsts are kept. */
function remember(seen: readonly SeenDigest[], entry: SeenDigest): readonly SeenDigest[] {
  const known = seen.find(([key]) => key === entry[0]);
  if (known !== undefined && compareSeen(known, entry) >= 0) return seen;
  return [...seen.filter(([key]) => key !== entry[0]), entry].sort(compareSeen).slice(0, REMEMBERED_DIGESTS);
}

/** Newest first; at the same moment the greater receipt id first, so that every order of arrival gives the same list. */
function compareSeen(a: SeenDigest, b: SeenDigest): number {
  return b[1] - a[1] || (a[2] > b[2] ? -1 : a[2] < b[2] ? 1 : 0);
}

function foldDeliverable(mission: MissionState, receipt: StoredReceipt & ReceiptOf<'deliverable'>): MissionState {
  const { body } = receipt;
  const order = orderKey(receipt);
  const byCheck = mission.deliverables[body.name] ?? {};
  const before = byCheck[body.check];
  if (before !== undefined && before.order >= order) return mission;
  const entry: DeliverableEntry = {
    receiptId: receipt.receiptId,
    runId: receipt.runId,
    order,
    checkedAtMs: effectiveAtMs(receipt),
    destination: body.destination,
    check: body.check,
    result: body.result,
    subject: body.subject ?? null,
    coverage: body.coverage ?? null,
    confidence: body.confidence ?? null,
    cause: body.cause ?? null,
  };
  return { ...mission, deliverables: { ...mission.deliverables, [body.name]: { ...byCheck, [body.check]: entry } } };
}

function foldWait(folding: Folding, receipt: StoredReceipt & ReceiptOf<'wait'>): Folding {
  const { body } = receipt;
  const token = body.resumeToken?.trim() ?? '';
  const key = token === '' ? receipt.receiptId : token;
  const entry = mergeWait(folding.waits[key], receipt);
  const next: Folding = { ...folding, waits: { ...folding.waits, [key]: entry } };
  return inMission(next, receipt, (mission) => {
    const { [key]: _before, ...others } = mission.waits;
    const ended = WAITS_KEPT.includes(body.state) ? undefined : effectiveAtMs(receipt);
    return {
      ...mission,
      waits: WAITS_KEPT.includes(entry.state) ? { ...others, [key]: entry } : others,
      resumedAtMs: greatest(mission.resumedAtMs, ended),
    };
  });
}

function mergeWait(before: WaitEntry | undefined, receipt: StoredReceipt & ReceiptOf<'wait'>): WaitEntry {
  const { body } = receipt;
  const atMs = effectiveAtMs(receipt);
  const entry: WaitEntry = {
    receiptId: receipt.receiptId,
    runId: receipt.runId,
    emitter: receipt.emitter,
    name: body.name,
    owner: body.owner,
    deadlineMs: body.deadlineMs,
    resumeToken: body.resumeToken,
    resumeBy: body.resumeBy,
    condition: body.condition ?? null,
    state: body.state,
    openedAtMs: atMs,
    changedAtMs: atMs,
    reconciles: body.reconciles ?? null,
  };
  if (before === undefined) return entry;
  const further = WAIT_LIFE[entry.state] - WAIT_LIFE[before.state];
  // What was asked comes from the newest statement, how far it got from the furthest one, whichever arrived first.
  const asked = entry.receiptId > before.receiptId ? entry : before;
  const reached = further > 0 || (further === 0 && atMs < before.changedAtMs) ? entry : before;
  return {
    ...asked,
    state: reached.state,
    changedAtMs: reached.changedAtMs,
    openedAtMs: Math.min(before.openedAtMs, atMs),
  };
}

function foldEffect(folding: Folding, receipt: StoredReceipt & ReceiptOf<'effect'>): Folding {
  const { operationId } = receipt.body;
  const entry = mergeEffect(folding.effects[operationId], receipt);
  const next: Folding = { ...folding, effects: { ...folding.effects, [operationId]: entry } };
  const { effects, settledOlder } = keepEffects(
    { ...folding.row.state.effects, [operationId]: entry },
    folding.row.state.settledOlder,
  );
  return withState(next, { effects, settledOlder });
}

function mergeEffect(before: EffectEntry | undefined, receipt: StoredReceipt & ReceiptOf<'effect'>): EffectEntry {
  const { body } = receipt;
  const mark: EffectMark = {
    order: orderKey(receipt),
    atMs: effectiveAtMs(receipt),
    receiptId: receipt.receiptId,
    runId: receipt.runId,
    emitter: receipt.emitter,
    attempt: receipt.attempt,
  };
  // Without somebody's verdict, "verified" and "none" are claims about a call that may have left: it stays open.
  const says = body.verdict === undefined && body.state !== 'unknown' ? 'attempted' : body.state;
  const resultDigest = body.verdict?.resultDigest ?? null;
  const newest = (known: EffectMark | null, state: typeof says): EffectMark | null =>
    says === state && (known === null || mark.order > known.order) ? mark : known;
  const verified = newest(before?.verified ?? null, 'verified');
  const known = before?.resultDigest ?? null;
  return {
    operationId: body.operationId,
    name: least(before?.name ?? null, body.name) ?? body.name,
    role: before?.role === 'delivery' ? 'delivery' : (body.role ?? 'effect'),
    deliverable: least(before?.deliverable ?? null, body.deliverable),
    target: least(before?.target ?? null, body.target),
    inputDigest: least(before?.inputDigest ?? null, body.inputDigest),
    class: least(before?.class ?? null, body.class),
    attempted: newest(before?.attempted ?? null, 'attempted'),
    unknown: newest(before?.unknown ?? null, 'unknown'),
    verified,
    none: newest(before?.none ?? null, 'none'),
    level: verified === mark ? (body.verdict?.level ?? null) : (before?.level ?? null),
    resultDigest: least(known, resultDigest),
    contradicted:
      (before?.contradicted ?? false) || (known !== null && resultDigest !== null && known !== resultDigest),
    protectedUntilMs: greatest(before?.protectedUntilMs ?? null, body.protectedUntilMs),
  };
}

/** The lesser of two texts, a missing one left out: a choice that does not depend on which came first. */
function least<T extends string>(known: T | null, said: T | null | undefined): T | null {
  if (known === null || said === null || said === undefined) return known ?? said ?? null;
  return known <= said ? known : said;
}

function greatest(known: number | null, said: number | undefined): number | null {
  return known === null || said === undefined ? (known ?? said ?? null) : Math.max(known, said);
}

/** Open and contradicted effects stay; of the settled ones the newest stay and the rest are counted by name. */
function keepEffects(
  effects: Readonly<Record<string, EffectEntry>>,
  settledOlder: Readonly<Record<string, number>>,
): Pick<ChainState, 'effects' | 'settledOlder'> {
  const settled = Object.values(effects).filter((effect) => isSettled(effect));
  if (settled.length <= REMEMBERED_EFFECTS) return { effects, settledOlder };
  const oldest = settled.sort((a, b) => (settledOrder(a) < settledOrder(b) ? -1 : 1))[0];
  if (oldest === undefined) return { effects, settledOlder };
  const { [oldest.operationId]: _dropped, ...kept } = effects;
  const count = effectState(oldest) === 'verified' ? 1 : 0;
  return { effects: kept, settledOlder: { ...settledOlder, [oldest.name]: (settledOlder[oldest.name] ?? 0) + count } };
}

function isSettled(effect: EffectEntry): boolean {
  const state = effectState(effect);
  return (state === 'verified' || state === 'none') && !isContradicted(effect);
}

function settledOrder(effect: EffectEntry): string {
  return `${(effect.verified ?? effect.none)?.order ?? ''} ${effect.operationId}`;
}
