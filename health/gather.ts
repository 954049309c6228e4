/**
 * Gathers the evidence about runs; it reads and never decides.
 *
 *   gatherRun    one run (gather/run.ts): always described, its close event when it is closed, its task queues where work
 *                waits, and what the store holds. A source that does not answer is named in the document.
 *   gatherRunAt  one run as it was known at a past moment (gather/past.ts): from the store alone.
 *   gatherFleet  a stream of candidates (gather/fleet.ts): the list and the store first, Describe for suspects only.
 *
 * No worker is asked anything: with every worker dead the evidence is the same.
 */
export { gatherRun } from './gather/run.ts';
export type { GatheredRun } from './gather/run.ts';
export { gatherRunAt } from './gather/past.ts';
export { gatherFleet } from './gather/fleet.ts';
export type { FleetEnd, FleetRequest } from './gather/fleet.ts';
export { temporalError, temporalReader } from './gather/reader.ts';
export type { TemporalReader } from './gather/reader.ts';
export { isUnreadable, readableStore } from './gather/sources.ts';
export type { Sources, Unreadable } from './gather/sources.ts';
