/**
 * What an activity cannot know by itself, carried from the workflow in one small header: which chain it works for, when the
 * run began and must end, for which mission, and how much history there is. No content: a codec does not cover headers.
 *
 * The same header name on a continued run carries the mission fingerprint of the chain's first run, and nothing else.
 * Values are absolute, never "as the run id": a reset keeps an activity's header and gives it another run id.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Headers, Payload } from '@temporalio/common';

export const HEADER_NAME = 'temporal-health';

/** Found in the text of a prebuilt bundle: one without it was built without the plugin. */
export const BUNDLE_MARK = 'temporal-health:interceptors';

const RUN_HEADER_VERSION = 1;
const MISSION_HEADER_VERSION = 2;

/** All times in epoch ms on Temporal's clock. */
export interface RunFacts {
  /** firstExecutionRunId; of a cron run its own run id. */
  readonly chainId: string;
  /** The run id of the started event: unlike the run id it survives a reset. */
  readonly originalExecutionRunId: string;
  /** When this run began, or was reset: it grows along the chain. */
  readonly runStartedAtMs: number;
  /** When Temporal ends the run; null where it has no such limit. */
  readonly runDeadlineMs: number | null;
  readonly missionFingerprint: string | null;
  readonly historyLength: number;
  readonly historySizeBytes: number;
}

/** Positions instead of names: every activity's schedule event carries these bytes. */
type RunHeader = readonly [
  version: number,
  chainId: string,
  originalExecutionRunId: string | null,
  runStartedAtMs: number,
  runDeadlineMs: number | null,
  missionFingerprint: string | null,
  historyLength: number,
  historySizeBytes: number,
];

export function withRunHeader(headers: Headers, facts: RunFacts): Headers {
  const { chainId, originalExecutionRunId, runStartedAtMs, runDeadlineMs, missionFingerprint } = facts;
  const original = originalExecutionRunId === chainId ? null : originalExecutionRunId;
  const header: RunHeader = [
    RUN_HEADER_VERSION,
    chainId,
    original,
    runStartedAtMs,
    runDeadlineMs,
    missionFingerprint,
    facts.historyLength,
    facts.historySizeBytes,
  ];
  return withPayload(headers, header);
}

/** The facts of the run that scheduled an activity; null where its workflow ran without the plugin. */
export function readRunHeader(headers: Headers): RunFacts | null {
  const value = readPayload(headers[HEADER_NAME]);
  if (value === null || value[0] !== RUN_HEADER_VERSION) return null;
  const [, chainId, original, runStartedAtMs, runDeadlineMs, missionFingerprint, historyLength, historySizeBytes] =
    value;
  if (typeof chainId !== 'string' || typeof runStartedAtMs !== 'number') return null;
  return {
    chainId,
    originalExecutionRunId: typeof original === 'string' ? original : chainId,
    runStartedAtMs,
    runDeadlineMs: typeof runDeadlineMs === 'number' ? runDeadlineMs : null,
    missionFingerprint: typeof missionFingerprint === 'string' ? missionFingerprint : null,
    historyLength: typeof historyLength === 'number' ? historyLength : 0,
    historySizeBytes: typeof historySizeBytes === 'number' ? historySizeBytes : 0,
  };
}

export function withMissionHeader(headers: Headers, missionFingerprint: string | null): Headers {
  return withPayload(headers, [MISSION_HEADER_VERSION, missionFingerprint]);
}

/** The fingerprint a continued run was given (null: its chain has none); undefined where nothing was carried. */
export function readMissionHeader(headers: Headers): string | null | undefined {
  const value = readPayload(headers[HEADER_NAME]);
  if (value === null || value[0] !== MISSION_HEADER_VERSION) return undefined;
  return typeof value[1] === 'string' ? value[1] : null;
}

function withPayload(headers: Headers, value: readonly unknown[]): Headers {
  return { ...headers, [HEADER_NAME]: defaultPayloadConverter.toPayload(value) };
}

/** A header may come from anybody: what is not an array of ours reads as absent. */
function readPayload(payload: Payload | undefined): readonly unknown[] | null {
  if (payload === undefined) return null;
  try {
    const value = defaultPayloadConverter.fromPayload<unknown>(payload);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
