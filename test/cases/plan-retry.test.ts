import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { planRetry, RETRY_REFUSALS } from '../../health/plan-retry.ts';

const request = z.strictObject({
  nowMs: z.number(),
  runDeadlineMs: z.number().nullable(),
  attempt: z.number(),
  maximumAttempts: z.number(),
  backoffMs: z.number(),
  attemptEstimateMs: z.number(),
  reconcileMs: z.number(),
  verifyMs: z.number(),
  permanent: z.boolean(),
  openUnknownEffect: z.boolean(),
  deliverablesVerified: z.boolean(),
});
const file = z.strictObject({
  title: z.string(),
  base: request,
  cases: z.array(
    z.strictObject({
      name: z.string(),
      given: request.partial(),
      expect: z.strictObject({ allowed: z.boolean(), reason: z.enum(RETRY_REFUSALS).optional() }),
    }),
  ),
});
const { title, base, cases } = file.parse(
  JSON.parse(readFileSync(new URL('plan-retry.json', import.meta.url), 'utf8')),
);

describe(title, () => {
  for (const { name, given, expect: expected } of cases) {
    test(name, () => {
      const asked = { ...base, ...given } as z.infer<typeof request>;
      const { terms, ...plan } = planRetry(asked);
      expect(plan).toEqual(expected);
      expect(terms).toMatchObject({
        backoffMs: asked.backoffMs,
        attemptMs: asked.attemptEstimateMs,
        reconcileMs: asked.reconcileMs,
        verifyMs: asked.deliverablesVerified ? 0 : asked.verifyMs,
        leftMs: asked.runDeadlineMs === null ? null : asked.runDeadlineMs - asked.nowMs,
      });
      expect(terms.neededMs).toBe(terms.backoffMs + terms.attemptMs + terms.reconcileMs + terms.verifyMs);
    });
  }
});
