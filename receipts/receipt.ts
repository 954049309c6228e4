/**
 * The four receipts, and no fifth. A receipt is a small statement by an activity (or a workflow through the recorder):
 * identities, counts, digests and times; never a prompt, a payload or a secret (R15).
 *
 * All times are epoch milliseconds.
 */
import type { Sha256 } from './digest.ts';

export const RECEIPT_KINDS = ['progress', 'wait', 'effect', 'deliverable'] as const;
export type ReceiptKind = (typeof RECEIPT_KINDS)[number];

/** Why money was spent, apart from how much. */
export const COST_CAUSES = ['first', 'resumed', 'retrieval', 'redelivery', 'recovery'] as const;
export type CostCause = (typeof COST_CAUSES)[number];

export interface Cost {
  readonly model?: string;
  readonly tokens?: number;
  readonly amount?: number;
  readonly currency?: string;
  readonly cause: CostCause;
}

/** What changed, in one typed form: a count, the digest of a set, up to 64 ids, an artifact's digest or a named invariant. */
export interface Delta {
  readonly done?: number;
  readonly of?: number;
  readonly unit?: string;
  readonly setDigest?: string;
  readonly ids?: readonly string[];
  readonly artifactDigest?: string;
  readonly invariant?: { readonly name: string; readonly value: string };
}

/** A milestone whose digest changed. A new time on a digest that was seen before is not progress. */
export interface ProgressBody {
  readonly milestone: string;
  /** Identity of the state that was reached; equal state must give an equal digest. */
  readonly digest: string;
  readonly delta?: Delta;
  /** What runs now, when the next milestone is known to be far off. */
  readonly step?: string;
  /** Until when silence is expected. Counts only on a receipt whose digest is new. */
  readonly expectByMs?: number;
  /** Why a loop ended, e.g. `budget-exhausted`: shown, never decisive. */
  readonly end?: string;
  /** At most 200 bytes. */
  readonly note?: string;
  readonly cost?: Cost;
}

export const WAIT_STATES = ['open', 'resolved', 'consumed', 'expired', 'superseded', 'withdrawn'] as const;
export type WaitState = (typeof WAIT_STATES)[number];

export const RESUME_BY = ['signal', 'update', 'approval', 'timer', 'workflow', 'external'] as const;
export type ResumeBy = (typeof RESUME_BY)[number];

/**
 * A pause with owner, deadline and resume token. The API refuses one without all three; a stored or foreign one may
 * lack them (hence `null`) and then excuses nothing.
 */
export interface WaitBody {
  readonly name: string;
  readonly owner: string | null;
  readonly deadlineMs: number | null;
  /** Any non-empty identity that resumes this same work; an identity, not a credential. */
  readonly resumeToken: string | null;
  readonly resumeBy: ResumeBy;
  /** What must happen, in words or as an id (a workflow id, a timer, a ticket). */
  readonly condition?: string;
  readonly state: WaitState;
  readonly approvers?: readonly string[];
  readonly subjectDigest?: string;
  /** The operation id whose unknown outcome this wait is to settle: the run stays uncertain, with this owner shown. */
  readonly reconciles?: string;
  readonly note?: string;
}

export const EFFECT_STATES = ['none', 'attempted', 'verified', 'unknown'] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

export const EFFECT_CLASSES = ['keyed', 'fenceable', 'observable', 'blind'] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

/** Who said what became of an operation. An error text says nothing (R2). */
export const VERDICT_SOURCES = ['destination', 'person', 'policy'] as const;
export type VerdictSource = (typeof VERDICT_SOURCES)[number];

/** What kind of answer the destination gave (R2). */
export const DESTINATION_VERDICTS = ['firstApplied', 'replayed', 'otherPayload', 'keyExpired', 'notSupported'] as const;
export type DestinationVerdictKind = (typeof DESTINATION_VERDICTS)[number];

export interface DestinationVerdict {
  readonly by: VerdictSource;
  readonly kind?: DestinationVerdictKind;
  /** How strong it is, e.g. `accepted`, `delivered`, `settled`; the contract says which one it needs. */
  readonly level?: string;
  /** Digest of what the destination holds; two different ones contradict each other. */
  readonly resultDigest?: string;
  /** Where to look it up, an id at the destination. */
  readonly reference?: string;
}

export const EFFECT_ROLES = ['effect', 'delivery'] as const;
export type EffectRole = (typeof EFFECT_ROLES)[number];

/** An action on something outside, under a stable operation id (R5). A delivery is an effect with the role `delivery`. */
export interface EffectBody {
  readonly operationId: string;
  /** The effect's name in the contract. */
  readonly name: string;
  readonly state: EffectState;
  readonly target?: string;
  readonly inputDigest?: string;
  readonly verdict?: DestinationVerdict;
  readonly class?: EffectClass;
  readonly role?: EffectRole;
  /** With the role `delivery`: the deliverable that was delivered. */
  readonly deliverable?: string;
  /** Past this moment the destination no longer recognises the operation's key. */
  readonly protectedUntilMs?: number;
}

/** `unread`: the check could not reach the destination, which says nothing about the result. */
export const CHECK_RESULTS = ['pass', 'fail', 'unread'] as const;
export type CheckResult = (typeof CHECK_RESULTS)[number];

/** What was looked at. `digest` only where the check has one. */
export interface Subject {
  readonly digest?: Sha256;
  readonly sizeBytes?: number;
  readonly count?: number;
  readonly version?: string;
}

/** How much of the plan the result covers. `excluded` counts only with `excludedBy`, a recorded decision. */
export interface Coverage {
  readonly expected: number;
  readonly accepted: number;
  readonly empty?: number;
  readonly excluded?: number;
  readonly excludedBy?: string;
}

/** The promised result, checked at its promised destination. */
export interface DeliverableBody {
  readonly name: string;
  readonly destination: string;
  /** Name of the check that ran; must be the one that the contract names. */
  readonly check: string;
  readonly result: CheckResult;
  readonly subject?: Subject;
  readonly coverage?: Coverage;
  /** Only of a judgement, never of a deterministic check: 0 to 1. */
  readonly confidence?: number;
  /** Why it failed or could not be read: a short machine word, e.g. `size-zero`. */
  readonly cause?: string;
}

export interface ReceiptBodies {
  readonly progress: ProgressBody;
  readonly wait: WaitBody;
  readonly effect: EffectBody;
  readonly deliverable: DeliverableBody;
}
