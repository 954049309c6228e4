/** Rows of the tables as the types of `receipts/`, and back. Column names and camelCase meet here and nowhere else. */
import type pg from 'pg';
import type { StoredReceipt, StoredRefusal } from '../envelope.ts';
import type { ReceiptKind } from '../receipt.ts';
import type { ChainRow, ChainState, MilestoneState, MissionState, SeenDigest } from '../state.ts';
import type { JudgementRecord, Observation, OutageGap } from '../store.ts';

export interface ChainRecord extends pg.QueryResultRow {
  cluster_id: string;
  namespace: string;
  workflow_id: string;
  run_id: string;
  chain_id: string;
  workflow_type: string;
  run_started_at_ms: number;
  contract_digest: string | null;
  mission_fingerprint: string | null;
  receipt_count: number;
  first_receipt_at_ms: number;
  last_receipt_at_ms: number;
  evidence_version: number;
  state: PackedState;
}

/** The state as its column has it: `receipts/state.ts`, with the remembered digests of a milestone as one text. */
interface PackedState extends Omit<ChainState, 'missions'> {
  readonly missions: Readonly<Record<string, PackedMission>>;
}
interface PackedMission extends Omit<MissionState, 'milestones'> {
  readonly milestones: Readonly<Record<string, Omit<MilestoneState, 'seen'> & { readonly seen: string }>>;
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function unpacked(state: PackedState): ChainState {
  const missions = mapValues(state.missions, (mission) => ({
    ...mission,
    milestones: mapValues(mission.milestones, (milestone) => ({ ...milestone, seen: seenDigests(milestone.seen) })),
  }));
  return { ...state, missions };
}

/** Bytes of one remembered digest: first at (6, ms), expect by (6, ms, all ones for none), key (8), receipt id (16). */
const SEEN_BYTES = 36;
const NO_TIME = 2 ** 48 - 1;

function seenDigests(text: string): readonly SeenDigest[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: bytes.length / SEEN_BYTES }, (_, index) => {
    const start = index * SEEN_BYTES;
    const expectByMs = bytes.readUIntBE(start + 6, 6);
    const id = bytes.toString('hex', start + 20, start + 36);
    const receiptId = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-');
    const key = bytes.toString('hex', start + 12, start + 20);
    return [key, bytes.readUIntBE(start, 6), receiptId, expectByMs === NO_TIME ? null : expectByMs];
  });
}

export const CHAIN_COLUMNS = `c.cluster_id, c.namespace, c.workflow_id, c.run_id, c.chain_id, c.workflow_type,
  c.run_started_at_ms, c.contract_digest, c.mission_fingerprint, c.receipt_count, c.first_receipt_at_ms,
  c.last_receipt_at_ms, c.evidence_version, c.state`;

export function chainRow(record: ChainRecord): ChainRow {
  return {
    clusterId: record.cluster_id,
    namespace: record.namespace,
    workflowId: record.workflow_id,
    runId: record.run_id,
    chainId: record.chain_id,
    workflowType: record.workflow_type,
    runStartedAtMs: record.run_started_at_ms,
    contractDigest: record.contract_digest,
    missionFingerprint: record.mission_fingerprint,
    receiptCount: record.receipt_count,
    firstReceiptAtMs: record.first_receipt_at_ms,
    lastReceiptAtMs: record.last_receipt_at_ms,
    evidenceVersion: record.evidence_version,
    state: unpacked(record.state),
  };
}

interface PlaceRecord extends pg.QueryResultRow {
  receipt_id: string;
  run_started_at_ms: number;
  fence: number;
  recorded_at_ms: number;
  attempt: number;
  sequence: number;
  schema_version: 1;
  kind: ReceiptKind;
  cluster_id: string;
  namespace: string;
  workflow_id: string;
  run_id: string;
  chain_id: string;
  workflow_type: string;
  emitter: string;
  activity_type: string | null;
  mission_fingerprint: string | null;
}

export interface ReceiptRecord extends PlaceRecord {
  occurred_at_ms: number;
  sanitised: boolean;
  body: unknown;
}

export interface RefusalRecord extends PlaceRecord {
  code: string;
}

function placeOf(record: PlaceRecord): Omit<StoredRefusal, 'code'> {
  return {
    schemaVersion: record.schema_version,
    receiptId: record.receipt_id,
    clusterId: record.cluster_id,
    namespace: record.namespace,
    workflowId: record.workflow_id,
    runId: record.run_id,
    chainId: record.chain_id,
    workflowType: record.workflow_type,
    runStartedAtMs: record.run_started_at_ms,
    emitter: record.emitter,
    ...(record.activity_type === null ? {} : { activityType: record.activity_type }),
    fence: record.fence,
    attempt: record.attempt,
    sequence: record.sequence,
    missionFingerprint: record.mission_fingerprint,
    recordedAtMs: record.recorded_at_ms,
    kind: record.kind,
  };
}

export function storedReceipt(record: ReceiptRecord): StoredReceipt {
  const receipt = {
    ...placeOf(record),
    occurredAtMs: record.occurred_at_ms,
    ...(record.sanitised ? { sanitised: true as const } : {}),
    body: record.body,
  };
  // The column was written from a receipt of this kind, and is never written again.
  return receipt as StoredReceipt;
}

export function storedRefusal(record: RefusalRecord): StoredRefusal {
  return { ...placeOf(record), code: record.code };
}

/** What `temporal_health.refuse` takes; the time of recording is the store's own. */
export function refusalRecord(refusal: StoredRefusal): Readonly<Record<string, unknown>> {
  const { recordedAtMs: _, ...place } = refusal;
  const columns = Object.entries(place).map(([name, value]) => [snakeCase(name), value]);
  return Object.fromEntries(columns) as Readonly<Record<string, unknown>>;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface ObservationRecord extends pg.QueryResultRow {
  namespace: string;
  workflow_id: string;
  chain_id: string;
  run_id: string;
  observed_at_ms: number;
  closed: boolean;
  temporal: unknown;
}

export function observation(record: ObservationRecord): Observation {
  return {
    namespace: record.namespace,
    workflowId: record.workflow_id,
    chainId: record.chain_id,
    runId: record.run_id,
    observedAtMs: record.observed_at_ms,
    closed: record.closed,
    temporal: record.temporal,
  };
}

export interface JudgementRow extends pg.QueryResultRow {
  namespace: string;
  workflow_id: string;
  chain_id: string;
  run_id: string;
  evidence_version: number;
  rule_version: string;
  judged_at_ms: number;
  verdict: string | null;
  reason: string;
  judgement: unknown;
}

export function judgement(record: JudgementRow): JudgementRecord {
  return {
    namespace: record.namespace,
    workflowId: record.workflow_id,
    chainId: record.chain_id,
    runId: record.run_id,
    evidenceVersion: record.evidence_version,
    ruleVersion: record.rule_version,
    judgedAtMs: record.judged_at_ms,
    verdict: record.verdict,
    reason: record.reason,
    judgement: record.judgement,
  };
}

export interface GapRecord extends pg.QueryResultRow {
  namespace: string;
  worker_id: string;
  from_ms: number;
  until_ms: number | null;
}

export function outageGap(record: GapRecord): OutageGap {
  return {
    workerId: record.worker_id,
    namespace: record.namespace,
    fromMs: record.from_ms,
    untilMs: record.until_ms,
  };
}
