import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  HEADER_NAME,
  readMissionHeader,
  readRunHeader,
  withMissionHeader,
  withRunHeader,
} from '../../../workflows/header.ts';
import type { RunFacts } from '../../../workflows/header.ts';

const longest: RunFacts = {
  chainId: '01a2b3c4-d5e6-7789-8abc-def012345678',
  originalExecutionRunId: '11a2b3c4-d5e6-7789-8abc-def012345678',
  runStartedAtMs: 1_796_078_866_605,
  runDeadlineMs: 1_796_078_999_999,
  missionFingerprint: `sha256:${'f'.repeat(64)}`,
  historyLength: 51_200,
  historySizeBytes: 52_428_800,
};

describe('the header', () => {
  it('brings every fact over, and is small whatever they are', () => {
    const headers = withRunHeader({}, longest);
    expect(readRunHeader(headers)).toEqual(longest);
    const bytes = headers[HEADER_NAME]?.data?.length ?? 0;
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(240);
  });

  it('leaves the headers of others alone', () => {
    const other = defaultPayloadConverter.toPayload('theirs');
    expect(withRunHeader({ other }, longest)['other']).toBe(other);
  });

  it('tells a carried mission, a carried "none" and nothing at all apart', () => {
    expect(readMissionHeader(withMissionHeader({}, 'f'))).toBe('f');
    expect(readMissionHeader(withMissionHeader({}, null))).toBe(null);
    expect(readMissionHeader({})).toBe(undefined);
    expect(readMissionHeader(withRunHeader({}, longest))).toBe(undefined);
    expect(readRunHeader(withMissionHeader({}, 'f'))).toBe(null);
  });

  it.each([null, 'text', 7, {}, [], [9, 'x'], [1], [1, 7, null, 1]])('reads %j from a stranger as absent', (value) => {
    const headers = { [HEADER_NAME]: defaultPayloadConverter.toPayload(value) };
    expect(readRunHeader(headers)).toBe(null);
    expect(readMissionHeader(headers)).toBe(undefined);
  });

  it('reads bytes that are no payload of ours as absent', () => {
    expect(readRunHeader({ [HEADER_NAME]: { metadata: {}, data: new Uint8Array([1]) } })).toBe(null);
  });
});
