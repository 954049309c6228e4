/**
 * The fold: receipts in, chain state out. Pure. `foldChain` takes the receipts of one chain in any order and sorts them by
 * when the store took them; `foldReceipt` adds one. The Postgres store's SQL does the same to its chain row.
 *
 * Everything but lateness is a join (any order of arrival gives the same state), within the stated limits: a digest that
 * fell out of the remembered ones counts as new, and so does the place of an effect that fell out of the kept ones.
 */
import { compareOrder, effectiveAtMs, orderKey } from './envelope.ts';
import type { OrderParts, ReceiptOf, RunIdentity, StoredReceipt } from './envelope.ts';
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
  /** When the store took its newest receipt, late ones too. */
  readonly lastRecordedAtMs: number;
}

/** A chain in the middle of a fold: the row, and beside it what the store keeps in tables of its own. */
export interface Folding {
  readonly row: ChainRow;
  /** Place in the order of the chain's first receipt: what the row takes from the first follows the least. */
  readonly firstOrder: string;
  readonly emitters: Readonly<Record<string, EmitterState>>;
  /** Every wait ever opened, by mission and its key in the row: a late `open` of a closed wait must not open it again. */
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
  return { row, firstOrder: firstOrder(first), emitters: {}, waits: {}, effects: {} };
}

/** Sorts receipts that were recorded in the same millisecond; different receipts differ in it. */
function firstOrder(receipt: StoredReceipt): string {
  return `${orderKey(receipt)}.${receipt.receiptId}`;
}

/** The key of an emitter's state within its chain. */
export function emitterKeyOf(receipt: { readonly runId: string; readonly emitter: string }): string {
  return `${receipt.runId}/${receipt.emitter}`;
}

/**
 * When the store says that it took a receipt: now, but so that (recordedAtMs, fence, attempt, sequence) sorts one emitter's
 * receipts in the very order in which they were taken. Without that a receipt that came late within the same millisecond,
 * or under a transaction that began earlier, would not be late when its chain is folded again.
 */
export function takenAtMs(emitter: EmitterState | undefined, receipt: OrderParts, nowMs: number): number {
  if (emitter === undefined) return nowMs;
  const isBehind = compareOrder(receipt, { ...emitter, sequence: emitter.highest }) <= 0;
  return Math.max(nowMs, emitter.lastRecordedAtMs + (isBehind ? 1 : 0));
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
  const emitterKey = emitterKeyOf(receipt);
  const before = folding.emitters[emitterKey];
  const late = before !== undefined && compareFence(receipt, before) < 0;
  const lastRecordedAtMs = Math.max(before?.lastRecordedAtMs ?? 0, receipt.recordedAtMs);
  const emitter = late ? { ...before, lastRecordedAtMs } : { ...nextEmitter(before, receipt), lastRecordedAtMs };
  const counted: Folding = {
    ...asFirst(folding, receipt),
    emitters: { ...folding.emitters, [emitterKey]: emitter },
  };
  return foldBody({ ...counted, row: countReceipt(counted.row, receipt, emitterKey, emitter, late) }, receipt, late);
}

function foldBody(counted: Folding, receipt: StoredReceipt, late: boolean): Folding {
  // A real effect stays real whatever its fence; everything else of a replaced attempt is kept as late and changes nothing.
  if (receipt.kind === 'effect') return foldEffect(counted, receipt);
  if (late) return counted;
  if (receipt.kind === 'progress') return inMission(counted, receipt, (mission) => foldProgress(mission, receipt));
  if (receipt.kind === 'deliverable')
    return inMission(counted, receipt, (mission) => foldDeliverable(mission, receipt));
  return foldWait(counted, receipt);
}

/** What the row has from the chain's first receipt comes from the one recorded first, even if another one came in before. */
function asFirst(folding: Folding, receipt: StoredReceipt): Folding {
  const { row } = folding;
  const order = firstOrder(receipt);
  const { workflowType, missionFingerprint, recordedAtMs: firstReceiptAtMs } = receipt;
  const sooner = firstReceiptAtMs - row.firstReceiptAtMs;
  if (sooner > 0 || (sooner === 0 && order >= folding.firstOrder)) return folding;
  return { ...folding, firstOrder: order, row: { ...row, workflowType, missionFingerprint, firstReceiptAtMs } };
}

function compareFence(
  receipt: { fence: number; attempt: number },
  emitter: { fence: number; attempt: number },
): number {
  return receipt.fence - emitter.fence || receipt.attempt - emitter.attempt;
}

function nextEmitter(before: EmitterState | undefined, receipt: StoredReceipt): Omit<EmitterState, 'lastRecordedAtMs'> {
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
        receiptIds: [...row.state.late.receiptIds, receipt.receiptId].sort().slice(-REMEMBERED_LATE),
      }
    : row.state.late;
  const later = receipt.runStartedAtMs - row.runStartedAtMs;
  const newer = later > 0 || (later === 0 && receipt.runId > row.runId);
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
  return b[1] - a[1] || (a[2] > b[2] ? -1 : 1);
}

function foldDeliverable(mission: MissionState, receipt: StoredReceipt & ReceiptOf<'deliverable'>): MissionState {
  const { body } = receipt;
  const order = orderKey(receipt);
  const byCheck = mission.deliverables[body.name] ?? {};
  const before = byCheck[body.check];
  if (before !== undefined && !isLater({ order, receiptId: receipt.receiptId }, before)) return mission;
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
  const knownAs = `${missionKey(receipt.missionFingerprint)}/${key}`;
  const entry = joinWaits(folding.waits[knownAs], waitEntry(receipt));
  const next: Folding = { ...folding, waits: { ...folding.waits, [knownAs]: entry } };
  return inMission(next, receipt, (mission) => {
    const { [key]: _before, ...others } = mission.waits;
    const ended = WAITS_KEPT.includes(body.state) ? null : effectiveAtMs(receipt);
    return {
      ...mission,
      waits: WAITS_KEPT.includes(entry.state) ? { ...others, [key]: entry } : others,
      resumedAtMs: greatest(mission.resumedAtMs, ended),
    };
  });
}

function waitEntry(receipt: StoredReceipt & ReceiptOf<'wait'>): WaitEntry {
  const { body } = receipt;
  const atMs = effectiveAtMs(receipt);
  return {
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
}

function joinWaits(before: WaitEntry | undefined, entry: WaitEntry): WaitEntry {
  if (before === undefined) return entry;
  const further = WAIT_LIFE[entry.state] - WAIT_LIFE[before.state];
  // What was asked comes from the newest statement, how far it got from the furthest one, whichever arrived first.
  const asked = entry.receiptId > before.receiptId ? entry : before;
  const reached = further > 0 || (further === 0 && entry.changedAtMs < before.changedAtMs) ? entry : before;
  return {
    ...asked,
    state: reached.state,
    changedAtMs: reached.changedAtMs,
    openedAtMs: Math.min(before.openedAtMs, entry.openedAtMs),
  };
}

function foldEffect(folding: Folding, receipt: StoredReceipt & ReceiptOf<'effect'>): Folding {
  const { operationId } = receipt.body;
  const { effects, settledOlder } = folding.row.state;
  const before = folding.effects[operationId];
  const entry = joinEffects(before, effectEntry(receipt));
  // One that had left the row comes back to be judged anew, so it may not stay counted among those that left.
  const counted =
    before !== undefined && effects[operationId] === undefined ? count(settledOlder, before, -1) : settledOlder;
  const next: Folding = { ...folding, effects: { ...folding.effects, [operationId]: entry } };
  return withState(next, keepEffects({ ...effects, [operationId]: entry }, counted));
}

function effectEntry(receipt: StoredReceipt & ReceiptOf<'effect'>): EffectEntry {
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
  const marked = (state: typeof says): EffectMark | null => (says === state ? mark : null);
  return {
    operationId: body.operationId,
    name: body.name,
    role: body.role ?? 'effect',
    deliverable: body.deliverable ?? null,
    target: body.target ?? null,
    inputDigest: body.inputDigest ?? null,
    class: body.class ?? null,
    attempted: marked('attempted'),
    unknown: marked('unknown'),
    verified: marked('verified'),
    none: marked('none'),
    level: says === 'verified' ? (body.verdict?.level ?? null) : null,
    resultDigest: body.verdict?.resultDigest ?? null,
    contradicted: false,
    protectedUntilMs: body.protectedUntilMs ?? null,
  };
}

function joinEffects(before: EffectEntry | undefined, entry: EffectEntry): EffectEntry {
  if (before === undefined) return entry;
  const verified = laterMark(before.verified, entry.verified);
  const known = before.resultDigest;
  return {
    operationId: entry.operationId,
    name: before.name <= entry.name ? before.name : entry.name,
    role: before.role === 'delivery' ? 'delivery' : entry.role,
    deliverable: least(before.deliverable, entry.deliverable),
    target: least(before.target, entry.target),
    inputDigest: least(before.inputDigest, entry.inputDigest),
    class: least(before.class, entry.class),
    attempted: laterMark(before.attempted, entry.attempted),
    unknown: laterMark(before.unknown, entry.unknown),
    verified,
    none: laterMark(before.none, entry.none),
    level: verified === before.verified ? before.level : entry.level,
    resultDigest: least(known, entry.resultDigest),
    contradicted:
      before.contradicted || (known !== null && entry.resultDigest !== null && known !== entry.resultDigest),
    protectedUntilMs: greatest(before.protectedUntilMs, entry.protectedUntilMs),
  };
}

/** Two emitters may reach the same place in their order; the receipt id then decides, so that arrival never does. */
function isLater(
  a: { readonly order: string; readonly receiptId: string },
  b: { readonly order: string; readonly receiptId: string },
): boolean {
  return a.order > b.order || (a.order === b.order && a.receiptId > b.receiptId);
}

function laterMark(known: EffectMark | null, said: EffectMark | null): EffectMark | null {
  if (known === null || said === null) return known ?? said;
  return isLater(said, known) ? said : known;
}

/** The lesser of two texts, a missing one left out: a choice that does not depend on which came first. */
function least<T extends string>(known: T | null, said: T | null): T | null {
  if (known === null || said === null) return known ?? said;
  return known <= said ? known : said;
}

function greatest(known: number | null, said: number | null): number | null {
  if (known === null || said === null) return known ?? said;
  return Math.max(known, said);
}

/** Open and contradicted effects stay; of the settled ones the newest stay and the verified rest is counted by name. */
function keepEffects(
  effects: Readonly<Record<string, EffectEntry>>,
  settledOlder: Readonly<Record<string, number>>,
): Pick<ChainState, 'effects' | 'settledOlder'> {
  const settled = Object.values(effects).filter((effect) => isSettled(effect));
  const leaving = settled
    .sort((a, b) => (settledOrder(a) < settledOrder(b) ? -1 : 1))
    .slice(0, Math.max(0, settled.length - REMEMBERED_EFFECTS));
  const gone = new Set(leaving.map(({ operationId }) => operationId));
  return {
    effects: gone.size === 0 ? effects : Object.fromEntries(Object.entries(effects).filter(([key]) => !gone.has(key))),
    settledOlder: leaving.reduce((counts, effect) => count(counts, effect, 1), settledOlder),
  };
}

/** Counts a verified effect in or out under its name; one that never happened counts for nothing. */
function count(
  counts: Readonly<Record<string, number>>,
  effect: EffectEntry,
  step: 1 | -1,
): Readonly<Record<string, number>> {
  if (effectState(effect) !== 'verified') return counts;
  const { [effect.name]: known = 0, ...others } = counts;
  return known + step === 0 ? others : { ...others, [effect.name]: known + step };
}

function isSettled(effect: EffectEntry): boolean {
  const state = effectState(effect);
  return (state === 'verified' || state === 'none') && !isContradicted(effect);
}

function settledOrder(effect: EffectEntry): string {
  return `${String((effect.verified ?? effect.none)?.order)} ${effect.operationId}`;
}
