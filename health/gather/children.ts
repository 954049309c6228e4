/** The children of a run, looked at and judged: the same for the present and for a past moment. */
import type { RunReference } from '../../receipts/store.ts';
import type { ChildEvidence, EvidenceDocument, PendingChild, Unread } from '../evidence.ts';
import { codeOf } from './sources.ts';
import type { Sources } from './sources.ts';

/** Generations below a run that are looked at. */
export const GENERATIONS = 2;
/** Children that are looked at for one parent. More decide nothing and are named as unjudged. */
const CHILDREN_LIMIT = 10;

const unjudged = ({ workflowId, runId }: PendingChild): ChildEvidence => ({
  workflowId,
  runId,
  verdict: null,
  reason: null,
});

/** `look` gathers one of them; what it could not read is added to `unread`. */
export async function judgedChildren(
  children: readonly PendingChild[],
  namespace: string,
  { judge }: Sources,
  generations: number,
  unread: Unread[],
  look: (child: RunReference) => Promise<EvidenceDocument>,
): Promise<readonly ChildEvidence[]> {
  if (judge === null || generations <= 0) return children.map(unjudged);
  const judged = children.slice(0, CHILDREN_LIMIT).map(async (child): Promise<ChildEvidence> => {
    const { workflowId, runId } = child;
    try {
      const document = await look({ namespace, workflowId, ...(runId ? { runId } : {}) });
      const { verdict, reason } = judge(document);
      // A child of whom nobody told even the type has no contract: that is no verdict on it, it was not read.
      if (verdict === null && document.temporal.source === 'unread') noteChild(document.temporal.code, unread);
      return { ...unjudged(child), verdict, reason };
    } catch (error) {
      noteChild(codeOf(error), unread);
      return unjudged(child);
    }
  });
  return [...(await Promise.all(judged)), ...children.slice(CHILDREN_LIMIT).map(unjudged)];
}

function noteChild(code: string, unread: Unread[]): void {
  if (!unread.some((known) => known.source === 'children' && known.code === code)) {
    unread.push({ source: 'children', code });
  }
}
