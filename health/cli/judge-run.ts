/**
 * How a run is judged now, wherever the command does it: `explain`, `watch` and `wait-for` through `judgeRun`, a report
 * through `judgeDocument` for each document of its stream.
 */
import { HealthError } from '../../receipts/errors.ts';
import type { RunReference } from '../../receipts/store.ts';
import { classify } from '../classify.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { gatherRun, isUnreadable, readableStore } from '../gather.ts';
import type { GatheredRun, Sources } from '../gather.ts';
import type { Judgement } from '../judgement.ts';
import { isOpen } from '../temporal.ts';

export interface JudgedRun {
  readonly gathered: GatheredRun;
  readonly judgement: Judgement;
  /** What was done or could not be done before judging. */
  readonly notes: readonly string[];
  /** What may be kept as seen now; null for a past moment. */
  readonly seen: EvidenceDocument | null;
}

/** Judged once, although a report first looks for suspects and then shows them. */
const judgements = new WeakMap<EvidenceDocument, Judgement>();

export function judgeDocument(document: EvidenceDocument): Judgement {
  const known = judgements.get(document) ?? classify(document, document.policy, document.nowMs);
  judgements.set(document, known);
  return known;
}

/**
 * One run, described and with its due checks, judged.
 * @throws HealthError NOT_FOUND, RUN_NOT_IN_MISSION; TEMPORAL_UNREACHABLE where nothing at all is known of the run.
 */
export async function judgeRun(reference: RunReference, sources: Sources): Promise<JudgedRun> {
  const gathered = await gatherRun(reference, sources);
  await requireKnown(gathered.document, sources, reference);
  const { runDueChecks } = await import('./due-checks.ts');
  const { document, notes } = await runDueChecks(gathered.document, process.env);
  return { gathered: { ...gathered, document }, judgement: judgeDocument(document), notes, seen: gathered.document };
}

async function requireKnown(document: EvidenceDocument, sources: Sources, reference: RunReference): Promise<void> {
  const { temporal, chain } = document;
  if (temporal.source === 'describe' || chain !== null) return;
  if (temporal.source === 'unread') {
    throw new HealthError('TEMPORAL_UNREACHABLE', 'Temporal does not answer, and the store has nothing of this run.', {
      hint: 'That is no proof that it never ran.',
    });
  }
  const hint = 'That is no proof that it never ran: it may be past its retention, or in another namespace (-n).';
  const { namespace, workflowId, runId } = reference;
  if (runId !== undefined && !isUnreadable(sources.temporal)) {
    const newest = await sources.temporal.describe({ namespace, workflowId });
    if (newest !== null) {
      throw new HealthError('RUN_NOT_IN_MISSION', 'The workflow exists, and no run of that id is one of its runs.', {
        field: '--run-id',
        hint: `Its newest run is ${newest.runId}.`,
      });
    }
  }
  throw new HealthError('NOT_FOUND', 'Neither Temporal nor the store knows this run.', {
    field: '--workflow-id',
    hint,
  });
}

/** Keeps what was seen and judged, for later; the answer does not depend on it, so that it may fail. */
export async function keepJudged({ seen, judgement }: JudgedRun, sources: Sources): Promise<void> {
  const store = readableStore(sources);
  if (store === null || seen === null || seen.chain === null) return;
  const { chain, temporal, run } = seen;
  const reference = { namespace: run.namespace, workflowId: run.workflowId, chainId: run.chainId, runId: run.runId };
  try {
    if (temporal.source === 'describe') {
      const closed = !isOpen(temporal.describe.status);
      await store.recordObservation({ ...reference, observedAtMs: temporal.observedAtMs, closed, temporal });
    }
    const { verdict, reason, ruleVersion, judgedAtMs } = judgement;
    const { evidenceVersion } = chain;
    await store.recordJudgement({ ...reference, evidenceVersion, ruleVersion, judgedAtMs, verdict, reason, judgement });
  } catch {
    // Best effort: a reader's rights may end at reading.
  }
}
