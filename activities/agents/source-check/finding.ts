/** What became of one source. A broken link is a finding of a check that worked, never a failure of the run. */
export const OUTCOMES = ['ok', 'broken', 'unreachable', 'refused', 'restricted', 'skipped'] as const;
/**
 * `broken`: it answered, and what is linked is not there. `unreachable`: no whole answer came within all tries.
 * `refused`: not asked, because it may not be (SOURCE_NOT_ALLOWED). `restricted`: there, and not for everybody.
 * `skipped`: nothing that can be asked, such as a mail address.
 */
export type Outcome = (typeof OUTCOMES)[number];

export interface SourceFinding {
  readonly outcome: Outcome;
  /** Why it is not `ok`, a short machine word. */
  readonly cause: string | null;
  /** Of the last answer. */
  readonly status: number | null;
  /** Where the answer came from, where that is another address than the linked one. */
  readonly finalUrl: string | null;
  readonly redirects: number;
  /** Of the whole content; null where it is larger than is read, or was not read. */
  readonly digest: string | null;
  readonly sizeBytes: number | null;
  /** `not-checked` where the content cannot be asked for it. */
  readonly fragment: 'found' | 'missing' | 'not-checked' | null;
  readonly tries: number;
}

/** A finding, or that a later try may tell more. */
export type Look =
  | { readonly final: true; readonly finding: SourceFinding }
  | { readonly final: false; readonly finding: SourceFinding };

export const finding = (outcome: Outcome, cause: string | null, more: Partial<SourceFinding> = {}): SourceFinding => ({
  outcome,
  cause,
  status: null,
  finalUrl: null,
  redirects: 0,
  digest: null,
  sizeBytes: null,
  fragment: null,
  tries: 1,
  ...more,
});
