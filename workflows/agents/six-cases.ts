/**
 * Six small scripted agents, one for each state of health. Temporal shows four of them as Running and two as Completed.
 *
 * working        goes on from section to section, for as long as somebody lets it
 * waiting        waits for a person, with owner, deadline and resume token
 * stuck          heartbeats every second and reports the same state again and again
 * uncertain      paid, and the answer never came: the worker on its own task queue is gone
 * false success  says that it is done; the promised report is nowhere
 * healthy        completed, the effect confirmed and the report checked at its destination
 */
import { condition, continueAsNew, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { openWait } from '../index.ts';
import type { Approval, DestinationInput, SixCasesActivities, WorkingInput } from './six-cases-messages.ts';

/** Sections of one run, about a minute and six history events each. */
const SECTIONS = 100;

const options = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', maximumInterval: '10 seconds' },
} as const;

const { writeSection, prepareRequest, keepDecision, checkSourcesAndSayDone, checkAndDeliver } =
  proxyActivities<SixCasesActivities>(options);
/** An attempt of a day: the loop is to be seen in its reports and not in a timeout. */
const { searchForEver } = proxyActivities<SixCasesActivities>({ ...options, startToCloseTimeout: '1 day' });
/** A dead worker is noticed soon. What it did is asked for and never done again. */
const { payInvoice } = proxyActivities<SixCasesActivities>({ ...options, heartbeatTimeout: '4 seconds' });

export async function workingAgent({ round = 0 }: WorkingInput = {}): Promise<void> {
  for (let section = 0; section < SECTIONS; section += 1) await writeSection(round * SECTIONS + section);
  await continueAsNew<typeof workingAgent>({ round: round + 1 });
}

export const approve = defineSignal<[Approval]>('approve');

export async function waitingAgent(): Promise<void> {
  let approval: Approval | undefined;
  setHandler(approve, (given) => {
    approval = given;
  });
  const { subjectDigest } = await prepareRequest();
  const wait = await openWait({
    name: 'approve-refund',
    owner: 'ann@example.org',
    deadline: '7 days',
    resumeBy: 'signal',
    condition: 'approve',
    subjectDigest,
  });
  try {
    await condition(() => approval !== undefined);
  } catch (error) {
    // Nobody has to answer a run that was cancelled.
    await wait.withdrawn();
    throw error;
  }
  await wait.consumed();
  await keepDecision(approval ?? {});
}

export async function stuckAgent(): Promise<void> {
  await searchForEver();
}

export async function uncertainAgent(input: DestinationInput): Promise<void> {
  await payInvoice(input);
}

export async function falseSuccessAgent(): Promise<string> {
  return checkSourcesAndSayDone();
}

export async function healthyAgent(input: DestinationInput): Promise<void> {
  await checkAndDeliver(input);
}
