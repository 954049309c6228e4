/**
 * The fold: receipts in, chain state out. Pure. `foldChain` takes the receipts of one chain in any order and sorts them by
 * when the store took them; `foldStored` adds one. The Postgres store's SQL does the same to its chain row.
 *
 * Everything but lateness is a join (any order of arrival gives the same state), within the stated limits: a digest that
 * fell out of the remembered ones counts as new, and so does the place of an effect that fell out of the kept ones.
 */
import { digestKey } from './digest.ts';
import { missingOf, placeReceipt } from './emitters.ts';
import type { EmitterState, Placed } from './emitters.ts';
import { compareOrder, effectiveAtMs, fenceKey, orderKey } from './envelope.ts';
import type { ReceiptOf, RunIdentity, StoredReceipt, StoredRefusal } from './envelope.ts';
import type { WaitState } from './receipt.ts';
import {
  effectState,
  EMPTY_MISSION,
  EMPTY_STATE,
  isContradicted,
  missionKey,
  REMEMBERED_DIGESTS,
  REMEMBERED_EFFECTS,
  REMEMBERED_FENCES,
  REMEMBERED_LATE,
} from './state.ts';
import type {
  ChainRow,
  ChainState,
  DeliverableEntry,
  EffectEntry,
  EffectMark,
  EmitterGap,
  MilestoneState,
  MissionState,
  SeenDigest,
  WaitEntry,
} from './state.ts';

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

/** What the store holds of a chain: a receipt, or the place of one that it refused. */
export type Stored = StoredReceipt | StoredRefusal;

export function startFold(first: Stored, contractDigest: string | null): Folding {
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

/** Sorts what was recorded in the same millisecond; different receipts differ in it. */
function firstOrder(stored: Stored): string {
  return `${orderKey(stored)}.${stored.receiptId}`;
}

/** The key of an emitter's state within its chain. */
export function emitterKeyOf(receipt: { readonly runId: string; readonly emitter: string }): string {
  return `${receipt.runId}/${receipt.emitter}`;
}

/** The order in which a chain's receipts and refusals were taken. */
export function compareStored(a: Stored, b: Stored): number {
  return a.recordedAtMs - b.recordedAtMs || compareOrder(a, b) || (a.receiptId < b.receiptId ? -1 : 1);
}

/** Folds what the store holds of one chain, each receipt once, in the order in which it was taken. Nothing folds to null. */
export function foldChain(
  receipts: readonly StoredReceipt[],
  contractDigest: string | null,
  refusals: readonly StoredRefusal[] = [],
): ChainRow | null {
  const known = new Set<string>();
  const once = receipts.filter(({ receiptId }) => !known.has(receiptId) && known.add(receiptId));
  const inStoreOrder = [...once, ...refusals].sort(compareStored);
  const [first] = inStoreOrder;
  if (first === undefined) return null;
  return inStoreOrder.reduce((folding, stored) => foldStored(folding, stored), startFold(first, contractDigest)).row;
}

/** Adds one receipt, or the place of a refused one, that the store has not seen before. */
export function foldStored(folding: Folding, stored: Stored): Folding {
  const key = emitterKeyOf(stored);
  const placed = placeReceipt(folding.emitters[key], stored);
  const counted: Folding = {
    ...asFirst(folding, stored),
    emitters: { ...folding.emitters, [key]: placed.emitter },
  };
  const row = countFence(countStored(counted.row, stored), key, stored, placed);
  if (!('body' in stored)) return { ...counted, row };
  return foldBody({ ...counted, row: placed.isLate ? withLate(row, stored) : row }, stored, placed.isLate);
}

function foldBody(counted: Folding, receipt: StoredReceipt, isLate: boolean): Folding {
  // A real effect stays real whatever its fence; everything else of a replaced attempt is kept as late and changes nothing.
  if (receipt.kind === 'effect') return foldEffect(counted, receipt);
  if (isLate) return counted;
  if (receipt.kind === 'progress') return inMission(counted, receipt, (mission) => foldProgress(mission, receipt));
  if (receipt.kind === 'deliverable')
    return inMission(counted, receipt, (mission) => foldDeliverable(mission, receipt));
  return foldWait(counted, receipt);
}

/** What the row has from the chain's first receipt comes from the one recorded first, even if another one came in before. */
function asFirst(folding: Folding, stored: Stored): Folding {
  const { row } = folding;
  const order = firstOrder(stored);
  const { workflowType, missionFingerprint, recordedAtMs: firstReceiptAtMs } = stored;
  const sooner = firstReceiptAtMs - row.firstReceiptAtMs;
  if (sooner > 0 || (sooner === 0 && order >= folding.firstOrder)) return folding;
  return { ...folding, firstOrder: order, row: { ...row, workflowType, missionFingerprint, firstReceiptAtMs } };
}

function countStored(row: ChainRow, stored: Stored): ChainRow {
  const later = stored.runStartedAtMs - row.runStartedAtMs;
  const newer = later > 0 || (later === 0 && stored.runId > row.runId);
  return {
    ...row,
    runId: newer ? stored.runId : row.runId,
    runStartedAtMs: Math.max(row.runStartedAtMs, stored.runStartedAtMs),
    receiptCount: row.receiptCount + ('body' in stored ? 1 : 0),
    lastReceiptAtMs: Math.max(row.lastReceiptAtMs, stored.recordedAtMs),
    evidenceVersion: row.evidenceVersion + 1,
  };
}

/** What is missing of the fence that took it, and which fence is the emitter's newest once there were several. */
function countFence(row: ChainRow, emitterKey: string, stored: Stored, { emitter, fence }: Placed): ChainRow {
  const { runId, emitter: emitterId } = stored;
  const gapKey = `${emitterKey}/${fenceKey(fence)}`;
  const { [gapKey]: _before, ...otherGaps } = row.state.emitterGaps;
  const gap: EmitterGap | null =
    fence.gapSinceMs === null
      ? null
      : {
          ...{ runId, emitter: emitterId, fence: fence.fence, attempt: fence.attempt },
          ...{ missing: missingOf(fence.taken), sinceMs: fence.gapSinceMs },
        };
  const emitterGaps = gap === null ? otherGaps : { ...otherGaps, [gapKey]: gap };
  const isOnly = Object.keys(emitter.replaced).length === 0;
  const { newestFences: known } = row.state;
  const newestFences = isOnly ? known : newest({ ...known, [emitterKey]: fenceKey(emitter.newest) });
  return { ...row, state: { ...row.state, emitterGaps, newestFences } };
}

function newest(fences: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inOrder = Object.entries(fences).sort(([a, one], [b, other]) => (`${one} ${a}` > `${other} ${b}` ? -1 : 1));
  return Object.fromEntries(inOrder.slice(0, REMEMBERED_FENCES));
}

function withLate(row: ChainRow, { receiptId }: StoredReceipt): ChainRow {
  const { count, receiptIds } = row.state.late;
  const late = { count: count + 1, receiptIds: [...receiptIds, receiptId].sort().slice(-REMEMBERED_LATE) };
  return { ...row, state: { ...row.state, late } };
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
