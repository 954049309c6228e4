/** The emit statement from the outside: receipts to its arrays, one call per segment, its answers to outcomes. */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { canonicalJson } from '../digest.ts';
import type { Receipt } from '../envelope.ts';
import { HealthError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { clusterMismatch, receiptIdConflict, refusalOf } from '../refusals.ts';
import type { EmitOutcome } from '../store.ts';
import type { Connection } from './connection.ts';
import { failureOf, isRefusal, refusedBy } from './failures.ts';
import { refusalRecord } from './rows.ts';
import { cutIntoSegments } from './segments.ts';

/** The most receipts that one statement is given. */
export const MOST_RECEIPTS = 500;

interface Prepared {
  readonly receipt: Receipt;
  /** Where the receipt stands in the list that was given. */
  readonly place: number;
  /** Canonical JSON, so that one reading serves the digest and the column. */
  readonly body: string;
  readonly bodyDigest: Buffer;
}

/** One array per parameter of `temporal_health.emit`, in its order, after the cluster's id. */
const COLUMNS: readonly { readonly type: string; readonly of: (one: Prepared) => unknown }[] = [
  { type: 'uuid', of: ({ receipt }) => receipt.receiptId },
  { type: 'text', of: ({ receipt }) => receipt.kind },
  { type: 'text', of: ({ receipt }) => receipt.namespace },
  { type: 'text', of: ({ receipt }) => receipt.workflowId },
  { type: 'text', of: ({ receipt }) => receipt.runId },
  { type: 'text', of: ({ receipt }) => receipt.chainId },
  { type: 'text', of: ({ receipt }) => receipt.workflowType },
  { type: 'bigint', of: ({ receipt }) => receipt.runStartedAtMs },
  { type: 'text', of: ({ receipt }) => receipt.emitter },
  { type: 'text', of: ({ receipt }) => receipt.activityType ?? null },
  { type: 'bigint', of: ({ receipt }) => receipt.fence },
  { type: 'integer', of: ({ receipt }) => receipt.attempt },
  { type: 'integer', of: ({ receipt }) => receipt.sequence },
  { type: 'text', of: ({ receipt }) => receipt.missionFingerprint },
  { type: 'smallint', of: ({ receipt }) => receipt.schemaVersion },
  { type: 'boolean', of: ({ receipt }) => receipt.sanitised === true },
  { type: 'bigint', of: ({ receipt }) => receipt.occurredAtMs },
  { type: 'bytea', of: ({ bodyDigest }) => bodyDigest },
  { type: 'jsonb', of: ({ body }) => body },
];
const PARAMETERS = COLUMNS.map(({ type }, index) => `$${String(index + 2)}::${type}[]`).join(', ');
const TEXT = `select outcomes, store_now_ms from temporal_health.emit($1::text, ${PARAMETERS})`;

type Answer = 'stored' | 'late' | 'repeat' | 'conflict';
interface Reply extends pg.QueryResultRow {
  readonly outcomes: readonly Answer[];
  readonly store_now_ms: number;
}

const REFUSE = 'select temporal_health.refuse($1::jsonb)';

/**
 * Stores receipts and answers in the order given. A receipt that is refused is refused alone; a failure that says nothing
 * of any receipt rejects, and then some of them may be stored.
 */
export async function emit(
  connection: Connection,
  clusterId: string,
  receipts: readonly Receipt[],
): Promise<readonly EmitOutcome[]> {
  const outcomes: EmitOutcome[] = [];
  const prepared: Prepared[] = [];
  for (const [place, receipt] of receipts.entries()) {
    const one = prepare(clusterId, receipt, place);
    if (one instanceof HealthError) outcomes[place] = refused(receipt, one);
    else prepared.push(one);
  }
  const answer = ({ place }: Prepared, outcome: EmitOutcome): void => {
    outcomes[place] = outcome;
  };
  for (const segment of cutIntoSegments(prepared)) {
    for (let from = 0; from < segment.length; from += MOST_RECEIPTS) {
      await emitSegment(connection, clusterId, segment.slice(from, from + MOST_RECEIPTS), answer);
    }
  }
  for (const [index, outcome] of outcomes.entries()) {
    const receipt = receipts[index];
    if (outcome.outcome === 'refused' && receipt?.clusterId === clusterId) {
      await keepPlace(connection, receipt, outcome.error.code);
    }
  }
  return outcomes;
}

/** So that a refused receipt leaves no hole. One whose very place cannot be stored leaves one: nothing can be said of it. */
async function keepPlace(connection: Connection, receipt: Receipt, code: ErrorCode): Promise<void> {
  const values = [JSON.stringify(refusalRecord(refusalOf(receipt, code, 0)))];
  try {
    await connection.run({ name: 'temporal_health_refuse', text: REFUSE, values });
  } catch (error) {
    if (!isRefusal(error)) throw failureOf(error, connection.address);
  }
}

function prepare(clusterId: string, receipt: Receipt, place: number): Prepared | HealthError {
  if (receipt.clusterId !== clusterId) return clusterMismatch();
  try {
    const body = canonicalJson(receipt.body);
    const bodyDigest = hash('sha256', `${receipt.kind}\n${body}`, 'buffer');
    return { receipt, place, body, bodyDigest };
  } catch (error) {
    return new HealthError('BODY_NOT_JSON', 'The receipt has a body that is no JSON.', { field: 'body', cause: error });
  }
}

async function emitSegment(
  connection: Connection,
  clusterId: string,
  segment: readonly Prepared[],
  answer: (one: Prepared, outcome: EmitOutcome) => void,
): Promise<void> {
  try {
    const values = [clusterId, ...COLUMNS.map(({ of }) => segment.map(of))];
    const [reply] = await connection.run<Reply>({ name: 'temporal_health_emit', text: TEXT, values });
    if (reply?.outcomes.length !== segment.length) {
      throw new HealthError('STORE_UNAVAILABLE', `Postgres at ${connection.address.text} gave an answer cut short.`);
    }
    connection.clock.hear(reply.store_now_ms);
    for (const [index, one] of segment.entries()) answer(one, outcomeOf(one.receipt, reply.outcomes[index]));
  } catch (error) {
    if (!isRefusal(error)) throw failureOf(error, connection.address);
    // One of them is at fault, and Postgres does not say which: halves find it, and its neighbours are stored.
    const [first] = segment;
    if (segment.length === 1 && first !== undefined) {
      answer(first, refused(first.receipt, refusedBy(error)));
      return;
    }
    const half = Math.ceil(segment.length / 2);
    await emitSegment(connection, clusterId, segment.slice(0, half), answer);
    await emitSegment(connection, clusterId, segment.slice(half), answer);
  }
}

function outcomeOf(receipt: Receipt, answer: Answer | undefined): EmitOutcome {
  const { receiptId } = receipt;
  if (answer === 'stored' || answer === 'late' || answer === 'repeat') return { receiptId, outcome: answer };
  return refused(receipt, receiptIdConflict(receiptId));
}

function refused({ receiptId }: Receipt, error: HealthError): EmitOutcome {
  return { receiptId, outcome: 'refused', error };
}
