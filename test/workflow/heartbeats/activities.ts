/**
 * Activities that beat in the background while a model is asked, as the integrations of Temporal's SDK let theirs: one
 * starts a beat at once that schedules its next at half of the timeout and forgives errors (`startAdaptiveHeartbeat`), the
 * other wraps the call in an interval of half the timeout (`autoHeartbeat`). Written anew, to the same behaviour: those
 * packages bring a second copy of the whole SDK.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo, cancellationSignal, Context, heartbeat } from '@temporalio/activity';
import { receipts } from '../../../activities/index.ts';

const TURN_MS = 200;

function startAdaptiveHeartbeat(): () => void {
  const halfMs = (activityInfo().heartbeatTimeoutMs ?? 0) / 2;
  let timer: NodeJS.Timeout | undefined;
  const beat = (): void => {
    try {
      heartbeat();
    } catch {
      // Cancelled, perhaps: the work itself will say so.
    }
    timer = setTimeout(beat, halfMs);
  };
  if (halfMs > 0) beat();
  return () => {
    clearTimeout(timer);
  };
}

function autoHeartbeat<A extends unknown[], R>(call: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return async (...args) => {
    const context = Context.current();
    const timer = setInterval(
      () => {
        context.heartbeat();
      },
      (context.info.heartbeatTimeoutMs ?? 0) / 2,
    );
    try {
      return await call(...args);
    } finally {
      clearInterval(timer);
    }
  };
}

/** Asks the service turn by turn. A turn that is answered is a milestone. */
async function converse(port: number): Promise<void> {
  const signal = cancellationSignal();
  const socket = connect({ port, host: '127.0.0.1' });
  signal.addEventListener('abort', () => socket.destroy(), { once: true });
  try {
    for (let turn = 1; ; turn += 1) {
      const answer = await ask(socket, turn, signal);
      await receipts().progress('turns', { digest: answer, done: turn });
      await delay(TURN_MS, undefined, { signal });
    }
  } finally {
    socket.destroy();
  }
}

async function ask(socket: Socket, turn: number, signal: AbortSignal): Promise<string> {
  socket.write(`question ${turn}\n`);
  const [answer] = (await once(socket, 'data', { signal })) as [Buffer];
  return answer.toString().trim();
}

export const activities = {
  async askAdaptively(port: number): Promise<void> {
    const stop = startAdaptiveHeartbeat();
    try {
      await converse(port);
    } finally {
      stop();
    }
  },
  askAutomatically: autoHeartbeat(converse),
};

export type HeartbeatActivities = typeof activities;
