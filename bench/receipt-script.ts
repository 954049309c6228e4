/**
 * Receipts as a fleet of runs would emit them: 1,000 runs are open at any time, each tells the same story of 23 receipts
 * (16 progress, 4 effect, 2 wait, 1 deliverable; four activities and the workflow itself), and a run that has told it makes
 * room for a new one. Every receipt goes through the checks that an activity's receipts go through.
 */
import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { RECEIPT_SCHEMA_VERSION, WORKFLOW_EMITTER } from '../receipts/envelope.ts';
import type { Envelope, Receipt } from '../receipts/envelope.ts';
import type { BodyContext } from '../receipts/input.ts';
import { parseBody } from '../receipts/parse.ts';
import type { ReceiptKind } from '../receipts/receipt.ts';

export const FLEET = { clusterId: 'bench-cluster', namespace: 'default', workflowType: 'quarterlyReport' } as const;
export const OPEN_RUNS = 1_000;

interface Step {
  readonly activityId: string | null;
  readonly kind: ReceiptKind;
  readonly input: (run: Run) => Record<string, unknown>;
}

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly startedAtMs: number;
  readonly missionFingerprint: string;
  told: number;
}

let digests = 0;
/** A digest that nobody has seen before: what makes one is the work of the run, and not measured here. */
const newDigest = (): string => `sha256:${(digests += 1).toString(16).padStart(64, '0')}`;

const progress = (activityId: string, milestone: string, done: number, of: number): Step => ({
  activityId,
  kind: 'progress',
  input: () => {
    const setDigest = newDigest();
    return { milestone, digest: setDigest, delta: { done, of, unit: 'sources', setDigest }, note: 'chunk committed' };
  },
});

const effect = (name: string, activityId: string, state: 'attempted' | 'verified', more: object): Step => ({
  activityId,
  kind: 'effect',
  input: ({ workflowId }) => ({
    operationId: `default/${workflowId}/${name}/1`,
    name,
    state,
    inputDigest: `input of ${name} for ${workflowId}`,
    ...(state === 'verified'
      ? { verdict: { by: 'destination', level: 'settled', reference: `ref-${workflowId}` } }
      : {}),
    ...more,
  }),
});

const wait = (state: 'open' | 'consumed'): Step => ({
  activityId: null,
  kind: 'wait',
  input: ({ workflowId }) => ({
    name: 'approve-sources',
    owner: 'editor@example.org',
    deadline: '2 days',
    resumeToken: `approve-sources/${workflowId}`,
    resumeBy: 'approval',
    state,
  }),
});

const deliverable: Step = {
  activityId: '5',
  kind: 'deliverable',
  input: () => ({
    name: 'report',
    destination: 'file',
    check: 'file-digest',
    result: 'pass',
    subject: { digest: newDigest(), sizeBytes: 48_211 },
    coverage: { expected: 60, accepted: 58, empty: 2 },
  }),
};

const times = (count: number, step: (index: number) => Step): Step[] =>
  Array.from({ length: count }, (_, index) => step(index + 1));

const STORY: readonly Step[] = [
  ...times(6, (index) => progress('1', 'sources-found', index * 10, 60)),
  effect('reserve', '2', 'attempted', {}),
  effect('reserve', '2', 'verified', {}),
  progress('2', 'budget-reserved', 1, 1),
  wait('open'),
  wait('consumed'),
  ...times(8, (index) => progress('3', 'sources-checked', index * 7, 60)),
  effect('send', '4', 'attempted', { role: 'delivery', deliverable: 'report' }),
  effect('send', '4', 'verified', { role: 'delivery', deliverable: 'report' }),
  progress('5', 'report-written', 1, 1),
  deliverable,
];
export const STORY_LENGTH = STORY.length;

/** Where a step stands among those of its emitter, from 1: its sequence. */
const SEQUENCES = STORY.map(
  (step, at) => STORY.slice(0, at + 1).filter(({ activityId }) => activityId === step.activityId).length,
);
const CHECKS: ReadonlySet<string> = new Set(['file-digest']);

function newRun(): Run {
  const runId = randomUUID();
  return {
    workflowId: `quarterly-report/${runId.slice(0, 13)}`,
    runId,
    startedAtMs: Date.now(),
    missionFingerprint: newDigest(),
    told: 0,
  };
}

/** The next receipt of a run, checked, with its place among its emitter's. */
function tell(run: Run): Receipt {
  const at = run.told++;
  const step = STORY[at];
  if (step === undefined) throw new Error('this run has told everything');
  const nowMs = Date.now();
  const context: BodyContext = { nowMs, checks: CHECKS, missionFingerprint: run.missionFingerprint };
  const { body, sanitised } = parseBody(step.kind, step.input(run), context);
  const place =
    step.activityId === null
      ? { emitter: WORKFLOW_EMITTER, fence: run.startedAtMs }
      : {
          emitter: step.activityId,
          activityType: `step${step.activityId}`,
          fence: run.startedAtMs + Number(step.activityId),
        };
  const envelope: Envelope = {
    ...FLEET,
    schemaVersion: RECEIPT_SCHEMA_VERSION,
    workflowId: run.workflowId,
    runId: run.runId,
    chainId: run.runId,
    receiptId: v7(),
    kind: step.kind,
    runStartedAtMs: run.startedAtMs,
    ...place,
    attempt: 1,
    sequence: SEQUENCES[at] ?? 1,
    missionFingerprint: run.missionFingerprint,
    occurredAtMs: nowMs,
    ...(sanitised ? { sanitised: true } : {}),
  };
  return { ...envelope, body } as Receipt;
}

/**
 * The open runs, dealt out to lanes: a run belongs to one lane, so that its receipts are told in their order by one after
 * the other, and a lane goes round its runs, so that receipts of one run are far apart.
 */
export class Fleet {
  readonly #runs: Run[];
  readonly #lanes: number;
  readonly #turns: number[];

  constructor(lanes: number, runs: readonly Run[] = Array.from({ length: OPEN_RUNS }, newRun)) {
    this.#lanes = lanes;
    this.#runs = runs.map((run) => ({ ...run }));
    this.#turns = Array.from({ length: lanes }, () => 0);
  }

  /** The same runs where they are now, dealt out anew: for a copy of the database that they were told to. */
  copy(lanes: number): Fleet {
    return new Fleet(lanes, this.#runs);
  }

  next(lane: number): Receipt {
    const turn = this.#turns[lane] ?? 0;
    this.#turns[lane] = turn + 1;
    const at = lane + this.#lanes * (turn % (OPEN_RUNS / this.#lanes));
    let run = this.#runs[at];
    if (run === undefined || run.told >= STORY_LENGTH) run = this.#runs[at] = newRun();
    return tell(run);
  }

  /** What brings the fleet into its usual state, runs at every place of their story; no run twice in one batch. */
  *beginnings(): Generator<Receipt[]> {
    for (let told = 0; told < STORY_LENGTH - 1; told += 1) {
      const going = this.#runs.filter((run, at) => run.told === told && at % STORY_LENGTH > told);
      for (let from = 0; from < going.length; from += 250) yield going.slice(from, from + 250).map(tell);
    }
  }
}
