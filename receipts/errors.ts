/**
 * Every refusal this project makes at a border has one of these codes, a sentence that says what to do, and never a
 * value: identities, fields, limits and SQL states only (R15).
 */
export const ERROR_CODES = [
  'RECEIPT_INVALID',
  'RECEIPT_UNKNOWN_FIELD',
  'RECEIPT_TOO_LARGE',
  'RECEIPT_TOO_DEEP',
  'RECEIPT_NUMBER',
  'RECEIPT_NOT_MONOTONE',
  'RECEIPT_TEXT',
  'RECEIPT_SECRET',
  'RECEIPT_ID_CONFLICT',
  'RUN_NOT_IN_MISSION',
  'CLUSTER_MISMATCH',
  'BODY_NOT_JSON',
  'WAIT_INCOMPLETE',
  'WAIT_DEADLINE',
  'EFFECT_VERDICT_REQUIRED',
  'OP_INTENT_MISMATCH',
  'DELIVERABLE_DIGEST',
  'DELIVERABLE_CHECK_REQUIRED',
  'DELIVERABLE_STALE',
  'CONTRACT_INVALID',
  'CONTRACT_UNKNOWN',
  'EVIDENCE_INVALID',
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'STORE_SETTINGS',
  'SCHEMA_VERSION',
  'CONFIG_MISSING',
  'DB_UNREACHABLE',
  'TEMPORAL_UNREACHABLE',
  'NOT_FOUND',
  'NOT_ALLOWED',
  'INVALID_ID',
  'INVALID_TIME',
  'USAGE',
  'LIMIT_REQUIRED',
  'OUTPUT_UNWRITABLE',
  'NODE_VERSION',
  'NO_ACTIVITY_CONTEXT',
  'PLUGIN_TWICE',
  'PLUGIN_MISSING',
  'WORK_DONE_UNRECORDED',
  'INPUT_INVALID',
  'INTERNAL',
  'SOURCE_NOT_ALLOWED',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorDetails {
  /** Path of the field at fault, e.g. `body.deadlineMs`; never its value. */
  readonly field?: string;
  /** The kind of value that came, e.g. `string`; never the value. */
  readonly got?: string;
  /** The limit that was passed, with its unit in the message. */
  readonly limit?: number;
  /** Where in a text the fault begins, counted from 0. */
  readonly position?: number;
  /** What to do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** A refusal or a failure with a stable code. Compare `code`, never the class: `instanceof` does not cross the sandbox. */
export class HealthError extends Error {
  override readonly name = 'HealthError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly got: string | undefined;
  readonly limit: number | undefined;
  readonly position: number | undefined;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.got = details.got;
    this.limit = details.limit;
    this.position = details.position;
    this.hint = details.hint;
  }

  /** The shape that goes on stderr with `-o json`, into logs and into a failure's details. */
  toJSON(): Omit<ErrorDetails, 'cause'> & { readonly code: ErrorCode; readonly message: string } {
    return {
      code: this.code,
      message: this.message,
      ...(this.field === undefined ? {} : { field: this.field }),
      ...(this.got === undefined ? {} : { got: this.got }),
      ...(this.limit === undefined ? {} : { limit: this.limit }),
      ...(this.position === undefined ? {} : { position: this.position }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
    };
  }
}

/** True for an error of ours, also for one that crossed a sandbox or a package boundary. */
export function isHealthError(error: unknown): error is HealthError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { name?: unknown }).name === 'HealthError' &&
    typeof (error as { code?: unknown }).code === 'string'
  );
}
