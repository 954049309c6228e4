/**
 * Counters: what a whole result has to hold, counted by the check from the source and not taken from the agent.
 *
 * A contract names a counter; the worker (or the command's configuration) registers the function under that name.
 */
import type { CheckRequest } from '../contract.ts';

/** What the counter looks at: the artifact as it was read, and whose it has to be. */
export interface CountRequest {
  readonly content: Buffer;
  readonly workflowId: string;
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
}

export type Counted =
  | { readonly counted: true; readonly expected: number; readonly accepted: number; readonly empty?: number }
  /** The artifact is not the promised one: a short machine word says why, e.g. `other-run`. */
  | { readonly counted: false; readonly result: 'fail' | 'unread'; readonly cause: string };

export type Counter = (request: CountRequest) => Promise<Counted>;

const counters = new Map<string, Counter>();

/** Registers a counter for this process. The same name again replaces it: a name has one meaning. */
export function registerCounter(name: string, counter: Counter): void {
  counters.set(name, counter);
}

/** Runs a registered counter; one that throws has read nothing. */
export async function countWith(name: string, request: CheckRequest, content: Buffer): Promise<Counted> {
  const counter = counters.get(name);
  if (counter === undefined) return { counted: false, result: 'unread', cause: 'counter-not-registered' };
  try {
    const { workflowId, runId, signal } = request;
    return await counter({ content, workflowId, runId, signal });
  } catch {
    return { counted: false, result: 'unread', cause: 'counter-failed' };
  }
}
