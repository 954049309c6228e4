/** Judges runs as the command does: the same evidence, the same rules, the same policy. */
import { Connection } from '@temporalio/client';
import { openSources } from '../../../health/cli/sources.ts';
import { classify } from '../../../health/classify.ts';
import type { EvidenceDocument } from '../../../health/evidence.ts';
import { gatherRun } from '../../../health/gather.ts';
import type { Judgement } from '../../../health/judgement.ts';
import { DevServerError } from '../processes.ts';

export interface JudgedRun {
  readonly evidence: EvidenceDocument;
  readonly judgement: Judgement;
}

export interface RunJudge {
  judge(run: { readonly workflowId: string; readonly runId: string }): Promise<JudgedRun>;
  close(): Promise<void>;
}

export async function openJudge(place: {
  readonly address: string;
  readonly namespace: string;
  readonly databaseUrl: string;
}): Promise<RunJudge> {
  const { address, namespace, databaseUrl } = place;
  const { sources, errors, close } = await openSources({
    ...{ address, namespace, databaseUrl, uiAddress: null, discovered: false },
    connection: { address, connectTimeout: 5_000 },
    callTimeoutMs: 10_000,
  });
  const [unread] = errors;
  if (unread !== undefined) {
    await close();
    throw new DevServerError('DEMO_NOT_JUDGED', unread.message, { cause: unread });
  }
  return {
    async judge({ workflowId, runId }) {
      const { document } = await gatherRun({ namespace, workflowId, runId }, sources);
      return { evidence: document, judgement: classify(document, document.policy, document.nowMs) };
    },
    close,
  };
}

export const connect = (address: string): Promise<Connection> => Connection.connect({ address, connectTimeout: '5s' });
