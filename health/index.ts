/** The pure classifier: evidence in, judgement out. No clock, no network, no store. */
export { classify } from './classify.ts';
export { planRetry, RETRY_REFUSALS } from './plan-retry.ts';
export type { RetryPlan, RetryRefusal, RetryRequest, RetryTerms } from './plan-retry.ts';
export { DEFAULT_POLICY } from './policy.ts';
export type { HistoryPolicy, Policy, RetryPolicy } from './policy.ts';
export { ACTIONS, ALL_REASONS, DISPOSITIONS, FORBIDDEN, REASONS, VERDICTS, VERDICTS_BY_SEVERITY } from './verdict.ts';
export type { Action, Disposition, Forbidden, Reason, Verdict } from './verdict.ts';
export { EVIDENCE_SCHEMA_VERSION } from './evidence.ts';
export type * from './evidence.ts';
export { JUDGEMENT_SCHEMA_VERSION, RULE_VERSION } from './judgement.ts';
export type { Fact, Finding, Judgement } from './judgement.ts';
