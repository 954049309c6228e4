/** Heartbeats of ours beside those of the activity's own. */
import type { Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { Attempt } from '../../../activities/attempt.ts';

function attemptWith(info: { heartbeatTimeoutMs?: number; heartbeatDetails?: unknown }) {
  const beats: unknown[] = [];
  const ctx = {
    info: { startToCloseTimeoutMs: 60_000, scheduleToCloseTimeoutMs: 0, ...info },
    heartbeat: (details: unknown) => void beats.push(details),
  } as unknown as Context;
  return { attempt: new Attempt(ctx, null), ctx, beats };
}

const ours = (milestone: string, done: number) => ({ 'temporal-health/progress': { milestone, delta: { done } } });

describe('a milestone', () => {
  it('beats where a heartbeat is expected, with what was reached', () => {
    const { attempt, beats } = attemptWith({ heartbeatTimeoutMs: 10_000 });
    attempt.beat({ milestone: 'pages', delta: { done: 1 } });
    attempt.beat({ milestone: 'pages', delta: { done: 2 } });
    expect(beats).toEqual([ours('pages', 1), ours('pages', 2)]);
  });

  it('beats nowhere else', () => {
    const { attempt, beats } = attemptWith({});
    attempt.beat({ milestone: 'pages' });
    expect(beats).toEqual([]);
  });

  it('keeps the checkpoint of an activity that beats by itself, or that did in an earlier attempt', () => {
    const { attempt, ctx, beats } = attemptWith({ heartbeatTimeoutMs: 10_000, heartbeatDetails: { page: 3 } });
    attempt.beat({ milestone: 'pages' });
    ctx.heartbeat({ page: 4 });
    attempt.beat({ milestone: 'pages' });
    expect(beats).toEqual([{ page: 3 }, { page: 4 }, { page: 4 }]);
  });

  it('takes the place of its own earlier beat after a retry', () => {
    const { attempt, beats } = attemptWith({ heartbeatTimeoutMs: 10_000, heartbeatDetails: ours('pages', 7) });
    attempt.beat({ milestone: 'pages', delta: { done: 8 } });
    expect(beats).toEqual([ours('pages', 8)]);
  });
});
