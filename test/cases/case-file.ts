/**
 * What a case file is: a title, what its cases share, and the cases, each with the short evidence (`given`, see
 * `test/support/given.ts`) and what the judgement must say.
 *
 * A reference is `[ref, field?, value?]`. `ref` may give alternatives (`p1|effect:pay`) and `*` for any; a field matches
 * itself and its members (`lastFailure` matches `lastFailure.type`). Findings are words, or words with a reference.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { ACTIONS, ALL_REASONS, DISPOSITIONS, FORBIDDEN, VERDICTS } from '../../health/verdict.ts';
import { givenSchema } from '../support/given.ts';

const reference = z
  .tuple([z.string()])
  .or(z.tuple([z.string(), z.string()]))
  .or(z.tuple([z.string(), z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])]));
export type Reference = z.infer<typeof reference>;

const reason = z.enum(ALL_REASONS);
const verdict = z.enum(VERDICTS).nullable();

export const expectSchema = z.strictObject({
  verdict: z.union([verdict, z.array(verdict)]),
  /** Several only where the design leaves the choice open. */
  reason: z.union([reason, z.array(reason)]).optional(),
  notReason: z.array(reason).optional(),
  disposition: z.enum(DISPOSITIONS).optional(),
  /** The verdict's own action where absent. */
  action: z.enum(ACTIONS).optional(),
  /** Must be among the forbidden ones, beside the verdict's own. */
  forbidden: z.array(z.enum(FORBIDDEN)).optional(),
  decisive: z.array(reference).optional(),
  /** In `decisive` or among the facts of a finding. */
  shown: z.array(reference).optional(),
  findings: z.array(z.string()).optional(),
  /** Finding words and `decisive` references that must not be there. */
  absent: z.array(z.string()).optional(),
  notDecisive: z.array(reference).optional(),
  /** Some finding must say this in its message or facts. */
  says: z.array(z.string()).optional(),
  judged: z.strictObject({ judged: z.string(), confidence: z.number() }).optional(),
  validUntil: z.union([z.string(), z.number(), z.null()]).optional(),
});
export type Expected = z.infer<typeof expectSchema>;

const caseSchema = z.strictObject({
  name: z.string(),
  /** Which statement of the design asks for it, or why an operator wants it. */
  why: z.string().optional(),
  given: givenSchema.optional(),
  expect: expectSchema,
});

const fileSchema = z.strictObject({
  title: z.string(),
  base: givenSchema.optional(),
  cases: z.array(caseSchema).min(1),
});

export interface Case {
  readonly file: string;
  readonly name: string;
  readonly given: z.infer<typeof givenSchema>;
  readonly expected: Expected;
}

const FOLDER = new URL('./', import.meta.url);

/** Every case of one file; `given` replaces what `base` says, key by key. */
export function readCases(file: string): readonly Case[] {
  const parsed = fileSchema.parse(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')));
  return parsed.cases.map(({ name, given, expect }) => ({
    file,
    name,
    given: { ...parsed.base, ...given },
    expected: expect,
  }));
}

/** The case files below a folder of this one, in order of name. */
export function caseFiles(folder: string): readonly string[] {
  return readdirSync(new URL(folder, FOLDER))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => folder + name);
}
