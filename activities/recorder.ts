/**
 * `receipts()`: what an activity says of its own work.
 *
 * One recorder per attempt, in the activity's async context. It gives each receipt its place (fence, attempt, sequence),
 * hands it to the outbox, and at the end the activity's result is held until what it said is stored (R6).
 *
 * `progress` never throws and never waits for the store; `wait`, `effect` and `deliverable` resolve when the store has
 * committed them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from '@temporalio/activity';
import { v7 } from 'uuid';
import type { CheckFinding, DefinedContract } from '../receipts/contract.ts';
import { MonotoneCounts } from '../receipts/counts.ts';
import { digestJson } from '../receipts/digest.ts';
import { RECEIPT_SCHEMA_VERSION } from '../receipts/envelope.ts';
import type { Envelope, Receipt, ReceiptOf, RunIdentity } from '../receipts/envelope.ts';
import { HealthError } from '../receipts/errors.ts';
import { judgedBy } from '../receipts/input.ts';
import type { BodyContext, DeliverableInput, EffectInput, ProgressInput, WaitInput } from '../receipts/input.ts';
import { parseBody } from '../receipts/parse.ts';
import type { Delta, ReceiptKind } from '../receipts/receipt.ts';
import { missionKey } from '../receipts/state.ts';
import type { RunFacts } from '../workflows/header.ts';
import { Attempt } from './attempt.ts';
import { findResult, unknownDeliverable } from './deliverables.ts';
import { asHealthError, isUnavailable, toFailure } from './failures.ts';
import { Outbox } from './outbox.ts';
import type { ReceiptSink } from './outbox.ts';

/** `delta`'s members beside the rest; `digest` where absent is the digest of what changed. */
export type ProgressNote = Omit<ProgressInput, 'milestone' | 'digest' | 'delta'> & Delta & { readonly digest?: string };

/** `recorded: true`: taken, and stored before the activity completes. An expected refusal is a value. */
export type ProgressAnswer =
  { readonly recorded: true; readonly receiptId: string } | { readonly recorded: false; readonly error: HealthError };

/** A milestone as it was stored when it was reached. */
export interface ReachedMilestone {
  readonly receiptId: string;
  readonly digest: string;
  readonly delta: Delta | null;
  readonly step: string | null;
  /** Epoch ms on the store's clock. */
  readonly recordedAtMs: number;
  /** The attempt that reached it, of whichever activity. */
  readonly activityId: string;
  readonly attempt: number;
}

/** `late`: kept, but a newer attempt has already written; what this attempt does changes nothing any more. */
export interface Acknowledged {
  readonly receiptId: string;
  readonly outcome: 'stored' | 'repeat' | 'late';
}

export type EffectStatement = Omit<EffectInput, 'operationId'> &
  (
    | { readonly operationId: string }
    /** Business key: the operation id is made of namespace, workflow id, effect name and this. */
    | { readonly key: string }
  );

export interface DeliverableReceipts {
  /**
   * Runs the contract's check against `location` and records what it found. A failing or unreadable result is a value.
   * @throws ApplicationFailure CONTRACT_UNKNOWN, DELIVERABLE_CHECK_REQUIRED, DELIVERABLE_STALE; WORK_DONE_UNRECORDED (retryable)
   */
  verify(at: {
    readonly location: string;
    readonly missionFingerprint?: string;
    readonly revision?: string;
  }): Promise<CheckFinding & Acknowledged>;
  /**
   * Records a judgement, only where the contract says that no deterministic check exists: the run is then healthy with the
   * reason `judged`, shown with the judge and its confidence and counted apart. The newest judgement counts.
   * @throws ApplicationFailure RECEIPT_INVALID where the judge has no name; else as `verify`
   */
  judge(judgement: DeliverableJudgement): Promise<Acknowledged>;
}

/** What a judge says of a deliverable. Like every receipt it holds no content: no prompt, no reasoning. */
export interface DeliverableJudgement extends Omit<DeliverableInput, 'name' | 'destination' | 'check' | 'confidence'> {
  /** Who judged: a person, a panel, or a model with the version of its rubric, e.g. `editor-rubric-3`. */
  readonly by: string;
  /** From 0 to 1, as the judge states it. */
  readonly confidence: number;
}

/** Bound to the running activity attempt. Every failure's type is a code of `receipts/errors.ts`. */
export interface ActivityReceipts {
  /** A milestone of this activity: never throws, never waits for the store. */
  progress(milestone: string, note: ProgressNote): Promise<ProgressAnswer>;
  /**
   * The last milestone that the chain reached, by whichever attempt or run: where a retry goes on. Null where there is none.
   * It is as durable as the store, where heartbeat details may lag behind by most of the heartbeat's timeout.
   * @throws ApplicationFailure STORE_UNAVAILABLE (retryable)
   */
  lastProgress(milestone: string): Promise<ReachedMilestone | null>;
  /** @throws ApplicationFailure WAIT_INCOMPLETE, WAIT_DEADLINE, RECEIPT_*; WORK_DONE_UNRECORDED (retryable) */
  wait(wait: WaitInput): Promise<Acknowledged>;
  /**
   * @throws ApplicationFailure EFFECT_VERDICT_REQUIRED, RECEIPT_*; of `attempted` STORE_UNAVAILABLE (retryable): then do not
   * call; of what came of a call WORK_DONE_UNRECORDED (retryable)
   */
  effect(effect: EffectStatement): Promise<Acknowledged>;
  deliverable(name: string): DeliverableReceipts;
  /** Resolves when everything said so far is stored. @throws ApplicationFailure STORE_UNAVAILABLE (retryable) */
  flush(): Promise<void>;
}

/** What the plugin knows of the worker it is on. */
export interface WorkerFacts {
  readonly sink: ReceiptSink;
  readonly clusterId: string;
  readonly namespace: string;
}

/** Before a call to a destination there is nothing to lose yet: the refusal comes soon. */
const ATTEMPTED_PATIENCE_MS = 5_000;

const current = new AsyncLocalStorage<ActivityRecorder>();

/**
 * The receipts of the activity that runs now. Take it before you register callbacks that Temporal calls (an `abort`
 * listener runs outside the activity).
 * @throws HealthError NO_ACTIVITY_CONTEXT
 */
export function receipts(): ActivityReceipts {
  return currentRecorder();
}

export function currentRecorder(): ActivityRecorder {
  const recorder = current.getStore();
  if (recorder !== undefined) return recorder;
  throw new HealthError(
    'NO_ACTIVITY_CONTEXT',
    'receipts() was called outside an activity of a worker with the plugin.',
    {
      hint: 'Give HealthPlugin to the worker, call receipts() in an activity of a workflow, and before registering callbacks.',
    },
  );
}

export class ActivityRecorder implements ActivityReceipts {
  readonly attempt: Attempt;
  readonly outbox: Outbox;
  readonly sink: ReceiptSink;
  readonly #ctx: Context;
  readonly #worker: WorkerFacts;
  readonly #facts: RunFacts | null;
  readonly #contract: DefinedContract | undefined;
  readonly #counts = new MonotoneCounts();
  #sequence = 0;
  #closed = false;

  constructor(worker: WorkerFacts, ctx: Context, facts: RunFacts | null, contract: DefinedContract | undefined) {
    this.#worker = worker;
    this.#ctx = ctx;
    this.#facts = facts;
    this.#contract = contract;
    this.sink = worker.sink;
    this.attempt = new Attempt(ctx, facts?.runDeadlineMs ?? null);
    this.outbox = new Outbox(worker.sink);
  }

  /** Runs the activity with this recorder as its `receipts()`. */
  run<T>(body: () => Promise<T>): Promise<T> {
    return current.run(this, body);
  }

  /** After this the attempt has ended: whoever still holds the recorder is refused. */
  close(): void {
    this.#closed = true;
  }

  progress(milestone: string, note: ProgressNote): Promise<ProgressAnswer> {
    try {
      if (this.outbox.isFull) {
        throw new HealthError('STORE_UNAVAILABLE', 'The store is away and this attempt holds too many notes already.');
      }
      const receipt = this.#receipt('progress', progressInput(milestone, note));
      const outcome = this.outbox.add(receipt, { linger: true });
      const { delta } = (receipt as Receipt & ReceiptOf<'progress'>).body;
      this.attempt.beat({ milestone, ...(delta === undefined ? {} : { delta }) });
      void outcome.then((settled) => {
        if (settled.outcome === 'refused') this.#logRefusal(milestone, settled.error);
      });
      return Promise.resolve({ recorded: true, receiptId: receipt.receiptId });
    } catch (error) {
      const refused = asHealthError(error, 'RECEIPT_INVALID');
      this.#logRefusal(milestone, refused);
      return Promise.resolve({ recorded: false, error: refused });
    }
  }

  async lastProgress(milestone: string): Promise<ReachedMilestone | null> {
    const { namespace, workflowId, chainId, facts } = await this.#asFailures(() => this.identity());
    await this.flush();
    return this.#asFailures(async () => {
      const row = await this.sink.read((store) => store.readChain({ namespace, workflowId, runId: chainId }));
      const mission = row?.state.missions[missionKey(facts.missionFingerprint)];
      const [, , receiptId] = mission?.milestones[milestone]?.seen[0] ?? [];
      if (receiptId === undefined) return null;
      const receipt = await this.sink.read((store) => store.readReceipt(receiptId));
      if (receipt?.kind !== 'progress') return null;
      const { recordedAtMs, emitter: activityId, attempt } = receipt;
      const { digest, delta = null, step = null } = receipt.body;
      return { receiptId, digest, delta, step, recordedAtMs, activityId, attempt };
    });
  }

  async wait(wait: WaitInput): Promise<Acknowledged> {
    return this.#deliver('wait', wait);
  }

  async effect(effect: EffectStatement): Promise<Acknowledged> {
    const { workflowExecution, namespace } = this.#ctx.info;
    const { key, ...rest } = 'key' in effect ? effect : { ...effect, key: undefined };
    const operationId = [namespace, workflowExecution?.workflowId ?? '', effect.name, key ?? ''].join('/');
    const input = key === undefined ? rest : { ...rest, operationId };
    return this.#deliver('effect', input, effect.state === 'attempted' ? ATTEMPTED_PATIENCE_MS : Infinity);
  }

  deliverable(name: string): DeliverableReceipts {
    return {
      verify: async ({ location, ...aside }) => {
        const { due, found } = await this.#asFailures(() => this.#check(name, location));
        const { result, subject, coverage, cause } = found;
        const acknowledged = await this.#deliver('deliverable', {
          ...{ name, destination: due.destination, check: due.check?.name, ...aside },
          ...{ result, subject, coverage, cause },
        });
        return { ...found, ...acknowledged };
      },
      judge: async ({ by, ...judgement }) => {
        const { destination } = await this.#asFailures(() => this.#judgeable(name, by));
        return this.#deliver('deliverable', { ...judgement, name, destination, check: judgedBy(by) });
      },
    };
  }

  async flush(): Promise<void> {
    const settled = await this.attempt.hold(this.outbox.settled().then(() => true));
    if (settled !== true) throw toFailure(unavailable());
  }

  /** The milestone of an activity type that the contract names: its result's digest. */
  async noteResult(result: unknown): Promise<void> {
    const { activityType } = this.#ctx.info;
    for (const [milestone, { activityTypes }] of Object.entries(this.#contract?.contract.milestones ?? {})) {
      if (activityTypes?.includes(activityType) !== true) continue;
      let digest: string;
      try {
        digest = digestJson(result);
      } catch {
        // A cycle, a BigInt or NaN: the result has no canonical form, so nobody can say whether it is new.
        continue;
      }
      await this.progress(milestone, { digest });
    }
  }

  /** @throws HealthError PLUGIN_MISSING where the workflow sent no header and its first event could not be read */
  identity(): RunIdentity & { readonly facts: RunFacts } {
    const { workflowExecution, workflowType = '' } = this.#ctx.info;
    const facts = this.#facts;
    if (workflowExecution === undefined || facts === null) {
      throw new HealthError(
        'PLUGIN_MISSING',
        'The workflow that scheduled this activity ran without the plugin, and Temporal did not say which chain it is.',
        {
          hint: 'Give HealthPlugin to the worker of the workflow, or to bundleWorkflowCode where its bundle is prebuilt.',
        },
      );
    }
    return {
      clusterId: this.#worker.clusterId,
      namespace: this.#worker.namespace,
      workflowId: workflowExecution.workflowId,
      runId: workflowExecution.runId,
      chainId: facts.chainId,
      workflowType,
      facts,
    };
  }

  bodyContext(nowMs: number): BodyContext {
    const checks = Object.values(this.#contract?.checks ?? {});
    return {
      nowMs,
      checks: new Set(checks.map(({ name }) => name)),
      digestChecks: new Set(checks.flatMap(({ name, findsDigest }) => (findsDigest === true ? [name] : []))),
      missionFingerprint: this.#facts?.missionFingerprint ?? null,
    };
  }

  /** @throws HealthError what is wrong with the input; nothing is spent then */
  #receipt(kind: ReceiptKind, input: unknown): Receipt {
    if (this.#closed) {
      throw new HealthError('NO_ACTIVITY_CONTEXT', 'This attempt has ended: nothing can be added to what it said.', {
        hint: 'Await everything the activity starts before it returns.',
      });
    }
    const { facts, ...identity } = this.identity();
    const { info } = this.#ctx;
    const nowMs = Math.round(this.sink.nowMs());
    const order = { fence: Math.floor(info.currentAttemptScheduledTimestampMs), attempt: info.attempt };
    const parsed = parseBody(kind, input, this.bodyContext(nowMs));
    if ('milestone' in parsed.body) this.#counts.accept(order, parsed.body, parsed.reset);
    const envelope: Envelope = {
      ...identity,
      schemaVersion: RECEIPT_SCHEMA_VERSION,
      receiptId: v7(),
      kind,
      runStartedAtMs: facts.runStartedAtMs,
      emitter: info.activityId,
      activityType: info.activityType,
      ...order,
      sequence: ++this.#sequence,
      missionFingerprint: facts.missionFingerprint,
      occurredAtMs: nowMs,
      ...(parsed.sanitised ? { sanitised: true } : {}),
    };
    return { ...envelope, body: parsed.body } as Receipt;
  }

  async #deliver(kind: ReceiptKind, input: unknown, patienceMs = Infinity): Promise<Acknowledged> {
    const receipt = await this.#asFailures(() => this.#receipt(kind, input));
    const outcome = await this.attempt.hold(this.outbox.add(receipt, { linger: false }), patienceMs);
    if (outcome === undefined) throw toFailure(patienceMs === Infinity ? workDone() : unavailable());
    if (outcome.outcome === 'refused') throw toFailure(outcome.error);
    return { receiptId: receipt.receiptId, outcome: outcome.outcome };
  }

  async #asFailures<T>(body: () => T | Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      throw toFailure(asHealthError(error, 'RECEIPT_INVALID'));
    }
  }

  async #check(name: string, location: string): Promise<Awaited<ReturnType<typeof findResult>>> {
    const { workflowId, runId } = this.identity();
    const { cancellationSignal: signal } = this.#ctx;
    return findResult(this.#contract, { workflowId, runId, deliverable: name, location, signal });
  }

  #judgeable(name: string, judge: unknown): { readonly destination: string } {
    const due = this.#contract?.contract.deliverables[name];
    if (due === undefined) throw unknownDeliverable(name);
    if (typeof judge !== 'string' || judge.trim() === '') {
      throw new HealthError('RECEIPT_INVALID', 'A judgement says who judged.', { field: 'by', got: typeof judge });
    }
    if (due.check === null) return due;
    throw new HealthError('DELIVERABLE_CHECK_REQUIRED', 'This deliverable has a check: a judgement cannot stand in.', {
      hint: `Run the check: receipts().deliverable('${name}').verify({ location }).`,
    });
  }

  #logRefusal(milestone: string, error: HealthError): void {
    const level = isUnavailable(error) ? 'debug' : 'warn';
    this.#ctx.log[level]('A progress receipt was not recorded', { milestone, ...error.toJSON() });
  }
}

/** What was to be stated has happened: whoever tries again must find it, not do it again. */
function workDone(): HealthError {
  return new HealthError('WORK_DONE_UNRECORDED', 'What was done could not be stored while the attempt could wait.', {
    hint: 'The attempt is retried; an effect must be found again under its operation id, not repeated.',
  });
}

function unavailable(): HealthError {
  return new HealthError(
    'STORE_UNAVAILABLE',
    'The store did not acknowledge this receipt while the attempt could wait.',
  );
}

const DELTA_FIELDS = ['done', 'of', 'unit', 'setDigest', 'ids', 'artifactDigest', 'invariant'] as const;

/** The flat note as the input of a receipt. Unknown members stay where they are, to be refused by name. */
export function progressInput(milestone: string, note: ProgressNote): Record<string, unknown> {
  const rest: Record<string, unknown> = { ...note };
  const delta: Record<string, unknown> = {};
  for (const field of DELTA_FIELDS) {
    if (rest[field] !== undefined) delta[field] = rest[field];
    Reflect.deleteProperty(rest, field);
  }
  const changed = Object.keys(delta).length > 0;
  const digest = note.digest ?? note.setDigest ?? note.artifactDigest ?? (changed ? digestOf(delta) : undefined);
  return { ...rest, milestone, digest, ...(changed ? { delta } : {}) };
}

/** Undefined where it has no canonical form: the reader of the body then says which field is at fault. */
function digestOf(delta: unknown): string | undefined {
  try {
    return digestJson(delta);
  } catch {
    return undefined;
  }
}
