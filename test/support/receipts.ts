/**
 * Receipts in short form to stored receipts. The key names the kind and its value is the receipt's id:
 * `{"progress": "p1", "at": "-4m"}`.
 *
 * Waits come from the workflow, everything else from the first pending activity (`a1` where none is pending) in its
 * current attempt. Fences grow with the attempt, sequences count per emitter, fence and attempt without holes, a receipt
 * is stored when it happened (never later than now): each can be given instead.
 */
import { WORKFLOW_EMITTER } from '../../receipts/envelope.ts';
import type { Envelope, StoredReceipt } from '../../receipts/envelope.ts';
import type { DeliverableBody, EffectBody, ProgressBody, WaitBody } from '../../receipts/receipt.ts';
import { digestText } from '../../receipts/digest.ts';
import type { Given, ShortReceipt } from './given.ts';
import { lengthMs, optionalTimeMs, timeMs } from './times.ts';

type Short<K extends string> = Extract<ShortReceipt, Record<K, string>>;

/** Leaves out what is undefined, as exact optional types want. */
function present<T extends object>(members: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function progressBody(short: Short<'progress'>, nowMs: number): ProgressBody {
  return present<ProgressBody>({
    milestone: short.milestone ?? 'step-done',
    digest: short.digest ?? `digest-of-${short.progress}`,
    delta: undefined,
    step: short.step,
    expectByMs: short.expectBy === undefined ? undefined : timeMs(short.expectBy, nowMs),
    end: short.end,
    note: undefined,
    cost: undefined,
  });
}

function waitBody(short: Short<'wait'>, nowMs: number): WaitBody {
  return present<WaitBody>({
    name: short.name ?? 'approval',
    owner: short.owner === undefined ? 'ops' : short.owner,
    deadlineMs: short.deadline === undefined ? timeMs('+1h', nowMs) : optionalTimeMs(short.deadline, nowMs),
    resumeToken: short.token === undefined ? `token-of-${short.wait}` : short.token,
    resumeBy: short.resumeBy ?? 'signal',
    condition: short.condition,
    state: short.state ?? 'open',
    approvers: undefined,
    subjectDigest: undefined,
    reconciles: short.reconciles,
    note: undefined,
  });
}

function effectBody(short: Short<'effect'>): EffectBody {
  const settled = short.state === 'verified' || short.state === 'none';
  const by = short.by === undefined ? (settled ? 'destination' : null) : short.by;
  const verdict =
    by === null
      ? undefined
      : present<NonNullable<EffectBody['verdict']>>({
          by,
          kind: short.kind,
          level: short.level,
          resultDigest: short.result === undefined ? undefined : digestText(short.result),
          reference: undefined,
        });
  return present<EffectBody>({
    operationId: short.op,
    name: short.name ?? short.op.split(':')[0] ?? short.op,
    state: short.state,
    target: short.target,
    inputDigest: short.input === undefined ? undefined : digestText(short.input),
    verdict,
    class: short.class,
    role: short.role,
    deliverable: short.deliverable,
    protectedUntilMs: undefined,
  });
}

function deliverableBody(short: Short<'deliverable'>): DeliverableBody {
  const sizeBytes =
    short.size === undefined ? (short.count === undefined ? 8121 : undefined) : (short.size ?? undefined);
  return present<DeliverableBody>({
    name: short.name ?? 'report',
    destination: short.destination ?? 'file',
    check: short.check ?? 'file-digest',
    result: short.result ?? 'pass',
    subject: present<NonNullable<DeliverableBody['subject']>>({
      digest: digestText(short.digest ?? 'the report'),
      sizeBytes,
      count: short.count,
      version: undefined,
    }),
    coverage: short.coverage === undefined ? undefined : present(short.coverage),
    confidence: short.confidence,
    cause: short.cause,
  });
}

function kindAndBody(short: ShortReceipt, nowMs: number): Pick<StoredReceipt, 'kind' | 'body'> {
  if ('progress' in short) return { kind: 'progress', body: progressBody(short, nowMs) };
  if ('wait' in short) return { kind: 'wait', body: waitBody(short, nowMs) };
  if ('effect' in short) return { kind: 'effect', body: effectBody(short) };
  return { kind: 'deliverable', body: deliverableBody(short) };
}

function idOf(short: ShortReceipt): string {
  if ('progress' in short) return short.progress;
  if ('wait' in short) return short.wait;
  return 'effect' in short ? short.effect : short.deliverable;
}

function expandSeries(short: ShortReceipt, nowMs: number): readonly (readonly [id: string, short: ShortReceipt])[] {
  const { series } = short;
  if (series === undefined) return [[idOf(short), short]];
  const lastAtMs = timeMs(short.at, nowMs);
  return Array.from({ length: series.last - series.first + 1 }, (_, index) => {
    const number = series.first + index;
    return [`${idOf(short)}${number}`, { ...short, at: lastAtMs - (series.last - number) * lengthMs(series.every) }];
  });
}

export function buildReceipts(given: Given, startedAtMs: number, nowMs: number): StoredReceipt[] {
  const counted = new Map<string, number>();
  const shorts = (given.receipts ?? []).flatMap((short) => expandSeries(short, nowMs));
  return shorts.map(([receiptId, short]) => {
    const runId = given.run?.runId ?? 'R1';
    const emitter = short.emitter ?? ('wait' in short ? WORKFLOW_EMITTER : (given.activities?.[0]?.id ?? 'a1'));
    const pending = given.activities?.find(({ id }) => id === emitter);
    const attempt = short.attempt ?? pending?.attempt ?? 1;
    const runStartedAtMs = timeMs(
      short.runStarted ?? ((short.run ?? runId) === runId ? startedAtMs : startedAtMs - 3_600_000),
      nowMs,
    );
    const ownFence = emitter === WORKFLOW_EMITTER ? runStartedAtMs : runStartedAtMs + attempt * 1000;
    const fence = short.fence === undefined ? ownFence : timeMs(short.fence, nowMs);
    const counter = [short.run ?? runId, emitter, fence, attempt].join('/');
    const sequence = short.sequence ?? (counted.get(counter) ?? 0) + 1;
    counted.set(counter, Math.max(sequence, counted.get(counter) ?? 0));
    const occurredAtMs = timeMs(short.at, nowMs);
    const envelope: Omit<Envelope, 'kind'> = {
      schemaVersion: 1,
      clusterId: short.cluster ?? 'cluster-1',
      namespace: 'default',
      workflowId: short.workflow ?? given.run?.workflowId ?? 'wf-1',
      runId: short.run ?? runId,
      chainId: short.chain ?? given.run?.chain ?? runId,
      workflowType: given.run?.type ?? 'mission',
      receiptId,
      runStartedAtMs,
      emitter,
      ...(emitter === WORKFLOW_EMITTER ? {} : { activityType: pending?.type ?? 'step' }),
      fence,
      attempt,
      sequence,
      missionFingerprint: short.mission === undefined ? (given.mission ?? null) : short.mission,
      occurredAtMs,
    };
    const recordedAtMs = short.recorded === undefined ? Math.min(occurredAtMs, nowMs) : timeMs(short.recorded, nowMs);
    return { ...envelope, ...kindAndBody(short, nowMs), recordedAtMs } as StoredReceipt;
  });
}
