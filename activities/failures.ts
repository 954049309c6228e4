/** The border between our coded errors and Temporal's failures: the type is the code, so that anybody can read it. */
import { ApplicationFailure } from '@temporalio/common';
import { HealthError, isHealthError } from '../receipts/errors.ts';
import type { ErrorCode } from '../receipts/errors.ts';

/** The same receipt may be taken a moment later; every other refusal will come again. */
const RETRYABLE: ReadonlySet<string> = new Set<ErrorCode>([
  'STORE_UNAVAILABLE',
  'STORE_FULL',
  'DB_UNREACHABLE',
  'WORK_DONE_UNRECORDED',
]);

/** True where nothing can be said of the receipt: it may be stored or not, and is sent again under its own id. */
export function isUnavailable(error: unknown): boolean {
  return isHealthError(error) && RETRYABLE.has(error.code);
}

/** An error as a value with a code; what is not ours is a bug of ours or of a check, and says no more than its name. */
export function asHealthError(error: unknown, fallback: ErrorCode): HealthError {
  if (isHealthError(error)) return error;
  const name = error instanceof Error ? error.name : typeof error;
  return new HealthError(fallback, `Unexpected ${name} while recording.`, { cause: error });
}

/**
 * The failure an activity throws: retried by Temporal only where a retry can end better. Without the cause: it goes into
 * history, and a database's own words may hold values.
 */
export function toFailure(error: HealthError): ApplicationFailure {
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: !RETRYABLE.has(error.code),
    details: [error.toJSON()],
  });
}
