import type { Fact, Judgement } from '../judgement.ts';
import type { Reason, Verdict } from '../verdict.ts';
import type { View } from '../view.ts';

/** What a rule found: it decides if no earlier rule did, else it stays as a finding. */
export interface Decision {
  readonly verdict: Verdict | null;
  readonly reason: Reason;
  readonly message: string;
  readonly decisive: readonly Fact[];
  readonly confidence?: Judgement['confidence'];
}

/** One rule: pure, and null where it has nothing to say. */
export type Rule = (view: View) => Decision | null;
