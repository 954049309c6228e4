/**
 * What a workflow type owes: milestones and their freshness, due effects, due deliverables and their checks, budgets.
 * Registered as data; due things come from here and never from receipts, so that losing a receipt cannot lower the bar.
 */
import { HealthError } from './errors.ts';
import { durationMs } from './duration.ts';
import type { Duration } from './duration.ts';
import { isJudgedCheck } from './input.ts';
import type { Coverage, EffectClass, Subject } from './receipt.ts';

export const CONTRACT_SCHEMA_VERSION = 1;

/** How often an effect is due before the run may be called healthy. `any`: it may happen, and must be settled if it did. */
export const EFFECT_DUE = ['once', 'at-least-once', 'any'] as const;
export type EffectDue = (typeof EFFECT_DUE)[number];

export interface ContractMilestone {
  /** How long a changed digest keeps the run `working`, in ms; the policy's where absent. */
  readonly freshMs?: number;
  /** Activity types whose new result digest is this milestone. Never a model call: its words are always new. */
  readonly activityTypes?: readonly string[];
}

export interface ContractEffect {
  readonly due: EffectDue;
  readonly class?: EffectClass;
  /** The destination verdict's level that is needed, from weakest to strongest; the last is the required one. */
  readonly levels?: readonly string[];
  /** How long an attempt may stay without a verdict while its activity is live, in ms; the policy's where absent. */
  readonly windowMs?: number;
  /** Who settles it when its outcome is unknown. */
  readonly owner?: string;
}

/** A check by its registered name and options, as data: the function is found by name in a worker or the command. */
export interface CheckDeclaration {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface ContractDeliverable {
  readonly destination: string;
  /** Null says that no deterministic check exists: then only a labelled judgement can speak for it. */
  readonly check: CheckDeclaration | null;
  /** Why there is no deterministic check; required where `check` is null. */
  readonly noDeterministicCheck?: string;
  /** Smallest size that can be the promised result; 1 where absent, since an empty artifact is none. */
  readonly minimumBytes?: number;
  /** The receipt must state coverage, and it must be whole. */
  readonly coverage?: boolean;
  /** How old a passing check may be when the run closes, in ms; unbounded where absent. */
  readonly freshMs?: number;
  /** Transports that must each deliver it; production and delivery are two receipts (R13). */
  readonly transports?: readonly string[];
}

export interface ContractBudgets {
  /** From the chain's start, in ms; Temporal's own expiry counts if it is earlier. */
  readonly runMs?: number;
  readonly attempts?: number;
  readonly attemptEstimateMs?: number;
  readonly reconcileMs?: number;
  readonly verifyMs?: number;
}

/** The registered data. Its digest is pinned by a chain's first receipt. */
export interface Contract {
  readonly schemaVersion: typeof CONTRACT_SCHEMA_VERSION;
  readonly workflowType: string;
  readonly milestones: Readonly<Record<string, ContractMilestone>>;
  readonly effects: Readonly<Record<string, ContractEffect>>;
  readonly deliverables: Readonly<Record<string, ContractDeliverable>>;
  readonly budgets: ContractBudgets;
}

/** What a check is told when it runs. */
export interface CheckRequest {
  readonly workflowId: string;
  readonly runId: string;
  readonly deliverable: string;
  /** Where to look now: a path or an address, as the workflow's activity or the operator gives it. */
  readonly location: string;
  readonly minimumBytes: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** What a check found; it never throws for a missing or unreadable destination. */
export interface CheckFinding {
  readonly result: 'pass' | 'fail' | 'unread';
  readonly subject?: Subject;
  readonly coverage?: Coverage;
  /** A short machine word, e.g. `missing`, `size-zero`, `digest-differs`. */
  readonly cause?: string;
}

/** A deterministic check: same destination state, same finding. */
export interface DeliverableCheck {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Every pass of it has the digest of what it found: a pass without one is refused (DELIVERABLE_DIGEST). */
  readonly findsDigest?: boolean;
  readonly run: (request: CheckRequest) => Promise<CheckFinding>;
}

export interface DeliverableDefinition {
  readonly destination: string;
  readonly check?: DeliverableCheck;
  readonly noDeterministicCheck?: string;
  readonly minimumBytes?: number;
  readonly coverage?: boolean;
  readonly fresh?: Duration;
  readonly transports?: readonly string[];
}

export interface ContractDefinition {
  readonly workflowType: string;
  readonly milestones?: Readonly<
    Record<string, { readonly fresh?: Duration; readonly activityTypes?: readonly string[] }>
  >;
  readonly effects?: Readonly<
    Record<
      string,
      {
        readonly due?: EffectDue;
        readonly class?: EffectClass;
        readonly levels?: readonly string[];
        readonly window?: Duration;
        readonly owner?: string;
      }
    >
  >;
  readonly deliverables?: Readonly<Record<string, DeliverableDefinition>>;
  readonly budgets?: {
    readonly run?: Duration;
    readonly attempts?: number;
    readonly attempt?: Duration;
    readonly reconcile?: Duration;
    readonly verify?: Duration;
  };
}

/** A contract with the functions of its checks beside the data that is registered. */
export interface DefinedContract {
  readonly contract: Contract;
  readonly checks: Readonly<Record<string, DeliverableCheck>>;
}

/** Leaves members out whose value is undefined, as exact optional types and canonical digests want. */
function present<T extends object>(members: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function optionalMs(duration: Duration | undefined, field: string): number | undefined {
  return duration === undefined ? undefined : durationMs(duration, field);
}

function mapValues<A, B>(
  record: Readonly<Record<string, A>> | undefined,
  map: (value: A, name: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, map(value, name)]));
}

function deliverable(definition: DeliverableDefinition, name: string): ContractDeliverable {
  const field = `deliverables.${name}`;
  if ((definition.check === undefined) === (definition.noDeterministicCheck === undefined)) {
    throw new HealthError('CONTRACT_INVALID', `${field} needs either a check or the reason why none exists.`, {
      field,
      hint: "Give check: fileDigest(), or noDeterministicCheck: 'why no deterministic check exists'.",
    });
  }
  if (definition.check !== undefined && isJudgedCheck(definition.check.name)) {
    throw new HealthError('CONTRACT_INVALID', `${field}.check has a name that stands for judgements only.`, {
      field: `${field}.check`,
      hint: 'Give the check another name; a judgement is recorded only where the contract has noDeterministicCheck.',
    });
  }
  return present<ContractDeliverable>({
    destination: definition.destination,
    check: definition.check ? { name: definition.check.name, options: definition.check.options } : null,
    noDeterministicCheck: definition.noDeterministicCheck,
    minimumBytes: definition.minimumBytes,
    coverage: definition.coverage,
    freshMs: optionalMs(definition.fresh, `${field}.fresh`),
    transports: definition.transports,
  });
}

/**
 * Declares what a workflow type owes. Durations are ms or text (`'10m'`).
 * @throws HealthError CONTRACT_INVALID, with the field at fault.
 */
export function defineContract(definition: ContractDefinition): DefinedContract {
  if (definition.workflowType.trim() === '') {
    throw new HealthError('CONTRACT_INVALID', 'A contract needs the workflow type it speaks for.', {
      field: 'workflowType',
    });
  }
  const budgets = definition.budgets ?? {};
  const contract: Contract = {
    schemaVersion: CONTRACT_SCHEMA_VERSION,
    workflowType: definition.workflowType,
    milestones: mapValues(definition.milestones, (milestone, name) =>
      present<ContractMilestone>({
        freshMs: optionalMs(milestone.fresh, `milestones.${name}.fresh`),
        activityTypes: milestone.activityTypes,
      }),
    ),
    effects: mapValues(definition.effects, (effect, name) =>
      present<ContractEffect>({
        due: effect.due ?? 'any',
        class: effect.class,
        levels: effect.levels,
        windowMs: optionalMs(effect.window, `effects.${name}.window`),
        owner: effect.owner,
      }),
    ),
    deliverables: mapValues(definition.deliverables, deliverable),
    budgets: present<ContractBudgets>({
      runMs: optionalMs(budgets.run, 'budgets.run'),
      attempts: budgets.attempts,
      attemptEstimateMs: optionalMs(budgets.attempt, 'budgets.attempt'),
      reconcileMs: optionalMs(budgets.reconcile, 'budgets.reconcile'),
      verifyMs: optionalMs(budgets.verify, 'budgets.verify'),
    }),
  };
  const checks: Record<string, DeliverableCheck> = {};
  for (const [name, due] of Object.entries(definition.deliverables ?? {})) if (due.check) checks[name] = due.check;
  return { contract, checks };
}
