/**
 * Keeps the stack in the foreground up: a part that ended is started again and said so; each time later while it does not
 * stay, so that one that cannot run costs little and is heard of less and less.
 */
import { bringUpPostgres, bringUpTemporal, bringUpWorker } from './stack-parts.ts';
import type { StackPlace } from './stack-parts.ts';
import { withLock } from './stack-state.ts';
import { statusOf } from './stack.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Who has stayed up this long has recovered. */
const STAYED_MS = 60_000;

/** When to try again, from how often a part was started again and did not stay. */
export class Pacing {
  #starts = 0;
  #lastStartAtMs = -Infinity;
  #dueAtMs: number | null = null;

  /** Called at every look. `pauseMs` when the part was just found down; `due` when it is to be started now. */
  look(isUp: boolean, nowMs: number): { readonly found?: { readonly pauseMs: number }; readonly due: boolean } {
    if (isUp) {
      if (nowMs - this.#lastStartAtMs >= STAYED_MS) this.#starts = 0;
      this.#dueAtMs = null;
      return { due: false };
    }
    if (this.#dueAtMs === null) {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#starts);
      this.#dueAtMs = nowMs + pauseMs;
      return { found: { pauseMs }, due: false };
    }
    return { due: nowMs >= this.#dueAtMs };
  }

  /** A start was tried; where it failed, the next look finds the part down anew. */
  tried(nowMs: number): void {
    this.#starts += 1;
    this.#lastStartAtMs = nowMs;
    this.#dueAtMs = null;
  }
}

/** In the order in which they need each other. */
const PARTS: readonly (readonly [part: string, bringUp: (place: StackPlace) => Promise<void>])[] = [
  ['Temporal', bringUpTemporal],
  ['Postgres', bringUpPostgres],
  ['worker', bringUpWorker],
];

export class Restarts {
  readonly #place: StackPlace;
  readonly #onStarted: () => void;
  readonly #pacings = new Map(PARTS.map(([part]) => [part, new Pacing()]));

  /** @param onStarted what this process started anew is in `place.started` */
  constructor(place: StackPlace, onStarted: () => void) {
    this.#place = place;
    this.#onStarted = onStarted;
  }

  /** Looks at every part once, and starts again what is due. */
  async look(): Promise<void> {
    const up = new Map((await statusOf(this.#place)).map((status) => [status.part, status.up]));
    for (const [part, bringUp] of PARTS) {
      if (this.#place.interrupted()) return;
      const { found, due } = this.#pacings.get(part)?.look(up.get(part) === true, performance.now()) ?? { due: false };
      if (found) this.#place.note(`${part} ended; it is started again in ${String(found.pauseMs / 1_000)} s`);
      // The worker needs both others: it waits for them without being tried.
      const canStart = part !== 'worker' || (up.get('Temporal') === true && up.get('Postgres') === true);
      if (due && canStart) up.set(part, await this.#start(part, bringUp));
    }
  }

  async #start(part: string, bringUp: (place: StackPlace) => Promise<void>): Promise<boolean> {
    const { stateDir, note } = this.#place;
    try {
      await withLock(stateDir, () => bringUp(this.#place));
      this.#onStarted();
      note(`${part} is up again`);
      return true;
    } catch (error) {
      const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      note(`${part} did not start again: ${first}`);
      return false;
    } finally {
      this.#pacings.get(part)?.tried(performance.now());
    }
  }
}
