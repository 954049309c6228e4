/**
 * The receipts of one activity attempt that the store has not acknowledged yet, in their order. What the store could not
 * take is sent again under the same id until it is acknowledged, refused or given up.
 */
import type { Receipt } from '../receipts/envelope.ts';
import type { EmitOutcome, ReceiptStore } from '../receipts/store.ts';

/** Where receipts go: the worker's connection to its store. */
export interface ReceiptSink {
  /** The store's clock by the newest estimate, epoch ms. */
  nowMs(): number;
  /** True while the store is known to answer nobody: what must not wait fails at once. */
  knownDown(): boolean;
  /** Rejects where nothing can be said of the receipt. `linger`: it may wait a few milliseconds for company. */
  emit(receipt: Receipt, options: { readonly linger: boolean }): Promise<EmitOutcome>;
  /** Somebody waits now: what of this receipt's emitter still lingers goes at once. */
  hasten(receipt: Receipt): void;
  /** Asks the store. @throws HealthError STORE_UNAVAILABLE */
  read<T>(question: (store: ReceiptStore) => Promise<T>): Promise<T>;
  /** Resolves when another try makes sense. */
  untilWorthTrying(): Promise<void>;
}

interface Entry {
  readonly receipt: Receipt;
  readonly linger: boolean;
  readonly outcome: Promise<EmitOutcome>;
  readonly settle: (outcome: EmitOutcome) => void;
  inFlight: boolean;
}

/** An attempt that goes on writing notes into an outage must not fill the worker's memory. */
const MAXIMUM_UNSETTLED = 1_000;

export class Outbox {
  readonly #sink: ReceiptSink;
  readonly #entries = new Set<Entry>();
  #resending = false;
  #closed = false;

  constructor(sink: ReceiptSink) {
    this.#sink = sink;
  }

  get isFull(): boolean {
    return this.#entries.size >= MAXIMUM_UNSETTLED;
  }

  /** What is not acknowledged yet, oldest first. */
  get unsettled(): readonly Receipt[] {
    return [...this.#entries].map((entry) => entry.receipt);
  }

  /** Sends a receipt; the promise never rejects and stays open while the store is away. */
  add(receipt: Receipt, options: { readonly linger: boolean }): Promise<EmitOutcome> {
    const { promise, resolve } = withResolvers<EmitOutcome>();
    const entry: Entry = { receipt, linger: options.linger, outcome: promise, settle: resolve, inFlight: false };
    this.#entries.add(entry);
    // Behind one that waits to be sent again it waits too: an emitter's receipts keep their order.
    if (!this.#resending) void this.#send(entry);
    return promise;
  }

  /** Resolves when everything that was added is acknowledged or refused. */
  async settled(): Promise<void> {
    for (const { receipt, linger } of this.#entries) if (linger) this.#sink.hasten(receipt);
    while (this.#entries.size > 0) await Promise.all([...this.#entries].map((entry) => entry.outcome));
  }

  /** Gives up what is left. */
  close(): void {
    this.#closed = true;
    this.#entries.clear();
  }

  async #send(entry: Entry): Promise<void> {
    entry.inFlight = true;
    try {
      const outcome = await this.#sink.emit(entry.receipt, { linger: entry.linger });
      this.#entries.delete(entry);
      entry.settle(outcome);
    } catch {
      // Whatever it was, the receipt is not known to be stored: its id makes another try harmless.
      entry.inFlight = false;
      if (!this.#resending) void this.#resend();
    }
  }

  async #resend(): Promise<void> {
    this.#resending = true;
    while (!this.#closed && this.#entries.size > 0) {
      await this.#sink.untilWorthTrying();
      const waiting = [...this.#entries].filter((entry) => !entry.inFlight);
      await Promise.all(waiting.map((entry) => this.#send(entry)));
      if (waiting.length === 0) await Promise.all([...this.#entries].map((entry) => entry.outcome));
    }
    this.#resending = false;
  }
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
