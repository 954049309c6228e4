/**
 * sourceCheck: reads a Markdown document, asks every source it links to, and writes a report as JSON and Markdown.
 *
 *     temporal workflow start --type sourceCheck --task-queue temporal-health --input '{"document":"notes/sources.md"}'
 *
 * The links stay outside of the history: an activity gets a range and reads the rest from the worker's output folder.
 */
import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { readSourceCheckInput } from './source-check-input.ts';
import { RANGE_SOURCES } from './source-check-messages.ts';
import type { SourceCheckActivities, SourceCheckResult } from './source-check-messages.ts';

const { openSourceDocument, checkSources, writeSourceReport } = proxyActivities<SourceCheckActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds', maximumAttempts: 5 },
});

/** @throws ApplicationFailure INPUT_INVALID, SOURCE_NOT_ALLOWED, REPORT_NOT_VERIFIED (non-retryable) */
export async function sourceCheck(given: unknown): Promise<SourceCheckResult> {
  const read = readSourceCheckInput(given);
  if (!read.valid) {
    const { field, message } = read;
    throw ApplicationFailure.create({
      type: 'INPUT_INVALID',
      message,
      nonRetryable: true,
      details: [{ code: 'INPUT_INVALID', field, message }],
    });
  }
  const { input } = read;
  const document = await openSourceDocument(input);
  for (let from = 0; from < document.sources; from += RANGE_SOURCES) {
    await checkSources({ input, document, from, to: Math.min(from + RANGE_SOURCES, document.sources) });
  }
  return writeSourceReport({ input, document });
}
