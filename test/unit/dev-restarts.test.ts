import { expect, it } from 'vitest';
import { Pacing } from '../../bin/dev/restarts.ts';

it('starts a part again after a pause that doubles to a minute while it does not stay, and is one second again once it did', () => {
  const pacing = new Pacing();
  let nowMs = 0;
  const pauses: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const { found } = pacing.look(false, nowMs);
    pauses.push(found?.pauseMs ?? NaN);
    expect(pacing.look(false, nowMs + (found?.pauseMs ?? 0) - 1)).toEqual({ due: false });
    nowMs += found?.pauseMs ?? 0;
    expect(pacing.look(false, nowMs)).toEqual({ due: true });
    pacing.tried(nowMs);
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(pacing.look(true, nowMs + 59_999)).toEqual({ due: false });
  expect(pacing.look(false, nowMs + 59_999).found).toEqual({ pauseMs: 60_000 });
  expect(pacing.look(true, nowMs + 60_000)).toEqual({ due: false });
  expect(pacing.look(false, nowMs + 60_001).found).toEqual({ pauseMs: 1_000 });
});
