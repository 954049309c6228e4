/**
 * The shapes of the reference's texts. The texts are data, one record for each closed list, so that a missing entry or one
 * too many does not compile; `bin/dev/reference.ts` writes the pages of `docs/reference/` from them.
 */
import type {
  ContractBudgets,
  ContractDeliverable,
  ContractEffect,
  ContractMilestone,
} from '../../receipts/contract.ts';
import type { ErrorCode } from '../../receipts/errors.ts';
import type { HistoryPolicy, Policy, RetryPolicy } from '../policy.ts';
import type { Reason } from '../verdict.ts';

/** A number of the policy by its path; the page shows the default. */
export type PolicyPath =
  Exclude<keyof Policy, 'retry' | 'history'> | `retry.${keyof RetryPolicy}` | `history.${keyof HistoryPolicy}`;

/** A member of a contract by its path; `*` stands for a name. */
export type ContractPath =
  | `milestones.*.${keyof ContractMilestone}`
  | `effects.*.${keyof ContractEffect}`
  | `deliverables.*.${keyof ContractDeliverable}`
  | `budgets.${keyof ContractBudgets}`;

/** What a rule holds the evidence against. Where both are given the contract's counts, and the policy's without it. */
export interface Limit {
  readonly says: string;
  readonly contract?: ContractPath;
  readonly policy?: PolicyPath;
  /** What holds where neither says anything. */
  readonly otherwise?: string;
}

export interface ReasonText {
  readonly means: string;
  /** Which evidence decides it, and how. */
  readonly decidedBy: string;
  readonly limits: readonly Limit[];
  /** Given also for a workflow type without a contract. */
  readonly withoutContract?: true;
  /** What to do first, in plain words. */
  readonly first: string;
  /** Why what is forbidden would do harm here. */
  readonly beware: string;
  readonly changes: string;
  /** The case of `test/cases/reasons/` that the page shows; the first one that has this reason where absent. */
  readonly example?: string;
}

/** Where a code comes out. */
export type Border = 'activity' | 'workflow' | 'worker' | 'command' | 'contract' | 'store' | 'agent';

export interface ErrorText {
  readonly happened: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Whether anything was stored or done. */
  readonly stored: string;
  /** Empty for a code that is reserved and that nothing gives yet. */
  readonly borders: readonly Border[];
}

export interface ReceiptText {
  readonly says: string;
  /** How code records one. */
  readonly call: string;
  readonly proves: readonly string[];
  readonly doesNotProve: readonly string[];
  /** What is checked beside the shape. */
  readonly rules: readonly string[];
  readonly refusals: readonly ErrorCode[];
  readonly reasons: readonly Reason[];
}

export interface VerdictText {
  readonly means: string;
  readonly decisiveEvidence: string;
  readonly safeAction: string;
  /** Where in the order of decision it can be given. */
  readonly order: string;
  readonly first: string;
  readonly changes: string;
}
