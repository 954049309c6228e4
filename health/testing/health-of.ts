/** Judges a real run in a test: the same gathering and the same rules as `temporal-health explain`. */
import type { Client } from '@temporalio/client';
import type { ReceiptStore } from '../../receipts/store.ts';
import { classify } from '../classify.ts';
import { gatherRun, temporalReader } from '../gather.ts';
import type { Judgement } from '../judgement.ts';
import { DEFAULT_POLICY } from '../policy.ts';
import type { Policy } from '../policy.ts';

export interface HealthOfOptions {
  readonly client: Client;
  /** The store that the worker's plugin writes to. */
  readonly store: ReceiptStore;
  readonly workflowId: string;
  /** The workflow id's newest run where absent. */
  readonly runId?: string;
  readonly policy?: Policy;
}

/** Longest time that one question to Temporal may take. */
const DEADLINE_MS = 10_000;

/** Never throws because something is missing: the judgement says what could not be read. */
export async function healthOf(options: HealthOfOptions): Promise<Judgement> {
  const { client, store, workflowId, runId, policy = DEFAULT_POLICY } = options;
  const { namespace } = client.options;
  const temporal = temporalReader({
    connection: client.connection,
    address: 'the test server',
    deadlineMs: DEADLINE_MS,
  });
  const reference = { namespace, workflowId, ...(runId === undefined ? {} : { runId }) };
  const { document } = await gatherRun(reference, {
    clusterId: store.clusterId,
    temporal,
    store,
    policy,
    judge: (child) => classify(child, child.policy, child.nowMs),
    localNowMs: Date.now,
  });
  return classify(document, document.policy, document.nowMs);
}
