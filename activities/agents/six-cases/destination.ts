/**
 * The client of the demonstration's destination (`bin/dev/demo/destination.ts`). It takes an operation under the id that
 * it is sent, does it once, and can be asked later what became of it.
 */
import { z } from 'zod';

const appliedSchema = z.object({ operationId: z.string(), reference: z.string(), replayed: z.boolean() });
export type Applied = z.infer<typeof appliedSchema>;

const ASK_TIMEOUT_MS = 5_000;

/** Does it, or tells that it was done before. Rejects where no answer comes: nobody knows then. */
export async function apply(
  destination: string,
  path: string,
  operationId: string,
  signal: AbortSignal,
): Promise<Applied> {
  const answer = await fetch(new URL(path, destination), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': operationId },
    body: JSON.stringify({ operationId }),
    signal,
  });
  return appliedSchema.parse(await answer.json());
}

/** What became of an operation; null where the destination does not know it. */
export async function find(destination: string, operationId: string): Promise<Applied | null> {
  const answer = await fetch(new URL(`/operations?id=${encodeURIComponent(operationId)}`, destination), {
    signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
  });
  return answer.status === 404 ? null : appliedSchema.parse(await answer.json());
}
