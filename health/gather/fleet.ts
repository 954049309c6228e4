/**
 * A stream of candidates for a report: open runs and those closed lately.
 *
 *   1. the visibility list  compact, at most LIST_LIMIT runs are kept; it finds runs and says which are open
 *   2. the store's rows     page by page in store order, each joined with its listed run; nothing of a page is kept
 *   3. listed runs without a row: Describe is all that there is to know about them
 *
 * Every candidate is offered first as the list and the store tell it (`temporal: not-asked`). The caller's predicate says
 * which are suspects; those are described, a bounded number at a time and in all. What was left out is counted.
 *
 * With no store, step 3 is the whole report: what Temporal itself flags comes first, then open runs, then failed ones.
 */
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import type { EvidenceDocument, Listed, TemporalState, Unread } from '../evidence.ts';
import { inOrder } from './in-order.ts';
import { listFleet } from './listing.ts';
import type { Listing } from './listing.ts';
import { assemble, gatherRun } from './run.ts';
import type { GatheredRun } from './run.ts';
import { codeOf, isUnreadable, readableStore, sourcesNowMs } from './sources.ts';
import type { Sources } from './sources.ts';
import { SharedReads } from './store-side.ts';

const ROWS_PER_PAGE = 500;
const CONCURRENCY = 10;

export interface FleetRequest {
  readonly namespace: string;
  /** Temporal's list filter, untouched; null lists all. With one, only listed runs are candidates. */
  readonly query: string | null;
  readonly workflowType: string | null;
  /** How many runs may be described. */
  readonly describeLimit: number;
  /** How long a closed run stays in the report, in ms. */
  readonly closedWithinMs: number;
  readonly onProgress?: (progress: FleetProgress) => void;
}

export interface FleetProgress {
  readonly listed: number;
  readonly rows: number;
  readonly described: number;
}

/** What the stream could not say run by run. */
export interface FleetEnd {
  /** By the server's own count; null where it could not be asked. */
  readonly open: number | null;
  readonly closed: number | null;
  /** Suspects, and runs that only Describe could tell of, beyond the limit. */
  readonly notDescribed: number;
  /** Runs that the list holds beyond what was read, and rows nobody could tell open from closed. */
  readonly leftOut: number;
  /** One for each source that could not be read. */
  readonly errors: readonly HealthError[];
}

export type IsSuspect = (document: EvidenceDocument) => boolean;

/** One candidate, before anybody asked Temporal about it. */
interface Candidate {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly chain: ChainRow | null;
  readonly listed: Listed | null;
}

/** The state of one pass over the fleet. */
class Pass {
  readonly request: FleetRequest;
  readonly isSuspect: IsSuspect;
  readonly errors = new Map<string, HealthError>();
  sources: Sources;
  reads: SharedReads | null = null;
  listing: Listing | null = null;
  rows = 0;
  described = 0;
  notDescribed = 0;
  leftOut = 0;

  constructor(request: FleetRequest, sources: Sources, isSuspect: IsSuspect) {
    this.request = request;
    this.sources = sources;
    this.isSuspect = isSuspect;
  }

  progress(): void {
    const { rows, described } = this;
    this.request.onProgress?.({ listed: this.listing?.size ?? 0, rows, described });
  }

  note(error: HealthError): void {
    if (!this.errors.has(error.code)) this.errors.set(error.code, error);
  }
}

/**
 * Yields every candidate once, suspects with what Describe says of them.
 * @throws HealthError USAGE for a query that Temporal refuses, NOT_ALLOWED, NOT_FOUND for a missing namespace.
 */
export async function* gatherFleet(
  request: FleetRequest,
  sources: Sources,
  isSuspect: IsSuspect,
): AsyncGenerator<GatheredRun, FleetEnd, undefined> {
  const pass = new Pass(request, sources, isSuspect);
  await readListing(pass);
  const store = readableStore(sources);
  const closedSinceMs = sourcesNowMs(sources) - request.closedWithinMs;
  if (store !== null) {
    pass.reads = new SharedReads(store, request.namespace, closedSinceMs);
    yield* inOrder(storeCandidates(store, pass, closedSinceMs), CONCURRENCY, (run) => gatherCandidate(run, pass));
  }
  const unclaimed = pass.listing?.rest() ?? [];
  yield* inOrder(unclaimed, CONCURRENCY, (run) => gatherCandidate({ ...run, chain: null, listed: run }, pass));
  return endOf(pass);
}

async function readListing(pass: Pass): Promise<void> {
  const { request, sources } = pass;
  const { temporal } = sources;
  if (isUnreadable(temporal)) return;
  try {
    pass.listing = await listFleet(
      {
        namespace: request.namespace,
        query: request.query,
        workflowType: request.workflowType,
        closedSinceMs: sourcesNowMs(sources) - request.closedWithinMs,
        // One that does not answer counts: completed runs are uncertain then, and must not be missing from the report.
        withStore: sources.store !== null,
        openLimit: request.describeLimit,
        onListed: (listed) => request.onProgress?.({ listed, rows: 0, described: 0 }),
      },
      temporal,
    );
  } catch (error) {
    if (!isHealthError(error) || error.code !== 'TEMPORAL_UNREACHABLE') throw error;
    pass.note(error);
    pass.sources = { ...sources, temporal: { unread: error.code } };
  }
}

async function* storeCandidates(
  store: ReceiptStore,
  pass: Pass,
  closedSinceMs: number,
): AsyncGenerator<Candidate, void, undefined> {
  const { namespace } = pass.request;
  let cursor: string | null = null;
  try {
    do {
      const page = await store.listChains({ namespace, limit: ROWS_PER_PAGE, ...(cursor === null ? {} : { cursor }) });
      for (const row of page.rows) {
        const candidate = candidateOf(row, pass, closedSinceMs);
        if (candidate !== null) yield candidate;
      }
      pass.rows += page.rows.length;
      pass.progress();
      cursor = page.cursor;
    } while (cursor !== null);
  } catch (error) {
    // What is left of the list is judged without the store, and says so: never green through our own outage.
    pass.note(storeError(error));
    pass.sources = { ...pass.sources, store: { unread: codeOf(error) } };
    pass.reads = null;
  }
}

function candidateOf(row: ChainRow, pass: Pass, closedSinceMs: number): Candidate | null {
  const { listing, request } = pass;
  if (request.workflowType !== null && row.workflowType !== request.workflowType) return null;
  const { workflowId, runId, workflowType } = row;
  const candidate = { workflowId, runId, workflowType, chain: row };
  const recent = row.lastReceiptAtMs >= closedSinceMs;
  if (listing === null) {
    // Nobody can say whether it is open: recent ones are shown, older ones counted.
    if (!recent) pass.leftOut += 1;
    return recent ? { ...candidate, listed: null } : null;
  }
  const listed = listing.take(runId);
  if (listed !== null) return { ...candidate, listed };
  // A newer run of the workflow is open: it is asked for by itself and finds its chain.
  if (request.query !== null || listing.hasOpenRunOf(workflowId)) return null;
  return recent || !listing.complete ? { ...candidate, listed: null } : null;
}

async function gatherCandidate(candidate: Candidate, pass: Pass): Promise<GatheredRun> {
  const { sources, request } = pass;
  const { workflowId, runId, workflowType, chain, listed } = candidate;
  const reads = pass.reads ? { reads: pass.reads } : {};
  const temporal: TemporalState = isUnreadable(sources.temporal)
    ? { source: 'unread', code: sources.temporal.unread, listed: listedOnly(listed) }
    : { source: 'not-asked', listed: listedOnly(listed) };
  const unread: Unread[] =
    sources.store !== null && isUnreadable(sources.store) ? [{ source: 'store', code: sources.store.unread }] : [];
  const run = { namespace: request.namespace, workflowId, runId, chainId: chain?.chainId ?? runId, workflowType };
  const document = await assemble(run, chain, temporal, sources, { unread, children: [], ...reads });
  if (temporal.source === 'unread' || !pass.isSuspect(document)) return { document, failureTexts: {} };
  if (pass.described >= request.describeLimit) {
    pass.notDescribed += 1;
    return { document, failureTexts: {} };
  }
  pass.described += 1;
  const reference = { namespace: request.namespace, workflowId, runId };
  const gathered = await gatherRun(reference, sources, { ...reads, ...(listed ? { listed: listedOnly(listed) } : {}) });
  noteUnread(gathered.document, pass);
  pass.progress();
  return gathered;
}

function listedOnly(listed: Listed): Listed;
function listedOnly(listed: Listed | null): Listed | null;
function listedOnly(listed: Listed | null): Listed | null {
  return listed && { status: listed.status, startedAtMs: listed.startedAtMs, closedAtMs: listed.closedAtMs };
}

/** After the first call that a source does not answer, it is not asked again: the report ends soon and says so. */
function noteUnread({ temporal, unread }: EvidenceDocument, pass: Pass): void {
  const ofStore = unread.find(({ source, code }) => source === 'store' && code === 'STORE_UNAVAILABLE');
  if (ofStore !== undefined && readableStore(pass.sources) !== null) {
    pass.note(new HealthError('STORE_UNAVAILABLE', 'The store stopped answering while runs were looked at.'));
    pass.sources = { ...pass.sources, store: { unread: 'STORE_UNAVAILABLE' } };
    pass.reads = null;
  }
  if (temporal.source !== 'unread' || temporal.code !== 'TEMPORAL_UNREACHABLE') return;
  pass.note(new HealthError('TEMPORAL_UNREACHABLE', 'Temporal stopped answering while runs were described.'));
  pass.sources = { ...pass.sources, temporal: { unread: 'TEMPORAL_UNREACHABLE' } };
}

function storeError(error: unknown): HealthError {
  if (isHealthError(error)) return error;
  return new HealthError('STORE_UNAVAILABLE', 'The store stopped answering while its rows were read.', {
    cause: error,
  });
}

function endOf({ listing, errors, notDescribed, leftOut }: Pass): FleetEnd {
  return {
    open: listing?.open ?? null,
    closed: listing?.closed ?? null,
    notDescribed,
    leftOut: leftOut + (listing?.leftOut ?? 0),
    errors: [...errors.values()],
  };
}
