import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SideWorker } from '../../bin/dev/demo/children.ts';
import { runDemonstration } from '../../bin/dev/demo.ts';
import type { DemonstratedRun } from '../../bin/dev/demo.ts';
import type { Judgement } from '../../health/judgement.ts';
import { agentsPlace } from './agents-place.ts';
import type { AgentsPlace } from './agents-place.ts';

let place: AgentsPlace;
let worker: SideWorker;
let runs: ReadonlyMap<string, DemonstratedRun>;

beforeAll(async () => {
  place = await agentsPlace('six-cases');
  worker = await place.startWorker();
  const demonstrated = await runDemonstration(place.env);
  runs = new Map(demonstrated.runs.map((run) => [run.of.name, run]));
}, 400_000);

afterAll(async () => {
  await worker.kill();
  for (const { workflowId, of } of runs.values()) {
    if (of.temporalStatus !== 'RUNNING') continue;
    // Two of them were ended by the tests.
    await place.client.workflow
      .getHandle(workflowId)
      .terminate('the test is over')
      .catch(() => undefined);
  }
  await place.close();
}, 120_000);

const runOf = (name: string): DemonstratedRun => runs.get(name)!;
/** `reference field` of what decided. Receipt ids are v7 UUIDs: they are shown as `receipt`. */
const decided = ({ decisive }: Judgement): string[] =>
  decisive.map(({ ref, field }) => `${/^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(ref) ? 'receipt' : ref} ${field}`);

describe('six runs, six states of health', () => {
  test('working: a milestone changed lately; leave it alone', () => {
    const { judgement } = runOf('working');
    expect(judgement).toMatchObject({
      verdict: 'working',
      reason: 'milestone-fresh',
      disposition: 'open',
      safeAction: 'leave-alone',
      forbidden: ['restart'],
    });
    expect(decided(judgement)).toEqual(['receipt digest', 'milestone:paragraph-written changedAtMs']);
  });

  test('waiting: owner, deadline and resume token; route or wait', () => {
    const { judgement, evidence } = runOf('waiting');
    expect(judgement).toMatchObject({
      verdict: 'waiting',
      reason: 'wait',
      disposition: 'open',
      safeAction: 'route-or-wait',
      forbidden: ['restart', 'answer-for-owner'],
    });
    const [wait] = Object.values(Object.values(evidence.chain!.state.missions)[0]!.waits);
    expect(wait).toMatchObject({ owner: 'ann@example.org', state: 'open', resumeBy: 'signal', condition: 'approve' });
    const named = decided(judgement);
    for (const field of ['owner', 'deadlineMs', 'resumeToken']) {
      expect(named).toContain(`wait:${wait!.resumeToken!} ${field}`);
    }
  });

  test('stuck: heartbeats every second and always the same digest; investigate, then one bounded recovery', () => {
    const { judgement } = runOf('stuck');
    expect(judgement).toMatchObject({
      verdict: 'stuck',
      reason: 'loop',
      disposition: 'open',
      safeAction: 'investigate-then-bounded-recovery',
      forbidden: ['unbounded-restart'],
    });
    const named = decided(judgement);
    expect(named).toContain('milestone:sources-found changedAtMs');
    // The fresh heartbeat is named as what it is: no progress.
    expect(named.some((fact) => /^activity:\S+ lastHeartbeatAtMs$/.test(fact))).toBe(true);
  });

  test('uncertain: the operation id has no verdict of the destination; reconcile, never retry', () => {
    const { judgement, workflowId, evidence } = runOf('uncertain');
    const operationId = `default/${workflowId}/payment/invoice-2041`;
    expect(judgement).toMatchObject({
      verdict: 'uncertain',
      reason: 'effect-unsettled',
      disposition: 'open',
      safeAction: 'reconcile-no-retry',
      forbidden: ['retry', 'restart'],
    });
    expect(decided(judgement)).toEqual(
      expect.arrayContaining(['receipt state', `effect:${operationId} state`, `effect:${operationId} attemptedAtMs`]),
    );
    expect(evidence.chain!.state.effects[operationId]).toMatchObject({ verified: null, none: null });
    // The destination did it: only the reply was lost.
    const suffix = workflowId.slice('demo-uncertain-'.length);
    expect(place.readOutput(`demonstration/destination-${suffix}.jsonl`)).toContain(operationId);
  });

  test('false success: Completed, and the report is missing; reopen as an incident', async () => {
    const { judgement, workflowId } = runOf('false-success');
    expect(judgement).toMatchObject({
      verdict: 'false-success',
      reason: 'deliverable-missing',
      disposition: 'completed',
      safeAction: 'reopen-incident',
      forbidden: ['close'],
    });
    expect(decided(judgement)).toEqual(['describe status', 'deliverable:report receipt']);
    // It says of itself that all is well.
    expect(await place.client.workflow.getHandle(workflowId).result()).toContain('Done!');
  });

  test('healthy: completion, effect and deliverable agree; close with evidence', () => {
    const { judgement, evidence, workflowId } = runOf('healthy');
    expect(judgement).toMatchObject({
      verdict: 'healthy',
      reason: 'verified',
      disposition: 'completed',
      safeAction: 'close-with-evidence',
      forbidden: [],
      confidence: 'deterministic',
    });
    expect(decided(judgement)).toEqual(
      expect.arrayContaining([
        'describe status',
        'receipt result',
        'deliverable:report subject.digest',
        `effect:default/${workflowId}/registration/report state`,
      ]),
    );
    const [mission] = Object.values(evidence.chain!.state.missions);
    expect(mission!.deliverables['report']!['file-digest']).toMatchObject({ result: 'pass', destination: 'file' });
  });

  test('and the source check beside them is healthy, with every link of its document covered', () => {
    const { judgement, evidence } = runOf('source-check');
    expect(judgement).toMatchObject({ verdict: 'healthy', reason: 'verified' });
    const [mission] = Object.values(evidence.chain!.state.missions);
    const { coverage } = mission!.deliverables['report']!['file-digest']!;
    expect(coverage!.accepted).toBe(coverage!.expected);
    expect(coverage!.expected).toBeGreaterThan(30);
  });
});

test('Temporal alone shows four of them as Running and two as Completed', async () => {
  const six = [...runs.values()].filter(({ of }) => of.name !== 'source-check');
  const statuses = await Promise.all(
    six.map(async ({ workflowId }) => (await place.client.workflow.getHandle(workflowId).describe()).status.name),
  );
  expect(statuses.sort()).toEqual(['COMPLETED', 'COMPLETED', 'RUNNING', 'RUNNING', 'RUNNING', 'RUNNING']);
});

test('an answer to the wait lets the run go on to its checked result', async () => {
  const { workflowId, runId } = runOf('waiting');
  const handle = place.client.workflow.getHandle(workflowId);
  await handle.signal('approve', { by: 'ann' });
  await handle.result();
  const { judgement } = await place.judge.judge({ workflowId, runId });
  expect(judgement).toMatchObject({ verdict: 'healthy', reason: 'verified' });
});

test('a cancelled run ends in its own way, and a later demonstration needs no explaining of it', async () => {
  const { workflowId, runId } = runOf('stuck');
  const handle = place.client.workflow.getHandle(workflowId);
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow('Workflow execution cancelled');
  const { judgement } = await place.judge.judge({ workflowId, runId });
  expect(judgement).toMatchObject({ verdict: null, reason: 'stopped', disposition: 'stopped' });
});
