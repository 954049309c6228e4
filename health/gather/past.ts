/**
 * The evidence about one run as it was known at a past moment: the receipts that the store had taken by then, folded, and
 * what had been seen of Temporal by then. What nobody looked at then is unread, however well it is known today.
 */
import { HealthError } from '../../receipts/errors.ts';
import { foldChain } from '../../receipts/fold.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { ReceiptStore, RunReference } from '../../receipts/store.ts';
import type { ChildEvidence, EvidenceDocument, Outage, TemporalState, Unread } from '../evidence.ts';
import type { Policy } from '../policy.ts';
import { GENERATIONS, judgedChildren } from './children.ts';
import { assemble } from './run.ts';
import type { Sources } from './sources.ts';
import { readableStore } from './sources.ts';

/** More receipts than this are not folded: a chain that long is judged by its row, and has no past here. */
const RECEIPTS_LIMIT = 200_000;

export interface PastRun {
  readonly document: EvidenceDocument;
  /** What was said of the run by then, where anybody judged it. */
  readonly judgedThen: { readonly verdict: string | null; readonly reason: string; readonly atMs: number } | null;
}

/**
 * @throws HealthError CONFIG_MISSING or DB_UNREACHABLE without a store to read, NOT_FOUND where it had nothing of the run by
 * then, INVALID_TIME for a moment that lies ahead, RECEIPT_TOO_LARGE for a chain with too many receipts to fold.
 */
export async function gatherRunAt(
  reference: RunReference,
  atMs: number,
  sources: Sources,
  generations = GENERATIONS,
): Promise<PastRun> {
  const store = requireStore(sources);
  if (atMs > store.nowMs()) throw new HealthError('INVALID_TIME', 'The moment lies ahead.', { field: '--at' });
  const row = await store.readChain(reference);
  const chain = row === null ? null : await chainAt(row, atMs, store);
  if (chain === null) {
    throw new HealthError('NOT_FOUND', 'At that moment the store had nothing of this run.', {
      field: '--at',
      hint: 'Give a later moment, or leave --at out to judge it now.',
    });
  }
  const unread: Unread[] = [];
  const [temporal, judged] = await Promise.all([
    temporalAt(chain, atMs, sources.policy, store),
    store.readJudgement(chain, atMs),
  ]);
  const children = await childrenAt(chain.namespace, temporal, atMs, sources, unread, generations);
  const document = await assemble(chain, chain, temporal, sources, { unread, children });
  return {
    document: { ...document, gaps: gapsAt(document.gaps, atMs), nowMs: atMs },
    judgedThen: judged && { verdict: judged.verdict, reason: judged.reason, atMs: judged.judgedAtMs },
  };
}

function requireStore(sources: Sources): ReceiptStore {
  const store = readableStore(sources);
  if (store !== null) return store;
  if (sources.store === null) {
    throw new HealthError('CONFIG_MISSING', 'The past is read from the store, and none is configured.', {
      hint: 'Set TEMPORAL_HEALTH_DATABASE_URL.',
    });
  }
  throw new HealthError('DB_UNREACHABLE', 'The past is read from the store, and it does not answer.');
}

async function chainAt(row: ChainRow, atMs: number, store: ReceiptStore): Promise<ChainRow | null> {
  const [receipts, refusals] = await Promise.all([
    store.readReceipts(row, RECEIPTS_LIMIT + 1, atMs),
    store.readRefusals(row, atMs),
  ]);
  if (receipts.length > RECEIPTS_LIMIT) {
    throw new HealthError('RECEIPT_TOO_LARGE', `The chain has more than ${RECEIPTS_LIMIT} receipts by then.`, {
      limit: RECEIPTS_LIMIT,
      hint: 'Leave --at out: its present is read from one row.',
    });
  }
  return foldChain(receipts, row.contractDigest, refusals);
}

/** A closed run stays closed; of an open one a look says no more than a heartbeat would, and no longer. */
async function temporalAt(chain: ChainRow, atMs: number, policy: Policy, store: ReceiptStore): Promise<TemporalState> {
  const seen = await store.readObservation(chain, false, atMs);
  const temporal = seen?.temporal as TemporalState | undefined;
  const isCurrent = seen !== null && (seen.closed || atMs - seen.observedAtMs < policy.heartbeatFreshMs);
  if (isCurrent && temporal?.source === 'describe') return temporal;
  return { source: 'unread', code: 'NOT_OBSERVED', listed: null };
}

/** An outage that lasted then had no end yet. */
function gapsAt(gaps: readonly Outage[], atMs: number): readonly Outage[] {
  return gaps
    .filter(({ fromMs }) => fromMs <= atMs)
    .map((gap) => ({ ...gap, untilMs: gap.untilMs !== null && gap.untilMs <= atMs ? gap.untilMs : null }));
}

async function childrenAt(
  namespace: string,
  temporal: TemporalState,
  atMs: number,
  sources: Sources,
  unread: Unread[],
  generations: number,
): Promise<readonly ChildEvidence[]> {
  if (temporal.source !== 'describe') return [];
  return judgedChildren(temporal.describe.pendingChildren, namespace, sources, generations, unread, async (child) => {
    const { document } = await gatherRunAt(child, atMs, sources, generations - 1);
    return document;
  });
}
