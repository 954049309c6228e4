/**
 * The facts of a run whose workflow task was done by a worker without the plugin: read once from the run's first event.
 * Open runs that cross a deployment have such activities, and must neither fail nor write into a wrong chain.
 */
import type { Context } from '@temporalio/activity';
import type { Payload } from '@temporalio/common';
import { digestJson } from '../receipts/digest.ts';
import { readMissionHeader } from '../workflows/header.ts';
import type { RunFacts } from '../workflows/header.ts';

/** An activity's start does not wait longer for this, in ms. */
const PATIENCE_MS = 2_000;

/** Null where Temporal did not answer in time: its receipts are then refused as PLUGIN_MISSING. */
export async function factsOfRun(ctx: Context): Promise<RunFacts | null> {
  const { workflowExecution, namespace, workflowType = '' } = ctx.info;
  if (workflowExecution === undefined) return null;
  try {
    const { connection } = ctx.client;
    const { history } = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      connection.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: workflowExecution,
        maximumPageSize: 1,
      }),
    );
    const event = history?.events?.[0];
    const started = event?.workflowExecutionStartedEventAttributes;
    if (!event || !started) return null;
    const isCron = Boolean(started.cronSchedule);
    const carried = isCron ? undefined : readMissionHeader(started.header?.fields ?? {});
    const { runId } = workflowExecution;
    return {
      chainId: isCron ? runId : started.firstExecutionRunId || runId,
      originalExecutionRunId: started.originalExecutionRunId || runId,
      runStartedAtMs: event.eventTime?.seconds
        ? Number(event.eventTime.seconds.toString()) * 1_000
        : ctx.info.scheduledTimestampMs,
      runDeadlineMs: null,
      missionFingerprint:
        carried === undefined ? await fingerprintOf(ctx, workflowType, started.input?.payloads ?? []) : carried,
      historyLength: 0,
      historySizeBytes: 0,
    };
  } catch {
    return null;
  }
}

/** As the workflow would make it: of the arguments as they are before any codec. */
async function fingerprintOf(ctx: Context, workflowType: string, encoded: Payload[]): Promise<string | null> {
  const { payloadConverter, payloadCodecs } = ctx.client.options.loadedDataConverter;
  let payloads = encoded;
  for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  try {
    const args = payloads.map((payload) => payloadConverter.fromPayload<unknown>(payload));
    return digestJson({ workflowType, args });
  } catch {
    return null;
  }
}
