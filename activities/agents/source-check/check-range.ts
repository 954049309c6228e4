/**
 * Checks the sources of one range, some at a time, and keeps what it found as it goes: after a crash or a retry only what
 * is still open is asked again.
 */
import type { SourceFinding } from './finding.ts';
import type { Looker } from './look.ts';
import { readRange, writeWhole } from './place.ts';
import type { Inventory } from './sources.ts';

/** How often one source is asked before it counts as unreachable. */
export const SOURCE_TRIES = 4;
/** After how many findings they are kept and told. */
const BATCH = 10;

export interface RangeRequest {
  readonly inventory: Inventory;
  readonly documentDigest: string;
  readonly from: number;
  readonly to: number;
  readonly statePath: string;
  readonly concurrency: number;
  /** No attempt follows: what is open now is settled as unreachable. */
  readonly isLastAttempt: boolean;
  readonly looker: Pick<Looker, 'look'>;
  readonly signal: AbortSignal;
  /** Called after each batch with the findings of this range so far. */
  readonly onBatch: (settled: ReadonlyMap<number, SourceFinding>) => Promise<void>;
}

/** `open`: how many sources gave no answer and are to be asked again. */
export async function checkRange(request: RangeRequest): Promise<{ readonly settled: number; readonly open: number }> {
  const { inventory, documentDigest, from, to, statePath, signal } = request;
  const kept = await readRange(statePath, documentDigest);
  const settled = indexed(kept.findings);
  const open = indexed(kept.open);
  const queue: number[] = [];
  for (let index = from; index < to; index += 1) if (!settled.has(index)) queue.push(index);
  let unsaved = 0;
  let saving = Promise.resolve();
  const save = (): Promise<void> => {
    unsaved = 0;
    const state = { documentDigest, findings: Object.fromEntries(settled), open: Object.fromEntries(open) };
    const now = new Map(settled);
    // One after the other, so that an older state never replaces a newer one.
    saving = saving.then(() => writeWhole(statePath, JSON.stringify(state))).then(() => request.onBatch(now));
    return saving;
  };
  const askNext = async (): Promise<void> => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      const source = inventory.sources[index];
      if (source === undefined) continue;
      signal.throwIfAborted();
      const look = await request.looker.look(source);
      // What was cut short by a stop says nothing about the source.
      signal.throwIfAborted();
      const tries = (open.get(index)?.tries ?? 0) + 1;
      const finding = { ...look.finding, tries };
      if (look.final || tries >= SOURCE_TRIES || request.isLastAttempt) {
        settled.set(index, finding);
        open.delete(index);
      } else {
        open.set(index, finding);
      }
      unsaved += 1;
      if (unsaved >= BATCH) await save();
    }
  };
  try {
    await Promise.all(Array.from({ length: request.concurrency }, askNext));
  } finally {
    if (unsaved > 0) await save();
    await saving;
  }
  return { settled: settled.size, open: open.size };
}

const indexed = (findings: Readonly<Record<string, SourceFinding>>): Map<number, SourceFinding> =>
  new Map(Object.entries(findings).map(([index, finding]) => [Number(index), finding]));
