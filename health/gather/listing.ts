/** The visibility list of a report, read into a compact index. It finds runs; it never outranks Describe. */
import { isHealthError } from '../../receipts/errors.ts';
import type { Listed } from '../evidence.ts';
import { isOpen } from '../temporal.ts';
import type { ListedRun } from '../temporal.ts';
import type { TemporalReader } from './reader.ts';

const PAGE_SIZE = 1_000;
/** Runs that the index holds at most: some tens of megabytes, and about a second of the server's time per thousand. */
const LIST_LIMIT = 20_000;

export interface ListingRequest {
  readonly namespace: string;
  readonly query: string | null;
  readonly workflowType: string | null;
  readonly closedSinceMs: number;
  /** With no store, completed runs have nothing to tell and `openLimit` runs are all that will be described. */
  readonly withStore: boolean;
  readonly openLimit: number;
  readonly onListed: (runs: number) => void;
}

/** What the list said, by run; a run is taken out when a row of the store has claimed it. */
export class Listing {
  readonly #byRun = new Map<string, ListedRun>();
  readonly #openRunOf = new Map<string, string>();
  open: number | null = null;
  closed: number | null = null;
  /** Runs that match and were not read. */
  leftOut = 0;

  get complete(): boolean {
    return this.leftOut === 0;
  }

  get size(): number {
    return this.#byRun.size;
  }

  add(run: ListedRun): void {
    if (this.#byRun.has(run.runId)) return;
    this.#byRun.set(run.runId, run);
    if (isOpen(run.status)) this.#openRunOf.set(run.workflowId, run.runId);
  }

  take(runId: string): Listed | null {
    const run = this.#byRun.get(runId);
    if (run === undefined) return null;
    this.#byRun.delete(runId);
    return run;
  }

  hasOpenRunOf(workflowId: string): boolean {
    return this.#openRunOf.has(workflowId);
  }

  /** What no row has claimed, in the order read. */
  rest(): IterableIterator<ListedRun> {
    return this.#byRun.values();
  }
}

function quoted(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"`;
}

function and(...conditions: readonly (string | null)[]): string {
  return conditions.filter((condition) => condition !== null && condition !== '').join(' AND ');
}

const OPEN = 'ExecutionStatus IN ("Running", "Paused")';
/** Servers that cannot pause a workflow refuse the word. */
const OPEN_BEFORE_PAUSE = 'ExecutionStatus = "Running"';
const UNFINISHED = 'ExecutionStatus IN ("Failed", "TimedOut", "Terminated", "Canceled")';
const FINAL = 'ExecutionStatus != "ContinuedAsNew"';
/** What the server itself marks: workflow tasks that fail over and over, and pauses. */
const FLAGGED = '(TemporalReportedProblems IS NOT NULL OR TemporalPauseInfo IS NOT NULL)';

/**
 * @throws HealthError USAGE where Temporal refuses the query, else the reader's.
 */
export async function listFleet(request: ListingRequest, reader: TemporalReader): Promise<Listing> {
  const listing = new Listing();
  const own = and(
    request.query === null ? null : `(${request.query})`,
    request.workflowType === null ? null : `WorkflowType = ${quoted(request.workflowType)}`,
  );
  const closedSince = `CloseTime > ${quoted(new Date(request.closedSinceMs).toISOString())}`;
  const [openCondition, openRunCount] = await countOpen(request.namespace, own, reader);
  listing.open = openRunCount;
  listing.closed = await reader.count(request.namespace, and(own, FINAL, closedSince));
  const open = and(own, openCondition);
  if (!request.withStore) await readPages(request, reader, and(open, FLAGGED), listing, true);
  await readPages(request, reader, open, listing);
  listing.leftOut += Math.max(0, openRunCount - listing.size);
  const openRuns = listing.size;
  const closed = and(own, request.withStore ? FINAL : UNFINISHED, closedSince);
  const whole = await readPages(request, reader, closed, listing);
  if (!whole) listing.leftOut += Math.max(0, (await reader.count(request.namespace, closed)) - listing.size + openRuns);
  return listing;
}

async function countOpen(namespace: string, own: string, reader: TemporalReader): Promise<readonly [string, number]> {
  try {
    return [OPEN, await reader.count(namespace, and(own, OPEN))];
  } catch (error) {
    if (!isHealthError(error) || error.code !== 'USAGE') throw error;
    return [OPEN_BEFORE_PAUSE, await reader.count(namespace, and(own, OPEN_BEFORE_PAUSE))];
  }
}

/** Reads at most the request's limit of runs into the listing; true when nothing was left. */
async function readPages(
  { namespace, onListed, withStore, openLimit }: ListingRequest,
  reader: TemporalReader,
  query: string,
  listing: Listing,
  optional = false,
): Promise<boolean> {
  const limit = listing.size + (withStore ? LIST_LIMIT : openLimit);
  let token: Uint8Array | null = null;
  do {
    const room = limit - listing.size;
    if (room <= 0) return false;
    try {
      const page = await reader.list(namespace, query, Math.min(PAGE_SIZE, room), token);
      for (const run of page.runs) listing.add(run);
      token = page.token;
    } catch (error) {
      // A server that does not know these attributes has flagged nothing.
      if (optional && isHealthError(error) && error.code === 'USAGE') return true;
      throw error;
    }
    onListed(listing.size);
  } while (token !== null);
  return true;
}
