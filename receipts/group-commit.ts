/**
 * Adaptive group commit for a whole worker: many emitters, few statements.
 *
 * Two lanes, no timer for what is awaited: as soon as a lane is free it takes what waits, and while it is under way the
 * queue becomes the next batch. So one emitter alone pays nothing, and fifty share a commit. Progress may linger a few
 * milliseconds, until a batch takes it along.
 *
 * Where much waits and several lanes are free they share it: one batch of everything would leave Postgres idle while this
 * process makes the next one, and this process idle while Postgres commits.
 *
 * One emitter's receipts keep their order and are never in both lanes at once: a crash then loses at most a tail and
 * leaves no hole. When a batch fails, the receipts of its emitters that wait behind it are given back with it, in their
 * order, so that submitting them again keeps the order.
 */
import type { Receipt } from './envelope.ts';
import type { EmitOutcome, ReceiptStore } from './store.ts';

export interface GroupCommitOptions {
  /** How many batches may be under way at once; 2 where absent. */
  readonly lanes?: number;
  /** The most receipts of one batch; 500 where absent. */
  readonly batchSize?: number;
  /** How long a receipt may linger for company, in ms; 3 where absent. */
  readonly lingerMs?: number;
}

export interface SubmitOptions {
  /** True for progress: nobody waits for it now, so it may wait for company. */
  readonly linger: boolean;
}

export interface GroupCommit {
  /**
   * Resolves when the store has committed (or refused) the receipt. Rejects with what the store rejected with
   * (STORE_UNAVAILABLE, STORE_FULL): the receipt may be stored then, and the same one may be submitted again.
   */
  submit(receipt: Receipt, options: SubmitOptions): Promise<EmitOutcome>;
  /**
   * Sends at once what lingers (of one emitter, or of all), and resolves when everything submitted so far has its answer.
   * Never rejects: what became of a receipt its own promise says.
   */
  flush(emitterKey?: string): Promise<void>;
  /** True when the newest attempt to reach the store failed: for callers that must fail at once rather than wait. */
  knownDown(): boolean;
}

/** The emitter that a receipt belongs to, over all runs of a worker. No stored text holds a NUL, so the parts stay apart. */
export function emitterKey(receipt: Pick<Receipt, 'namespace' | 'workflowId' | 'runId' | 'emitter'>): string {
  return `${receipt.namespace}\0${receipt.workflowId}\0${receipt.runId}\0${receipt.emitter}`;
}

export function createGroupCommit(store: Pick<ReceiptStore, 'emit'>, options: GroupCommitOptions = {}): GroupCommit {
  const { lanes = 2, batchSize = 500, lingerMs = 3 } = options;
  return new AdaptiveGroupCommit(store, lanes, batchSize, lingerMs);
}

/** Smaller shares than this cost more commits than the second lane saves. */
const LEAST_SHARE = 8;

interface Waiting {
  readonly receipt: Receipt;
  readonly emitter: string;
  lingers: boolean;
  readonly resolve: (outcome: EmitOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Called when the receipt has its answer, whichever it is. */
  readonly onAnswer: (() => void)[];
}

class AdaptiveGroupCommit implements GroupCommit {
  readonly #store: Pick<ReceiptStore, 'emit'>;
  readonly #batchSize: number;
  readonly #lingerMs: number;
  #freeLanes: number;
  #queue: Waiting[] = [];
  readonly #underWay = new Set<Waiting>();
  /** Emitters of the batches under way. */
  readonly #busy = new Set<string>();
  #scheduled = false;
  #lingering: NodeJS.Timeout | null = null;
  #down = false;

  constructor(store: Pick<ReceiptStore, 'emit'>, lanes: number, batchSize: number, lingerMs: number) {
    this.#store = store;
    this.#freeLanes = lanes;
    this.#batchSize = batchSize;
    this.#lingerMs = lingerMs;
  }

  submit(receipt: Receipt, { linger }: SubmitOptions): Promise<EmitOutcome> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ receipt, emitter: emitterKey(receipt), lingers: linger, resolve, reject, onAnswer: [] });
      this.#schedule();
    });
  }

  async flush(emitter?: string): Promise<void> {
    const concerned = [...this.#queue, ...this.#underWay].filter(
      (one) => emitter === undefined || one.emitter === emitter,
    );
    for (const one of concerned) one.lingers = false;
    this.#schedule();
    await Promise.all(concerned.map(({ onAnswer }) => new Promise<void>((done) => onAnswer.push(done))));
  }

  knownDown(): boolean {
    return this.#down;
  }

  /** Sees to it that what waits will be sent: now that a lane is free, or when it has lingered long enough. */
  #schedule(): void {
    if (this.#scheduled || this.#freeLanes === 0) return;
    const ready = this.#queue.filter(({ emitter }) => !this.#busy.has(emitter));
    if (ready.some(({ lingers }) => !lingers)) {
      this.#scheduled = true;
      // After the current turn, so that everything submitted in it shares the batch.
      setImmediate(() => {
        this.#scheduled = false;
        this.#send();
      });
    } else if (ready.length > 0) {
      this.#lingering ??= setTimeout(() => {
        this.#lingering = null;
        for (const one of this.#queue) one.lingers = false;
        this.#schedule();
      }, this.#lingerMs);
    }
  }

  #send(): void {
    if (this.#freeLanes === 0) return;
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    const share = Math.ceil(this.#queue.length / this.#freeLanes);
    const most = Math.min(this.#batchSize, Math.max(share, LEAST_SHARE));
    for (const one of this.#queue) {
      const fits = batch.length < most && !this.#busy.has(one.emitter);
      (fits ? batch : rest).push(one);
    }
    if (batch.length === 0) return;
    this.#queue = rest;
    if (rest.length === 0 && this.#lingering !== null) {
      clearTimeout(this.#lingering);
      this.#lingering = null;
    }
    for (const one of batch) {
      this.#underWay.add(one);
      this.#busy.add(one.emitter);
    }
    this.#freeLanes -= 1;
    void this.#run(batch);
    this.#schedule();
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const emitters = new Set(batch.map(({ emitter }) => emitter));
    try {
      const outcomes = await this.#store.emit(batch.map(({ receipt }) => receipt));
      for (const [index, one] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) throw new Error('The store gave fewer answers than it was given receipts.');
        one.resolve(outcome);
      }
      this.#down = false;
      for (const { onAnswer } of batch) for (const done of onAnswer) done();
    } catch (error) {
      this.#down = true;
      const behind = this.#queue.filter(({ emitter }) => emitters.has(emitter));
      this.#queue = this.#queue.filter(({ emitter }) => !emitters.has(emitter));
      for (const one of [...batch, ...behind]) {
        one.reject(error);
        for (const done of one.onAnswer) done();
      }
    } finally {
      for (const one of batch) this.#underWay.delete(one);
      for (const emitter of emitters) this.#busy.delete(emitter);
      this.#freeLanes += 1;
      this.#schedule();
    }
  }
}
