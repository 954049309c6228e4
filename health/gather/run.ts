/** The evidence about one run: Describe first, then what the store holds, then what only some runs need. */
import { isHealthError } from '../../receipts/errors.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { RunReference } from '../../receipts/store.ts';
import { EVIDENCE_SCHEMA_VERSION } from '../evidence.ts';
import type {
  ChildEvidence,
  CloseEvent,
  Description,
  EvidenceDocument,
  Listed,
  TaskQueueState,
  TemporalState,
  Unread,
} from '../evidence.ts';
import { growthPerMinute, isOpen, queuesWithWaitingWork } from '../temporal.ts';
import type { DescribedRun } from '../temporal.ts';
import { GENERATIONS, judgedChildren } from './children.ts';
import type { TemporalReader } from './reader.ts';
import { codeOf, isUnreadable, readableStore, sourcesNowMs } from './sources.ts';
import type { Sources } from './sources.ts';
import { SharedReads, storeSideOf } from './store-side.ts';

export interface GatheredRun {
  readonly document: EvidenceDocument;
  /** Texts of users' failures by activity id: for a screen only. */
  readonly failureTexts: Readonly<Record<string, string>>;
}

export interface GatherOptions {
  /** What the visibility list said, where it was asked. */
  readonly listed?: Listed;
  /** Known to many runs of one report: read once. */
  readonly reads?: SharedReads;
  /** Generations of children still to look at. */
  readonly generations?: number;
}

/** Who the run is, as far as either source tells. */
interface Known {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly chainId: string;
  readonly workflowType: string;
}

interface TemporalSide {
  readonly state: TemporalState;
  readonly described: DescribedRun | null;
  readonly unread: readonly Unread[];
}

/**
 * Everything that is known of one run now. Never throws because a source is down: the document says what was unread.
 * @throws HealthError NOT_ALLOWED or NOT_FOUND (namespace) where Temporal refuses the question itself.
 */
export async function gatherRun(
  reference: RunReference,
  sources: Sources,
  options: GatherOptions = {},
): Promise<GatheredRun> {
  const unread: Unread[] = [];
  const temporal = await temporalSide(reference, sources, options.listed ?? null);
  unread.push(...temporal.unread);
  const chainId = await chainIdOf(reference, temporal.described, sources, unread);
  const chain = await chainSide(reference, temporal.described?.runId, chainId, sources, unread);
  const run = known(reference, temporal.described, chain, chainId);
  const state = await lastKnown(temporal.state, chain, sources);
  const children = await childrenOf(run, state, sources, unread, options);
  const document = await assemble(run, chain, state, sources, { unread, children, ...options });
  return { document, failureTexts: temporal.described?.failureTexts ?? {} };
}

async function temporalSide(
  reference: RunReference,
  { temporal, ...sources }: Sources,
  listed: Listed | null,
): Promise<TemporalSide> {
  if (isUnreadable(temporal)) {
    return { state: { source: 'unread', code: temporal.unread, listed }, described: null, unread: [] };
  }
  try {
    const described = await temporal.describe(reference);
    if (described === null) return { state: { source: 'not-found', listed }, described: null, unread: [] };
    const observedAtMs = sourcesNowMs({ temporal, ...sources });
    const run = { ...reference, runId: described.runId };
    const unread: Unread[] = [];
    const [closeEvent, taskQueues] = await Promise.all([
      closeSide(run, described.description, temporal, unread),
      queueSide(run.namespace, described.description, observedAtMs, temporal, unread),
    ]);
    const describe = described.description;
    return { state: { source: 'describe', observedAtMs, describe, closeEvent, taskQueues, listed }, described, unread };
  } catch (error) {
    if (isHealthError(error) && (error.code === 'NOT_ALLOWED' || error.code === 'NOT_FOUND')) throw error;
    const code = isHealthError(error) ? error.code : 'TEMPORAL_UNREACHABLE';
    return { state: { source: 'unread', code, listed }, described: null, unread: [] };
  }
}

async function closeSide(
  run: Required<RunReference>,
  description: Description,
  temporal: TemporalReader,
  unread: Unread[],
): Promise<CloseEvent | null> {
  if (isOpen(description.status)) return null;
  try {
    return await temporal.closeEvent(run, description);
  } catch (error) {
    unread.push({ source: 'close-event', code: codeOf(error) });
    return null;
  }
}

async function queueSide(
  namespace: string,
  description: Description,
  nowMs: number,
  temporal: TemporalReader,
  unread: Unread[],
): Promise<readonly TaskQueueState[]> {
  const asked = queuesWithWaitingWork(description, nowMs).map(async (question) => {
    try {
      return await temporal.taskQueue(namespace, question);
    } catch (error) {
      unread.push({ source: 'task-queue', code: codeOf(error) });
      return null;
    }
  });
  return (await Promise.all(asked)).filter((queue) => queue !== null);
}

/**
 * The id of the run's chain: its first run's, but its own for a cron run, so that last week's deliverable never speaks for
 * today's run. Null where Temporal did not tell.
 */
async function chainIdOf(
  { namespace, workflowId }: RunReference,
  described: DescribedRun | null,
  { temporal, store }: Sources,
  unread: Unread[],
): Promise<string | null> {
  if (described === null || isUnreadable(temporal)) return null;
  const { runId, firstRunId } = described;
  if (runId === firstRunId) return runId;
  try {
    return (await temporal.isCronRun({ namespace, workflowId, runId })) ? runId : firstRunId;
  } catch (error) {
    // Joining the wrong chain would let another run's evidence speak for this one: rather none.
    if (store !== null) unread.push({ source: 'receipts', code: codeOf(error) });
    return runId;
  }
}

/** The chain that holds the run. A run that has written nothing yet (continued as new, reset) is found by its chain's id. */
async function chainSide(
  reference: RunReference,
  describedRunId: string | undefined,
  chainId: string | null,
  sources: Sources,
  unread: Unread[],
): Promise<ChainRow | null> {
  if (sources.store === null) return null;
  if (isUnreadable(sources.store)) {
    unread.push({ source: 'store', code: sources.store.unread });
    return null;
  }
  const { store } = sources;
  const runId = describedRunId ?? reference.runId;
  try {
    const own = await store.readChain(runId === undefined ? reference : { ...reference, runId });
    if (own !== null || chainId === null || chainId === runId) return own;
    return await store.readChain({ ...reference, runId: chainId });
  } catch (error) {
    unread.push({ source: 'store', code: codeOf(error) });
    return null;
  }
}

function known(
  reference: RunReference,
  described: DescribedRun | null,
  chain: ChainRow | null,
  chainId: string | null,
): Known {
  const runId = described?.runId ?? reference.runId ?? chain?.runId ?? '';
  return {
    namespace: reference.namespace,
    workflowId: reference.workflowId,
    runId,
    chainId: chain?.chainId ?? chainId ?? runId,
    workflowType: described?.workflowType ?? chain?.workflowType ?? '',
  };
}

/** A run that Temporal has forgotten is judged by its last closed observation, where one was recorded. */
async function lastKnown(state: TemporalState, chain: ChainRow | null, sources: Sources): Promise<TemporalState> {
  const store = readableStore(sources);
  if (store === null || chain === null || state.source === 'unread' || state.source === 'not-asked') return state;
  if (state.source === 'describe' && !isOpen(state.describe.status)) return state;
  try {
    const seen = await store.readObservation(chain, state.source === 'not-found');
    const earlier = seen?.temporal as TemporalState | undefined;
    if (seen === null || earlier?.source !== 'describe') return state;
    if (state.source === 'not-found') return earlier;
    if (seen.runId !== chain.runId) return state;
    const historyGrowthPerMinute = growthPerMinute(
      { observedAtMs: earlier.observedAtMs, historyEvents: earlier.describe.historyEvents },
      { observedAtMs: state.observedAtMs, historyEvents: state.describe.historyEvents },
    );
    return { ...state, describe: { ...state.describe, historyGrowthPerMinute } };
  } catch {
    return state; // An old observation only adds to what was read now; the store's own failure is named already.
  }
}

async function childrenOf(
  { namespace }: Known,
  state: TemporalState,
  sources: Sources,
  unread: Unread[],
  options: GatherOptions,
): Promise<readonly ChildEvidence[]> {
  if (state.source !== 'describe') return [];
  const { generations = GENERATIONS, reads } = options;
  const below = { generations: generations - 1, ...(reads ? { reads } : {}) };
  return judgedChildren(state.describe.pendingChildren, namespace, sources, generations, unread, async (child) => {
    const { document } = await gatherRun(child, sources, below);
    return document;
  });
}

export interface AssembleOptions {
  readonly unread: readonly Unread[];
  readonly children: readonly ChildEvidence[];
  readonly reads?: SharedReads;
}

/** Puts a document together from the parts that were read. */
export async function assemble(
  run: Known,
  chain: ChainRow | null,
  temporal: TemporalState,
  sources: Sources,
  options: AssembleOptions,
): Promise<EvidenceDocument> {
  const store = readableStore(sources);
  const reads = options.reads ?? (store && new SharedReads(store, run.namespace, chain?.firstReceiptAtMs ?? 0));
  const side = reads && (await storeSideOf(reads, run.workflowType, chain?.contractDigest ?? null));
  return {
    schemaVersion: EVIDENCE_SCHEMA_VERSION,
    run: {
      clusterId: sources.clusterId,
      namespace: run.namespace,
      workflowId: run.workflowId,
      runId: run.runId,
      chainId: run.chainId,
      workflowType: run.workflowType,
    },
    missionFingerprint: chain?.missionFingerprint ?? null,
    temporal,
    chain,
    receipts: null,
    storeAsked: sources.store !== null,
    stops: [],
    children: options.children,
    plan: null,
    contract: side?.contract ?? null,
    unread: [...options.unread, ...(side?.unread ?? [])],
    gaps: side?.gaps ?? [],
    policy: sources.policy,
    nowMs: sourcesNowMs(sources),
  };
}
