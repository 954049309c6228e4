/**
 * Whether one more attempt may begin: its backoff, the attempt itself, the question to the destination and the check of the
 * deliverable must all fit into what is left. Pure. A sum equal to what is left is allowed; a refusal spends no attempt.
 */
export const RETRY_REFUSALS = ['permanent-input', 'unknown-effect', 'attempts', 'deadline'] as const;
export type RetryRefusal = (typeof RETRY_REFUSALS)[number];

/** All in ms. */
export interface RetryRequest {
  readonly nowMs: number;
  /** Null where nothing bounds the run. */
  readonly runDeadlineMs: number | null;
  /** The attempt that would begin: 2 is the first retry. Counted along the chain. */
  readonly attempt: number;
  /** 0 is unlimited, as in Temporal. */
  readonly maximumAttempts: number;
  readonly backoffMs: number;
  readonly attemptEstimateMs: number;
  readonly reconcileMs: number;
  readonly verifyMs: number;
  /** The last failure is one that the same input gets again. */
  readonly permanent: boolean;
  /** An effect of this activity is `attempted` or `unknown`: it must be reconciled before anything is sent again (R2). */
  readonly openUnknownEffect: boolean;
  /** Nothing is left to verify, so nothing need be kept for it. */
  readonly deliverablesVerified: boolean;
}

/** Every addend of the sum, and what it was held against; ms. `leftMs` is null where nothing bounds the run. */
export interface RetryTerms {
  readonly backoffMs: number;
  readonly attemptMs: number;
  readonly reconcileMs: number;
  readonly verifyMs: number;
  readonly neededMs: number;
  readonly leftMs: number | null;
  readonly attempt: number;
  readonly maximumAttempts: number;
}

export type RetryPlan =
  | { readonly allowed: true; readonly terms: RetryTerms }
  | { readonly allowed: false; readonly reason: RetryRefusal; readonly terms: RetryTerms };

export function planRetry(request: RetryRequest): RetryPlan {
  const verifyMs = request.deliverablesVerified ? 0 : request.verifyMs;
  const backoffMs = Math.max(0, request.backoffMs);
  const terms: RetryTerms = {
    backoffMs,
    attemptMs: request.attemptEstimateMs,
    reconcileMs: request.reconcileMs,
    verifyMs,
    neededMs: backoffMs + request.attemptEstimateMs + request.reconcileMs + verifyMs,
    leftMs: request.runDeadlineMs === null ? null : request.runDeadlineMs - request.nowMs,
    attempt: request.attempt,
    maximumAttempts: request.maximumAttempts,
  };
  const refuse = (reason: RetryRefusal): RetryPlan => ({ allowed: false, reason, terms });
  // First, whatever else forbids it: what may have happened is to be reconciled before anything is decided on it.
  if (request.openUnknownEffect) return refuse('unknown-effect');
  if (request.permanent) return refuse('permanent-input');
  if (request.maximumAttempts > 0 && request.attempt > request.maximumAttempts) return refuse('attempts');
  // A deadline equal to now is late, even for an attempt that would take no time.
  if (terms.leftMs !== null && (terms.leftMs <= 0 || terms.neededMs > terms.leftMs)) return refuse('deadline');
  return { allowed: true, terms };
}
