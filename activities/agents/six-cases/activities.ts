/** The activities of the six scripted agents. Each says what it did by receipts; none of them says how well it is. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { digestText } from '../../../receipts/digest.ts';
import type { DestinationInput, SixCasesActivities } from '../../../workflows/agents/six-cases-messages.ts';
import { receipts } from '../../index.ts';
import { fileNameOf, writeWhole } from '../source-check/place.ts';
import { PAYMENT, REGISTRATION } from './contracts.ts';
import { apply, find } from './destination.ts';
import type { Applied } from './destination.ts';

const PARAGRAPHS = 20;
const PARAGRAPH_MS = 3_000;
const REPEAT_MS = 3_000;
const HEARTBEAT_MS = 1_000;
/** How long an answer is waited for before nobody counts on it. */
const ANSWER_TIMEOUT_MS = 300_000;
const SOURCES = 12;

export function sixCasesActivities(outputRoot: string): SixCasesActivities {
  return {
    writeSection: (section) => beating(() => writeSection(section)),
    prepareRequest: () => beating(prepareRequest),
    keepDecision: ({ by = 'somebody' }) =>
      beating(() => keep(outputRoot, 'decision', { decision: 'approved', by: by.slice(0, 200) })),
    searchForEver: () => beating(searchForEver),
    payInvoice: (input) => beating(() => payInvoice(input)),
    checkSourcesAndSayDone: () => beating(checkSourcesAndSayDone),
    checkAndDeliver: (input) => beating(() => checkAndDeliver(outputRoot, input)),
  };
}

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

/** Ends early, as Temporal's own failure, when the run is cancelled or the worker stops. */
async function pause(ms: number): Promise<void> {
  const context = Context.current();
  try {
    await delay(ms, undefined, { signal: context.cancellationSignal });
  } catch {
    await context.cancelled;
  }
}

const workflowId = (): string => Context.current().info.workflowExecution?.workflowId ?? '';

async function writeSection(section: number): Promise<void> {
  for (let paragraph = 1; paragraph <= PARAGRAPHS; paragraph += 1) {
    const done = section * PARAGRAPHS + paragraph;
    await receipts().progress('paragraph-written', {
      ...{ done, unit: 'paragraphs', step: `section ${section + 1}` },
      digest: digestText(`${workflowId()} paragraph ${done}`),
    });
    await pause(PARAGRAPH_MS);
  }
}

async function prepareRequest(): Promise<{ subjectDigest: string }> {
  const subjectDigest = digestText(`${workflowId()} refund`);
  await receipts().progress('request-prepared', { digest: subjectDigest, done: 1, of: 2, unit: 'steps' });
  return { subjectDigest };
}

/** The trap: alive by every heartbeat and by every new receipt, and always at the same place. */
async function searchForEver(): Promise<void> {
  for (let round = 1; ; round += 1) {
    await receipts().progress('sources-found', {
      ...{ done: 3, of: SOURCES, unit: 'sources', digest: digestText(`${workflowId()} the same three sources`) },
      note: `search round ${round}`,
    });
    await pause(REPEAT_MS);
  }
}

async function payInvoice({ destination }: DestinationInput): Promise<void> {
  const { info } = Context.current();
  const invoice = 'invoice-2041';
  const operationId = [info.namespace, workflowId(), PAYMENT, invoice].join('/');
  const payment = { name: PAYMENT, operationId, target: 'payments', inputDigest: digestText('250.00 EUR') } as const;
  if (info.attempt === 1) {
    await receipts().progress('invoice-read', { digest: digestText(invoice), done: 1, of: 2, unit: 'steps' });
    // Stored before the call leaves, so that nobody takes a dead worker for one that never called.
    await receipts().effect({ ...payment, state: 'attempted', class: 'observable' });
    const paid = await apply(destination, '/payments', operationId, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    await receipts().effect({ ...payment, state: 'verified', verdict: verdictOf(paid) });
    return;
  }
  // An attempt before this one may have paid: only the destination knows.
  const paid = await find(destination, operationId);
  if (paid === null) {
    throw ApplicationFailure.create({
      type: 'NOT_SETTLED',
      message: 'The destination has not said what became of it.',
    });
  }
  await receipts().effect({ ...payment, state: 'verified', verdict: verdictOf(paid) });
}

const verdictOf = ({ reference, replayed }: Applied) =>
  ({ by: 'destination', kind: replayed ? 'replayed' : 'firstApplied', reference }) as const;

async function checkSources(): Promise<void> {
  const checked: string[] = [];
  for (let source = 1; source <= SOURCES; source += 4) {
    for (let next = source; next < source + 4; next += 1) checked.push(`source ${next}`);
    const digest = digestText(checked.join('\n'));
    await receipts().progress('sources-checked', { done: checked.length, of: SOURCES, unit: 'sources', digest });
    await pause(200);
  }
}

async function checkSourcesAndSayDone(): Promise<string> {
  await checkSources();
  return 'Done! All sources are checked and the report is ready.';
}

async function checkAndDeliver(outputRoot: string, { destination }: DestinationInput): Promise<void> {
  await checkSources();
  const { info, cancellationSignal } = Context.current();
  const operationId = [info.namespace, workflowId(), REGISTRATION, 'report'].join('/');
  const registration = { name: REGISTRATION, operationId, target: 'archive' } as const;
  await receipts().effect({ ...registration, state: 'attempted', class: 'keyed' });
  const registered = await apply(destination, '/registrations', operationId, cancellationSignal);
  await receipts().effect({ ...registration, state: 'verified', verdict: verdictOf(registered) });
  await keep(outputRoot, 'report', { sources: SOURCES, broken: 0, registered: registered.reference });
}

/** Writes a promised file and has the contract's check look at it where it lies. */
async function keep(outputRoot: string, name: 'decision' | 'report', content: object): Promise<void> {
  const location = join(outputRoot, `${fileNameOf(workflowId())}.${name}.json`);
  await writeWhole(location, `${JSON.stringify({ workflowId: workflowId(), ...content }, null, 2)}\n`);
  const { result, cause = result } = await receipts().deliverable(name).verify({ location });
  if (result === 'pass') return;
  const message = `${name} is not the promised one: ${cause}.`;
  throw ApplicationFailure.create({ type: 'NOT_VERIFIED', message, nonRetryable: result === 'fail' });
}
