/** Receipts for store tests: an emitter that counts its own sequence, and short bodies. */
import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { WORKFLOW_EMITTER } from '../../receipts/envelope.ts';
import type { Envelope, Receipt } from '../../receipts/envelope.ts';
import { foldChain } from '../../receipts/fold.ts';
import type { DeliverableBody, EffectBody, ProgressBody, ReceiptKind, WaitBody } from '../../receipts/receipt.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { ChainReference, EmitOutcome, ReceiptStore } from '../../receipts/store.ts';

export const someDigest = (letter: string): `sha256:${string}` => `sha256:${letter.repeat(64).slice(0, 64)}`;

export type Identity = Pick<
  Envelope,
  'clusterId' | 'namespace' | 'workflowId' | 'runId' | 'chainId' | 'workflowType' | 'runStartedAtMs'
>;

/** A run of its own, the first of its chain. */
export function someRun(clusterId: string, over: Partial<Identity> = {}): Identity {
  const runId = randomUUID();
  return {
    clusterId,
    namespace: 'default',
    workflowId: `wf-${randomUUID()}`,
    runId,
    chainId: runId,
    workflowType: 'mission',
    runStartedAtMs: 1_000,
    ...over,
  };
}

export const chainOf = ({ namespace, workflowId, chainId }: Identity): ChainReference => ({
  namespace,
  workflowId,
  chainId,
});

export const waitBody = (over: Partial<WaitBody> = {}): WaitBody => ({
  name: 'approval',
  owner: 'ops',
  deadlineMs: 9_000_000_000_000,
  resumeToken: 'token-1',
  resumeBy: 'signal',
  state: 'open',
  ...over,
});

export const effectBody = (over: Partial<EffectBody> = {}): EffectBody => ({
  operationId: 'charge:1',
  name: 'charge',
  state: 'attempted',
  ...over,
});

export const verified = (over: Partial<EffectBody> = {}): EffectBody =>
  effectBody({ state: 'verified', verdict: { by: 'destination' }, ...over });

export const deliverableBody = (over: Partial<DeliverableBody> = {}): DeliverableBody => ({
  name: 'report',
  destination: 'file',
  check: 'file-digest',
  result: 'pass',
  ...over,
});

type Over = Partial<Omit<Envelope, 'kind'>>;

/** Emits for one emitter under one fence; every receipt takes the next sequence. */
export class Emitter {
  readonly #run: Identity;
  readonly #over: Over;
  #sequence = 0;

  constructor(run: Identity, over: Over = {}) {
    this.#run = run;
    this.#over = { emitter: WORKFLOW_EMITTER, ...over };
  }

  #receipt(kind: ReceiptKind, body: unknown, over: Over): Receipt {
    this.#sequence = over.sequence ?? this.#sequence + 1;
    return {
      schemaVersion: 1,
      receiptId: v7(),
      ...this.#run,
      emitter: WORKFLOW_EMITTER,
      fence: 1_000,
      attempt: 1,
      missionFingerprint: null,
      occurredAtMs: 5_000,
      ...this.#over,
      ...over,
      sequence: this.#sequence,
      kind,
      body,
    } as Receipt;
  }

  progress(body: Partial<ProgressBody> = {}, over: Over = {}): Receipt {
    return this.#receipt('progress', { milestone: 'checked', digest: v7(), ...body }, over);
  }

  wait(body: Partial<WaitBody> = {}, over: Over = {}): Receipt {
    return this.#receipt('wait', waitBody(body), over);
  }

  effect(body: Partial<EffectBody> = {}, over: Over = {}): Receipt {
    return this.#receipt('effect', effectBody(body), over);
  }

  deliverable(body: Partial<DeliverableBody> = {}, over: Over = {}): Receipt {
    return this.#receipt('deliverable', deliverableBody(body), over);
  }
}

/** The chain's row and, from its stored receipts, what it must be. */
export async function rowAndFold(
  store: ReceiptStore,
  run: Identity,
): Promise<{ row: ChainRow | null; folded: ChainRow | null }> {
  const row = await store.readChain({ namespace: run.namespace, workflowId: run.workflowId, runId: run.chainId });
  const receipts = await store.readReceipts(chainOf(run), 100_000);
  const refusals = await store.readRefusals(chainOf(run));
  return { row, folded: foldChain(receipts, row?.contractDigest ?? null, refusals) };
}

export interface StoreUnderTest {
  readonly clusterId: () => string;
  readonly store: () => ReceiptStore;
  /** Emits, and answers each outcome or, where it was refused, the code. */
  readonly emit: (...receipts: readonly Receipt[]) => Promise<string[]>;
  /** The row of a run's chain, after checking that it is what its receipts fold to. */
  readonly wholeRow: (run: Identity) => Promise<ChainRow>;
}

export function outcomesOf(outcomes: readonly EmitOutcome[]): string[] {
  return outcomes.map((one) => (one.outcome === 'refused' ? one.error.code : one.outcome));
}
