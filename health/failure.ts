import type { Failure } from './evidence.ts';
import type { Policy } from './policy.ts';

/** Client errors of HTTP that another identical request cannot cure. 408, 409, 421, 423, 425 and 429 may pass. */
const PERMANENT_HTTP = new Set([400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 416, 422, 451]);

/**
 * Whether another attempt of the same input cannot succeed: Temporal's own flag, a type on the policy's list, or an HTTP
 * code that the failure's type names (`HTTP422`, `HttpStatus 404`). Details and messages are users' content and not read.
 */
export function isPermanent(failure: Failure, policy: Policy): boolean {
  if (failure.nonRetryable || policy.permanentFailureTypes.includes(failure.type)) return true;
  const code = /http|status/i.test(failure.type) ? /(?<!\d)([45]\d\d)(?!\d)/.exec(failure.type)?.[1] : undefined;
  return code !== undefined && PERMANENT_HTTP.has(Number(code));
}
