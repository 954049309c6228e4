/**
 * What the sandbox remembers of the one run it executes: set by the interceptor, read by the helpers. Module state is per
 * workflow execution in Temporal's sandbox; it is kept small because every cached workflow holds a copy.
 */
import { workflowInfo } from '@temporalio/workflow';
import { digestJson } from '../receipts/digest.ts';
import type { RunFacts } from './header.ts';

interface RunMemory {
  /** The interceptor that saw the run begin: without one no activity learns which chain it works for. */
  interceptedBy: string | null;
  missionFingerprint: string | null;
  /** When the run was last reset, in ms: the started event of a reset run is a copy and still tells the old time. */
  resetAtMs: number | null;
  seed: string | null;
}

const memory: RunMemory = { interceptedBy: null, missionFingerprint: null, resetAtMs: null, seed: null };

export function beginRun(missionFingerprint: string | null, mark: string): void {
  memory.interceptedBy = mark;
  memory.missionFingerprint = missionFingerprint;
}

/**
 * Notices a reset: only that gives a run a new seed, and the SDK shows it nowhere else. Where a later SDK hides the seed a
 * reset run keeps the start of the run it was made from, and its newest receipts still go under its own run id. The clock
 * of the sandbox is the workflow task's: the same on every replay.
 */
export function noteActivation(): void {
  const { randomnessSeed } =
    (globalThis as { __TEMPORAL_ACTIVATOR__?: { readonly randomnessSeed?: unknown } }).__TEMPORAL_ACTIVATOR__ ?? {};
  const seed = Array.isArray(randomnessSeed) ? randomnessSeed.join('.') : null;
  if (memory.seed !== null && seed !== memory.seed) memory.resetAtMs = Date.now();
  memory.seed = seed;
}

export function isIntercepted(): boolean {
  return memory.interceptedBy !== null;
}

export function runStartedAtMs(): number {
  return memory.resetAtMs ?? workflowInfo().runStartTime.getTime();
}

/** Digest of what the run was asked to do; null where the input has no canonical form (cyclic, BigInt, NaN). */
export function fingerprintOf(workflowType: string, args: readonly unknown[]): string | null {
  try {
    return digestJson({ workflowType, args });
  } catch {
    return null;
  }
}

export function runFacts(): RunFacts {
  const info = workflowInfo();
  const ends = [
    info.executionExpirationTime?.getTime() ?? 0,
    (info.runTimeoutMs ?? 0) > 0 ? runStartedAtMs() + (info.runTimeoutMs ?? 0) : 0,
  ].filter((atMs) => atMs > 0);
  return {
    chainId: isCron(info.cronSchedule) ? info.runId : info.firstExecutionRunId,
    originalExecutionRunId: info.originalExecutionRunId,
    runStartedAtMs: runStartedAtMs(),
    runDeadlineMs: ends.length === 0 ? null : Math.min(...ends),
    missionFingerprint: memory.missionFingerprint,
    historyLength: info.historyLength,
    historySizeBytes: info.historySize,
  };
}

/** Runs of a cron share a first run id; each is a chain of its own all the same. */
export function isCron(cronSchedule: string | undefined): boolean {
  return cronSchedule !== undefined && cronSchedule !== '';
}
