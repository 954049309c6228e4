import { HealthError } from './errors.ts';
import type { ProgressBody } from './receipt.ts';

/** More names than any contract has; an emitter that invents names must not fill the worker's memory. */
const REMEMBERED_COUNTS = 1024;

/**
 * The counts of one emitter: `delta.done` of a milestone and unit does not fall while the fence stays the same. A new
 * attempt may start again from less.
 */
export class MonotoneCounts {
  #fence = '';
  readonly #done = new Map<string, number>();

  /**
   * Remembers the count of a receipt; the last check before it gets its sequence.
   * @param reset why the count may fall, e.g. `source-replaced`
   * @throws HealthError RECEIPT_NOT_MONOTONE
   */
  accept(order: { readonly fence: number; readonly attempt: number }, body: ProgressBody, reset?: string): void {
    const fence = `${order.fence}.${order.attempt}`;
    if (fence !== this.#fence) {
      this.#fence = fence;
      this.#done.clear();
    }
    const done = body.delta?.done;
    if (done === undefined) return;
    const name = JSON.stringify([body.milestone, body.delta?.unit ?? null]);
    const before = this.#done.get(name);
    if (before !== undefined && done < before && (reset ?? '').trim() === '') {
      throw new HealthError('RECEIPT_NOT_MONOTONE', 'delta.done is less than this attempt has already reported.', {
        field: 'delta.done',
        hint: "Report what is done in all; where it truly fell, say why: reset: 'source-replaced'.",
      });
    }
    this.#done.delete(name);
    this.#done.set(name, done);
    const oldest = this.#done.size > REMEMBERED_COUNTS ? this.#done.keys().next().value : undefined;
    if (oldest !== undefined) this.#done.delete(oldest);
  }
}
