/** `toHaveVerdict` for vitest and jest: `expect.extend(verdictMatchers)`. */
import { classify } from '../classify.ts';
import type { EvidenceDocument } from '../evidence.ts';
import type { Judgement } from '../judgement.ts';
import type { Reason, Verdict } from '../verdict.ts';

export interface MatchResult {
  readonly pass: boolean;
  readonly message: () => string;
}

function judged(given: EvidenceDocument | Judgement): Judgement {
  return 'nowMs' in given ? classify(given, given.policy, given.nowMs) : given;
}

/** What a failed expectation shows: the verdict with what decided it, so that nobody has to run it again to see why. */
function shown({ verdict, reason, message, decisive }: Judgement): string {
  const facts = decisive.map(({ ref, field, value }) => `  ${ref} ${field} = ${String(value)}`);
  return [`${verdict ?? 'no verdict'} (${reason}): ${message}`, ...facts].join('\n');
}

export const verdictMatchers = {
  /** Of an evidence document or a judgement; `null` expects that there is no verdict. */
  toHaveVerdict(given: EvidenceDocument | Judgement, verdict: Verdict | null, reason?: Reason): MatchResult {
    const judgement = judged(given);
    const pass = judgement.verdict === verdict && (reason === undefined || judgement.reason === reason);
    const wanted = `${verdict ?? 'no verdict'}${reason === undefined ? '' : ` (${reason})`}`;
    return {
      pass,
      message: () => `expected ${pass ? 'anything but ' : ''}${wanted}, and it is ${shown(judgement)}`,
    };
  },
} as const;
