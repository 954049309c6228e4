/** For the tests of whoever writes a workflow: a store in memory, a clock, six runs, a matcher, and the health of a real run. */
import { createMemoryStore } from '../../receipts/memory-store.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import type { TestClock } from './clock.ts';

export { testClock } from './clock.ts';
export type { TestClock } from './clock.ts';
export { healthOf } from './health-of.ts';
export type { HealthOfOptions } from './health-of.ts';
export { verdictMatchers } from './matchers.ts';
export type { MatchResult } from './matchers.ts';
export { sixRuns } from './six-runs.ts';
export type { SixRunsOptions } from './six-runs.ts';

export interface MemoryStoreOptions {
  /** Temporal's cluster id; what the plugin hands to `store: (clusterId) => …`. */
  readonly clusterId: string;
  /** The store's clock; the machine's where absent. */
  readonly clock?: TestClock;
}

/** A store that keeps everything until the test ends, and answers as the Postgres store does. */
export function memoryStore({ clusterId, clock }: MemoryStoreOptions): ReceiptStore {
  return createMemoryStore({ clusterId, ...(clock === undefined ? {} : { nowMs: clock.nowMs }) });
}
