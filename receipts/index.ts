/**
 * The public surface of `temporal-health`: receipts and contracts as types, what defines and reads them, errors. Nothing
 * here opens a connection; the Postgres store is `temporal-health/postgres`.
 */
export { CONTRACT_SCHEMA_VERSION, defineContract, EFFECT_DUE } from './contract.ts';
export type {
  CheckDeclaration,
  CheckFinding,
  CheckRequest,
  Contract,
  ContractBudgets,
  ContractDefinition,
  ContractDeliverable,
  ContractEffect,
  ContractMilestone,
  DefinedContract,
  DeliverableCheck,
  DeliverableDefinition,
  EffectDue,
} from './contract.ts';
export { canonicalJson, digestJson, digestText, isSha256 } from './digest.ts';
export type { Sha256 } from './digest.ts';
export type { Duration } from './duration.ts';
export { compareOrder, effectiveAtMs, RECEIPT_SCHEMA_VERSION, WORKFLOW_EMITTER } from './envelope.ts';
export type { Envelope, OrderParts, Receipt, ReceiptOf, RunIdentity, StoredReceipt } from './envelope.ts';
export { ERROR_CODES, HealthError, isHealthError } from './errors.ts';
export type { ErrorCode, ErrorDetails } from './errors.ts';
export { foldChain } from './fold.ts';
export { DEFAULT_WAIT_HORIZON_MS, JUDGED_CHECK, judgedBy, judgeOf } from './input.ts';
export type {
  BodyContext,
  BodyInputs,
  DeliverableInput,
  EffectInput,
  Moment,
  ProgressInput,
  WaitInput,
} from './input.ts';
export { parseBody, parseContract, parseJsonText, parseReceipt, RECEIPT_LIMITS } from './parse.ts';
export type { ParsedBody } from './parse.ts';
export {
  CHECK_RESULTS,
  COST_CAUSES,
  DESTINATION_VERDICTS,
  EFFECT_CLASSES,
  EFFECT_ROLES,
  EFFECT_STATES,
  RECEIPT_KINDS,
  RESUME_BY,
  VERDICT_SOURCES,
  WAIT_STATES,
} from './receipt.ts';
export type {
  CheckResult,
  Cost,
  CostCause,
  Coverage,
  DeliverableBody,
  Delta,
  DestinationVerdict,
  DestinationVerdictKind,
  EffectBody,
  EffectClass,
  EffectRole,
  EffectState,
  ProgressBody,
  ReceiptBodies,
  ReceiptKind,
  ResumeBy,
  Subject,
  VerdictSource,
  WaitBody,
  WaitState,
} from './receipt.ts';
export { effectState, isContradicted, missionKey } from './state.ts';
export type {
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
export type {
  ChainPage,
  ChainReference,
  EmitOutcome,
  JudgementRecord,
  Observation,
  OutageGap,
  ReceiptStore,
  RunReference,
} from './store.ts';
export { shorten, terminalText } from './text.ts';
