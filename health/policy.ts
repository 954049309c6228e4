/**
 * Thresholds. A contract says what one workflow type owes; the policy says how long evidence stays fresh. All in ms.
 * Each default is the product's (the public cases' P0) and has its reason beside it.
 */
export interface HistoryPolicy {
  /** Server defaults of limit.historyCount.warn and .error, limit.historySize.warn and .error; read from the server where it tells them. */
  readonly warnEvents: number;
  readonly hardEvents: number;
  readonly warnBytes: number;
  readonly hardBytes: number;
}

export interface RetryPolicy {
  /** Attempts after which an activity counts as not getting there, whatever Temporal would still do. */
  readonly maxAttempts: number;
  /** How long one more attempt is assumed to take. */
  readonly attemptEstimateMs: number;
  /** Kept for asking the destination what became of an open effect. */
  readonly reconcileReserveMs: number;
  /** Kept for checking the deliverables. */
  readonly verifyReserveMs: number;
}

export interface Policy {
  /** A milestone that changed within this is work. */
  readonly milestoneFreshMs: number;
  /** A heartbeat older than this (or 80 % of its timeout + skew, if longer) is stale. */
  readonly heartbeatFreshMs: number;
  /** A new run may be silent this long. */
  readonly startupGraceMs: number;
  /** An attempted effect of a live attempt may lack its verdict this long. */
  readonly effectWindowMs: number;
  /** A requested stop may be unconfirmed this long. */
  readonly stopGraceMs: number;
  /** A recorded decision may be unconsumed this long. */
  readonly resumeGraceMs: number;
  /** Clocks of different machines may differ by this. */
  readonly skewMs: number;
  /** A missing sequence number may still be on its way this long. */
  readonly gapGraceMs: number;
  /** Due work may wait this long for a poller. */
  readonly noPollerGraceMs: number;
  /** Workflow task attempts from which the code counts as failing. */
  readonly workflowTaskAttempts: number;
  /** Failure types that another attempt cannot cure, beside Temporal's nonRetryable flag. */
  readonly permanentFailureTypes: readonly string[];
  readonly retry: RetryPolicy;
  readonly history: HistoryPolicy;
}

const MINUTE_MS = 60_000;

export const DEFAULT_POLICY: Policy = {
  milestoneFreshMs: 10 * MINUTE_MS,
  heartbeatFreshMs: 2 * MINUTE_MS,
  startupGraceMs: 5 * MINUTE_MS,
  effectWindowMs: 2 * MINUTE_MS,
  stopGraceMs: 2 * MINUTE_MS,
  resumeGraceMs: 2 * MINUTE_MS,
  skewMs: 5_000,
  gapGraceMs: 5_000,
  noPollerGraceMs: 2 * MINUTE_MS,
  workflowTaskAttempts: 5,
  permanentFailureTypes: [
    // Validation, authorisation, not found and size: the same request gets the same answer. HTTP codes only as a failure's
    // type: details are users' content and are not decoded.
    'ValidationError',
    'ValidationException',
    'InvalidArgument',
    'InvalidArgumentError',
    'INVALID_ARGUMENT',
    'BadRequest',
    'BadRequestError',
    'Unauthorized',
    'UnauthorizedError',
    'AuthenticationError',
    'UNAUTHENTICATED',
    'Forbidden',
    'ForbiddenError',
    'AuthorizationError',
    'PermissionDenied',
    'PermissionDeniedError',
    'PERMISSION_DENIED',
    'NotFound',
    'NotFoundError',
    'NOT_FOUND',
    'UnprocessableEntity',
    'UnprocessableEntityError',
    'PayloadTooLarge',
    'PayloadsTooLarge',
    'PayloadSizeError',
    'HTTP400',
    'HTTP401',
    'HTTP403',
    'HTTP404',
    'HTTP410',
    'HTTP413',
    'HTTP422',
  ],
  retry: {
    maxAttempts: 5,
    attemptEstimateMs: 2 * MINUTE_MS,
    reconcileReserveMs: 2 * MINUTE_MS,
    verifyReserveMs: MINUTE_MS,
  },
  history: {
    warnEvents: 10_240,
    hardEvents: 51_200,
    warnBytes: 10 * 1024 * 1024,
    hardBytes: 50 * 1024 * 1024,
  },
};
