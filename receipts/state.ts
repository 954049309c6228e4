/**
 * What receipts fold to. One chain row holds all that judging the chain needs; `receipts/fold.ts` defines the fold and the
 * Postgres store maintains the same value in the statement that inserts the receipts (a property test holds them equal).
 *
 * Every part is a join of receipts: any order and any number of deliveries give the same state, as long as no receipt of an
 * older fence is first stored after a newer fence of its emitter (that one is `late` and changes nothing but effects).
 */
import type { CheckResult, Coverage, EffectClass, EffectRole, ResumeBy, Subject, WaitState } from './receipt.ts';
import type { RunIdentity } from './envelope.ts';

/** How many digests a milestone remembers: a loop with a longer period looks like work (a stated limit). */
export const REMEMBERED_DIGESTS = 32;
/** How many settled effects a chain row keeps in full; older ones are counted by name. */
export const REMEMBERED_EFFECTS = 64;
/** For how many emitters that were replaced a chain row keeps the newest fence; it matters for an effect's window only. */
export const REMEMBERED_FENCES = 16;
/** How many ids of late receipts a chain row names. */
export const REMEMBERED_LATE = 8;

/** One remembered digest: short key, when it was first reached (ms), by which receipt, until when silence was declared. */
export type SeenDigest = readonly [digestKey: string, firstAtMs: number, receiptId: string, expectByMs: number | null];

export interface MilestoneState {
  /** Newest first; the head is the last real change. */
  readonly seen: readonly SeenDigest[];
  /** The newest receipt of this milestone, whether it changed anything or not. */
  readonly latestAtMs: number;
  readonly latestReceiptId: string;
  readonly step: string | null;
  readonly end: string | null;
}

export interface WaitEntry {
  readonly receiptId: string;
  readonly runId: string;
  readonly emitter: string;
  readonly name: string;
  readonly owner: string | null;
  readonly deadlineMs: number | null;
  readonly resumeToken: string | null;
  readonly resumeBy: ResumeBy;
  readonly condition: string | null;
  readonly state: WaitState;
  readonly openedAtMs: number;
  /** When its state last changed. */
  readonly changedAtMs: number;
  readonly reconciles: string | null;
}

/** The newest receipt of an effect that says one thing; newest by (fence, attempt, sequence). */
export interface EffectMark {
  /** See `orderKey`. */
  readonly order: string;
  readonly atMs: number;
  readonly receiptId: string;
  readonly runId: string;
  readonly emitter: string;
  readonly attempt: number;
}

export interface EffectEntry {
  readonly operationId: string;
  readonly name: string;
  readonly role: EffectRole;
  readonly deliverable: string | null;
  readonly target: string | null;
  readonly inputDigest: string | null;
  readonly class: EffectClass | null;
  /** It may have left: `attempted` committed before the call. */
  readonly attempted: EffectMark | null;
  /** Nobody knows what became of it. */
  readonly unknown: EffectMark | null;
  /** The destination (or a person) said that it happened. */
  readonly verified: EffectMark | null;
  /** The destination (or a person) said that it did not happen and can no longer arrive. */
  readonly none: EffectMark | null;
  readonly level: string | null;
  readonly resultDigest: string | null;
  /** Two verdicts of the destination that cannot both be true. */
  readonly contradicted: boolean;
  readonly protectedUntilMs: number | null;
}

export interface DeliverableEntry {
  readonly receiptId: string;
  readonly runId: string;
  /** See `orderKey`. */
  readonly order: string;
  readonly checkedAtMs: number;
  readonly destination: string;
  readonly check: string;
  readonly result: CheckResult;
  readonly subject: Subject | null;
  readonly coverage: Coverage | null;
  readonly confidence: number | null;
  readonly cause: string | null;
}

/** Everything that is bound to one mission fingerprint; an amendment begins a new one. */
export interface MissionState {
  readonly milestones: Readonly<Record<string, MilestoneState>>;
  /** By resume token; waits without one are kept under their receipt id. Closed ones leave the row. */
  readonly waits: Readonly<Record<string, WaitEntry>>;
  /** By deliverable name, then by the check that ran: a judgement never hides a check's result. */
  readonly deliverables: Readonly<Record<string, Readonly<Record<string, DeliverableEntry>>>>;
  /** When a wait last ended (consumed, withdrawn or superseded): work is given its time from then on. */
  readonly resumedAtMs: number | null;
}

/** Receipts of a fence that are missing although a later one of the same fence is there. */
export interface EmitterGap {
  readonly runId: string;
  readonly emitter: string;
  readonly fence: number;
  readonly attempt: number;
  readonly missing: number;
  /** When the store first saw a later one. */
  readonly sinceMs: number;
}

export interface ChainState {
  /** By mission fingerprint; `''` where the workflow has none. */
  readonly missions: Readonly<Record<string, MissionState>>;
  /** Effects stay real whatever the mission or the fence: they are kept by operation id for the whole chain. */
  readonly effects: Readonly<Record<string, EffectEntry>>;
  /** Settled effects that left `effects`, counted by effect name. */
  readonly settledOlder: Readonly<Record<string, number>>;
  /** By `runId/emitter/` and `fenceKey`: the hole of a replaced attempt stays one until it is filled. */
  readonly emitterGaps: Readonly<Record<string, EmitterGap>>;
  /** The newest `fenceKey` of emitters of which more than one attempt has written, by `runId/emitter`; the newest are kept. */
  readonly newestFences: Readonly<Record<string, string>>;
  readonly late: { readonly count: number; readonly receiptIds: readonly string[] };
}

export interface ChainRow extends RunIdentity {
  /** runId is the chain's newest run that wrote; this is its start on Temporal's clock. */
  readonly runStartedAtMs: number;
  /** Pinned by the chain's first receipt; null where the type had no contract then. */
  readonly contractDigest: string | null;
  /** Of the mission in force; null where the workflow has none. */
  readonly missionFingerprint: string | null;
  readonly receiptCount: number;
  readonly firstReceiptAtMs: number;
  readonly lastReceiptAtMs: number;
  /** Grows with every change; actions carry it and are refused when it moved. */
  readonly evidenceVersion: number;
  readonly state: ChainState;
}

export const EMPTY_MISSION: MissionState = { milestones: {}, waits: {}, deliverables: {}, resumedAtMs: null };

export const EMPTY_STATE: ChainState = {
  missions: {},
  effects: {},
  settledOlder: {},
  emitterGaps: {},
  newestFences: {},
  late: { count: 0, receiptIds: [] },
};

/** The key under which a mission's state is kept. */
export function missionKey(fingerprint: string | null): string {
  return fingerprint ?? '';
}

/** An open attempt of an effect: the newest `attempted` or `unknown` that no later verdict settles, else null. */
export function openMark(
  effect: EffectEntry,
): { readonly state: 'attempted' | 'unknown'; readonly mark: EffectMark } | null {
  const { attempted, unknown } = effect;
  const settled = laterOf(effect.verified, effect.none);
  const open = laterOf(attempted, unknown);
  if (open === null) return null;
  // A verdict speaks for every attempt up to its own place in the order; only a later attempt is open again.
  if (settled !== null && settled.order >= open.order) return null;
  return { state: open === unknown ? 'unknown' : 'attempted', mark: open };
}

/** The state that an effect's receipts add up to. */
export function effectState(effect: EffectEntry): 'none' | 'attempted' | 'verified' | 'unknown' {
  const open = openMark(effect);
  if (open !== null) return open.state;
  return effect.verified !== null ? 'verified' : 'none';
}

/**
 * True when destination verdicts cannot all be true: two results for one operation, or `none` after `verified`.
 * `none` before `verified` is a retry that was allowed.
 */
export function isContradicted(effect: EffectEntry): boolean {
  return (
    effect.contradicted ||
    (effect.verified !== null && effect.none !== null && effect.none.order > effect.verified.order)
  );
}

function laterOf(a: EffectMark | null, b: EffectMark | null): EffectMark | null {
  if (a === null || b === null) return a ?? b;
  return a.order >= b.order ? a : b;
}
