/** What gathering reads from, and how each source says that it could not be read. */
import { isHealthError } from '../../receipts/errors.ts';
import type { ErrorCode } from '../../receipts/errors.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import type { EvidenceDocument } from '../evidence.ts';
import type { Judgement } from '../judgement.ts';
import type { Policy } from '../policy.ts';
import type { TemporalReader } from './reader.ts';

/** A source that is configured and does not answer. */
export interface Unreadable {
  readonly unread: ErrorCode;
}

export interface Sources {
  /** Of Temporal where it answers, else of the store: part of every key. */
  readonly clusterId: string;
  readonly temporal: TemporalReader | Unreadable;
  /** Null where no store is configured at all: then nothing is concluded from silence. */
  readonly store: ReceiptStore | Unreadable | null;
  readonly policy: Policy;
  /** Judges children, whose verdict speaks for a parent that only awaits them. Gathering itself decides nothing. */
  readonly judge: ((document: EvidenceDocument) => Judgement) | null;
  /** The clock where no store is readable, in epoch ms. */
  readonly localNowMs: () => number;
}

export function isUnreadable(source: object): source is Unreadable {
  return 'unread' in source;
}

/** The store where one is configured and readable. */
export function readableStore(sources: Sources): ReceiptStore | null {
  return sources.store === null || isUnreadable(sources.store) ? null : sources.store;
}

export function sourcesNowMs(sources: Sources): number {
  return readableStore(sources)?.nowMs() ?? sources.localNowMs();
}

/** The code of a failure as `unread` lists it. Failures without a code of ours are the store's driver's. */
export function codeOf(error: unknown): ErrorCode {
  return isHealthError(error) ? error.code : 'STORE_UNAVAILABLE';
}
