import type { Action, Disposition, Forbidden, Reason, Verdict } from './verdict.ts';

export const JUDGEMENT_SCHEMA_VERSION = 1;
/** Grows when the same evidence may be judged otherwise; stored with each judgement. */
export const RULE_VERSION = '1';

/** A named fact with the numbers that matter, or a receipt by id. Never a payload. */
export interface Fact {
  /** A receipt id, or what it is about, e.g. `activity:a1`, `effect:pay-7`, `deliverable:report`, `describe`. */
  readonly ref: string;
  /** Dotted name of the field that counted, e.g. `lastHeartbeatAtMs`, `wait.owner`. */
  readonly field: string;
  readonly value: string | number | boolean | null;
}

/** What was seen and did not decide: always shown, never decisive. */
export interface Finding {
  /** Kebab-case word, e.g. `history-warn`, `late-receipt`, `wait-incomplete`. */
  readonly finding: string;
  readonly message: string;
  readonly facts: readonly Fact[];
}

export interface Judgement {
  readonly schemaVersion: typeof JUDGEMENT_SCHEMA_VERSION;
  readonly workflowId: string;
  readonly runId: string;
  /** Null: no verdict, and the reason says why. */
  readonly verdict: Verdict | null;
  readonly reason: Reason;
  readonly disposition: Disposition;
  /** One sentence for a person. */
  readonly message: string;
  /** What decided it; removing any of it could change the verdict. */
  readonly decisive: readonly Fact[];
  readonly safeAction: Action;
  readonly forbidden: readonly Forbidden[];
  readonly findings: readonly Finding[];
  readonly confidence: 'deterministic' | { readonly judged: string; readonly confidence: number };
  /** The chain row's evidence version, null without a row: actions carry it. */
  readonly evidenceVersion: number | null;
  readonly ruleVersion: string;
  readonly judgedAtMs: number;
  /** The next moment at which time alone can change it; null where only new evidence can. */
  readonly validUntilMs: number | null;
}
