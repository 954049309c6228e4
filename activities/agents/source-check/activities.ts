/**
 * The activities of sourceCheck. They share nothing but the output root: what one of them needs from another is a digest,
 * a count or a range, and the rest is read again from there.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { readArtifact } from '../../../receipts/checks/file.ts';
import { isHealthError } from '../../../receipts/errors.ts';
import { RANGE_SOURCES } from '../../../workflows/agents/source-check-messages.ts';
import type {
  OpenedDocument,
  SourceCheckActivities,
  SourceCheckInput,
} from '../../../workflows/agents/source-check-messages.ts';
import { receipts } from '../../index.ts';
import { checkRange } from './check-range.ts';
import { REPORT, SOURCES_CHECKED } from './contract.ts';
import type { SourceFinding } from './finding.ts';
import { Looker } from './look.ts';
import { openDocument } from './open-document.ts';
import { placeOf, readRange, removeEarlierRuns, writeWhole } from './place.ts';
import type { RunPlace } from './place.ts';
import { registerSourceLinksCounter } from './recount.ts';
import { makeReport, reportAsJson, reportAsMarkdown, verifiedSet } from './report.ts';
import { takeInventory } from './sources.ts';
import type { Inventory } from './sources.ts';

/** Of this worker; `null` reads documents by address only. */
export interface SourceCheckSettings {
  readonly documentRoot: string | null;
  readonly outputRoot: string;
  /** Internal hosts that may be asked, `host` or `host:port`. */
  readonly allowedHosts: readonly string[];
}

const HEARTBEAT_MS = 5_000;
const DEFAULT_CONCURRENCY = 10;
const DEFAULT_TIMEOUT_SECONDS = 10;
const MAXIMUM_SOURCES = 20_000;
const MAXIMUM_SOURCE_BYTES = 5 * 1024 * 1024;

export function sourceCheckActivities(settings: SourceCheckSettings): SourceCheckActivities {
  registerSourceLinksCounter(settings);
  return {
    openSourceDocument: (input) => beating(() => open(settings, input)),
    checkSources: (range) => beating(() => check(settings, range)),
    writeSourceReport: (request) => beating(() => write(settings, request)),
  };
}

/** Heartbeats while the work runs: they tell that the worker lives, and bring a cancellation. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => {
    context.heartbeat();
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

const thisRun = (): { workflowId: string; runId: string } => {
  const { workflowExecution } = Context.current().info;
  if (workflowExecution === undefined) throw new Error('sourceCheck runs in a workflow only');
  return workflowExecution;
};

const boundsOf = (settings: SourceCheckSettings, input: SourceCheckInput) => ({
  documentRoot: settings.documentRoot,
  allowedHosts: settings.allowedHosts,
  timeoutMs: (input.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1_000,
  signal: Context.current().cancellationSignal,
});

async function open(settings: SourceCheckSettings, input: SourceCheckInput): Promise<OpenedDocument> {
  const opened = await openDocument(input, boundsOf(settings, input)).catch((error: unknown) => {
    if (!isHealthError(error)) throw error;
    throw failure(error.code, error.message, true, error.toJSON());
  });
  if ('retry' in opened) {
    throw failure('DOCUMENT_UNREACHABLE', `The document could not be read now: ${opened.retry}.`, false);
  }
  const { name, place, text, content, digest, sizeBytes } = opened.document;
  const inventory = takeInventory(text, place);
  if (inventory.sources.length > MAXIMUM_SOURCES) {
    throw failure('INPUT_INVALID', `The document links to more than ${MAXIMUM_SOURCES} sources: split it.`, true);
  }
  const kept = placeOf(settings.outputRoot, thisRun());
  await removeEarlierRuns(kept);
  await writeWhole(kept.document, content);
  return {
    ...{ name, readFrom: opened.document.readFrom, place, digest, sizeBytes },
    headings: inventory.document.headings,
    links: inventory.links,
    sources: inventory.sources.length,
  };
}

async function check(
  settings: SourceCheckSettings,
  { input, document, from, to }: Parameters<SourceCheckActivities['checkSources']>[0],
): Promise<{ checked: number }> {
  const context = Context.current();
  const place = placeOf(settings.outputRoot, thisRun());
  const inventory = await keptInventory(settings, place, document);
  const earlier = await keptFindings(place, document, from);
  const { attempt, retryPolicy } = context.info;
  const bounds = { ...boundsOf(settings, input), maximumBytes: MAXIMUM_SOURCE_BYTES };
  const { open: openCount, settled } = await checkRange({
    ...{ inventory, documentDigest: document.digest, from, to, statePath: place.range(from) },
    concurrency: input.concurrency ?? DEFAULT_CONCURRENCY,
    isLastAttempt: attempt >= (retryPolicy?.maximumAttempts ?? 0),
    looker: new Looker(inventory.document, bounds),
    signal: context.cancellationSignal,
    onBatch: async (found) => {
      const findings = new Map([...earlier, ...found]);
      const digest = verifiedSet(inventory, findings);
      await receipts().progress(SOURCES_CHECKED, {
        ...{ done: findings.size, of: document.sources, unit: 'sources', digest },
      });
    },
  });
  if (openCount > 0) {
    throw failure(
      'SOURCES_UNREACHED',
      `${openCount} sources of this range gave no answer yet; they are asked again.`,
      false,
    );
  }
  return { checked: settled };
}

async function write(
  settings: SourceCheckSettings,
  { document }: Parameters<SourceCheckActivities['writeSourceReport']>[0],
): ReturnType<SourceCheckActivities['writeSourceReport']> {
  const run = thisRun();
  const place = placeOf(settings.outputRoot, run);
  const inventory = await keptInventory(settings, place, document);
  const findings = await keptFindings(place, document, document.sources);
  const report = makeReport({ ...run, writtenAtMs: Date.now() }, document, inventory, findings);
  await writeWhole(place.markdown, reportAsMarkdown(report));
  await writeWhole(place.json, reportAsJson(report));
  const verified = await receipts().deliverable(REPORT).verify({ location: place.json });
  const cause = verified.cause ?? verified.result;
  // The receipt is stored either way: what the run says of itself must agree with it.
  if (verified.result === 'fail') {
    throw failure('REPORT_NOT_VERIFIED', `The report is not the promised one: ${cause}.`, true);
  }
  if (verified.result === 'unread') throw failure('REPORT_UNREAD', `The report could not be checked: ${cause}.`, false);
  return {
    report: { json: place.jsonName, markdown: place.markdownName, digest: verified.subject?.digest ?? '' },
    ...report.summary,
  };
}

/** The inventory of the document as it was read at the start. */
async function keptInventory(
  settings: SourceCheckSettings,
  place: RunPlace,
  document: OpenedDocument,
): Promise<Inventory> {
  const read = await readArtifact(place.document, {
    ...{ root: settings.outputRoot, maximumBytes: Number.MAX_SAFE_INTEGER, keepContent: true },
  });
  if (!('artifact' in read) || read.artifact.digest !== document.digest) {
    throw failure('DOCUMENT_LOST', 'The kept document is not the one that was opened: start the check again.', true);
  }
  return takeInventory(read.artifact.content.toString('utf8'), document.place);
}

/** Settled findings of all ranges before `until`. */
async function keptFindings(
  place: RunPlace,
  document: OpenedDocument,
  until: number,
): Promise<Map<number, SourceFinding>> {
  const findings = new Map<number, SourceFinding>();
  for (let from = 0; from < until; from += RANGE_SOURCES) {
    const range = await readRange(place.range(from), document.digest);
    for (const [index, found] of Object.entries(range.findings)) findings.set(Number(index), found);
  }
  return findings;
}

function failure(type: string, message: string, nonRetryable: boolean, details?: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    ...{ type, message, nonRetryable },
    details: [details ?? { code: type, message }],
  });
}
