/**
 * A worker's connection to its store: opened at the worker's start or as soon as the store answers, watched while it does
 * not, closed when the worker stops.
 *
 * A store that is away never keeps a worker from starting; a store that must not be used (other cluster, newer schema,
 * settings that lose commits) does. While it is away one probe a second asks for it, and the probe is the gap row itself:
 * when it is written the store is back and the outage is on record.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { DefinedContract } from '../receipts/contract.ts';
import type { Receipt } from '../receipts/envelope.ts';
import { HealthError } from '../receipts/errors.ts';
import { createGroupCommit, emitterKey } from '../receipts/group-commit.ts';
import type { GroupCommit } from '../receipts/group-commit.ts';
import type { EmitOutcome, ReceiptStore } from '../receipts/store.ts';
import { asHealthError, isUnavailable } from './failures.ts';
import type { Outbox, ReceiptSink } from './outbox.ts';

export interface LinkLog {
  info(message: string, attributes: Record<string, unknown>): void;
  warn(message: string, attributes: Record<string, unknown>): void;
  error(message: string, attributes: Record<string, unknown>): void;
}

export interface StoreLinkOptions {
  readonly clusterId: string;
  readonly namespace: string;
  readonly workerId: string;
  readonly contracts: readonly DefinedContract[];
  readonly open: (clusterId: string) => ReceiptStore | Promise<ReceiptStore>;
  readonly log: LinkLog;
}

const PROBE_MS = 1_000;
const HANGING_MS = 2_000;
const MINIMUM_PAUSE_MS = 100;
/** How long a worker's start waits for its store before it goes on without. */
const START_PATIENCE_MS = 10_000;
const CLOSE_PATIENCE_MS = 5_000;
/** Receipts of ended attempts that are still kept for the store's return. */
const MAXIMUM_LEFT_BEHIND = 10_000;

export class StoreLink implements ReceiptSink {
  readonly #options: StoreLinkOptions;
  readonly #leftBehind = new Set<Outbox>();
  #store: ReceiptStore | null = null;
  #commit: GroupCommit | null = null;
  #isRegistered = false;
  /** Since when receipts could not be written, on the store's clock; null while they can. */
  #downSinceMs: number | null = null;
  /** When each receipt that has no answer yet was submitted, oldest first. */
  readonly #underWay = new Map<object, number>();
  /** Rings when the store is back and when the worker stops. */
  readonly #bell = new Bell();
  #watching: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: StoreLinkOptions) {
    this.#options = options;
  }

  /**
   * Opens the store and registers the contracts, or leaves both to the watch where the store is away.
   * @throws HealthError of a store that must not be used: STORE_SETTINGS, SCHEMA_VERSION, CLUSTER_MISMATCH, CONTRACT_INVALID
   */
  async start(): Promise<void> {
    const opened = this.#open().then(() => 'open' as const);
    const first = await Promise.race([opened, this.#bell.wait(START_PATIENCE_MS)]).catch((error: unknown) => {
      if (isUnavailable(error)) return undefined;
      throw error;
    });
    // Too late to refuse the start: what comes of it is the watch's business, which opens it again.
    opened.catch(() => undefined);
    if (first !== 'open') this.#noteDown(this.nowMs());
  }

  get clusterId(): string {
    return this.#options.clusterId;
  }

  nowMs(): number {
    return this.#store?.nowMs() ?? Date.now();
  }

  knownDown(): boolean {
    // Not the group commit's own word: it learns of the store's return only by a receipt, which might wait for this.
    if (this.#commit === null || this.#downSinceMs !== null) return true;
    // A server that hangs sends no error: the first one that waits too long speaks for it.
    const [oldestAtMs] = this.#underWay.values();
    return oldestAtMs !== undefined && performance.now() - oldestAtMs > HANGING_MS;
  }

  async emit(receipt: Receipt, options: { readonly linger: boolean }): Promise<EmitOutcome> {
    const sinceMs = this.nowMs();
    const key = {};
    this.#underWay.set(key, performance.now());
    try {
      if (this.#commit === null) throw notReached();
      const outcome = await this.#commit.submit(receipt, options);
      if (this.#downSinceMs !== null) this.#bell.ring();
      return outcome;
    } catch (error) {
      this.#noteDown(sinceMs, error);
      throw error;
    } finally {
      this.#underWay.delete(key);
    }
  }

  hasten(receipt: Receipt): void {
    void this.#commit?.flush(emitterKey(receipt));
  }

  async read<T>(question: (store: ReceiptStore) => Promise<T>): Promise<T> {
    if (this.#store === null) throw notReached();
    try {
      return await question(this.#store);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // A password or a right that was changed under a running worker: work is not failed for good because of a note.
      const { message } = asHealthError(error, 'STORE_UNAVAILABLE');
      throw new HealthError('STORE_UNAVAILABLE', message, { cause: error });
    }
  }

  async untilWorthTrying(): Promise<void> {
    await delay(MINIMUM_PAUSE_MS);
    if (this.#downSinceMs !== null) await this.#bell.wait(PROBE_MS);
  }

  /** Keeps sending what an ended attempt could not deliver, for as long as the worker lives. */
  leaveBehind(outbox: Outbox): void {
    let held = outbox.unsettled.length;
    for (const other of this.#leftBehind) held += other.unsettled.length;
    if (held > MAXIMUM_LEFT_BEHIND) {
      outbox.close();
      return;
    }
    this.#leftBehind.add(outbox);
    void outbox.settled().then(() => this.#leftBehind.delete(outbox));
  }

  /** Writes what is buffered, then lets go of the store. Bounded: a dead store does not keep a worker from stopping. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#bell.ring();
    for (const outbox of this.#leftBehind) outbox.close();
    await within(CLOSE_PATIENCE_MS, this.#commit?.flush());
    await within(CLOSE_PATIENCE_MS, this.#store?.close());
  }

  async #open(): Promise<void> {
    const { open, clusterId, namespace, contracts } = this.#options;
    if (this.#store === null) {
      const store = await open(clusterId);
      if (store.clusterId !== clusterId) {
        throw new HealthError('CLUSTER_MISMATCH', 'The store was opened for another cluster than the worker is on.', {
          hint: 'Open it with the cluster id that the plugin gives: store: (clusterId) => openPostgresStore({ clusterId, … }).',
        });
      }
      this.#store = store;
      this.#commit = createGroupCommit(store);
    }
    if (this.#isRegistered) return;
    await this.#store.registerContracts(
      namespace,
      contracts.map(({ contract }) => contract),
    );
    this.#isRegistered = true;
  }

  #noteDown(sinceMs: number, error?: unknown): void {
    this.#downSinceMs = Math.min(this.#downSinceMs ?? sinceMs, sinceMs);
    if (this.#watching !== null || this.#isStopped) return;
    const code = error === undefined ? 'STORE_UNAVAILABLE' : asHealthError(error, 'STORE_UNAVAILABLE').code;
    this.#options.log.warn('The receipt store is away; the gap is recorded when it is back', { code });
    this.#watching = this.#watch().finally(() => {
      this.#watching = null;
    });
  }

  async #watch(): Promise<void> {
    const { namespace, workerId, log } = this.#options;
    let complaint = '';
    for (;;) {
      await this.#bell.wait(PROBE_MS);
      if (this.#isStopped) return;
      try {
        await this.#open();
        const fromMs = Math.round(this.#downSinceMs ?? this.nowMs());
        const untilMs = Math.max(fromMs, Math.round(this.nowMs()));
        await this.#store?.recordGap({ workerId, namespace, fromMs, untilMs });
        this.#downSinceMs = null;
        this.#bell.ring();
        log.info('The receipt store is back; the gap is recorded', { fromMs, untilMs });
        return;
      } catch (error) {
        const { code, message } = asHealthError(error, 'STORE_UNAVAILABLE');
        // A refusal after the start can no longer stop the worker; it is told once.
        if (!isUnavailable(error) && complaint !== code)
          log.error('The receipt store cannot be used', { code, message });
        complaint = code;
      }
    }
  }
}

function notReached(): HealthError {
  return new HealthError('STORE_UNAVAILABLE', 'The store has not been reached yet.');
}

/** Wakes everybody who waits, and keeps nothing of who has stopped waiting. */
class Bell {
  readonly #waiters = new Set<() => void>();

  ring(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  /** Resolves with the next ring, or after the time. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiters.add(wake);
    });
  }
}

/** Waits for a promise that may hang or fail, for so long and no longer. */
async function within(ms: number, promise: Promise<unknown> | undefined): Promise<void> {
  if (promise === undefined) return;
  const over = new AbortController();
  const time = delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([promise.catch(() => undefined), time]);
  over.abort();
}
