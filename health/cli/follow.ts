/**
 * One run, looked at again and again, as `watch` and `wait-for` do. Follows it over continue-as-new, retries and resets, and
 * never takes another run of the same workflow id for it. A source that goes away is a value: the run is not called anything
 * because of it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import type { ErrorCode } from '../../receipts/errors.ts';
import type { EvidenceDocument } from '../evidence.ts';
import type { Sources } from '../gather.ts';
import { reportRow } from '../report.ts';
import type { ReportRow } from '../report.ts';
import { isOpen } from '../temporal.ts';
import { judgeRun, keepJudged } from './judge-run.ts';
import type { JudgedRun } from './judge-run.ts';

/** Two looks are at least so far apart, however close the moment at which the verdict may change. */
const LEAST_PAUSE_MS = 200;
const OUTAGES: readonly string[] = [
  'TEMPORAL_UNREACHABLE',
  'STORE_UNAVAILABLE',
  'DB_UNREACHABLE',
] satisfies ErrorCode[];

export interface JudgedLook {
  readonly run: JudgedRun;
  readonly row: ReportRow;
  /** It is closed, and time alone will not change what is said of it. */
  readonly final: boolean;
}

export interface Outage {
  readonly outage: HealthError;
}

export type Look = JudgedLook | Outage;

export function isOutage(look: Look): look is Outage {
  return 'outage' in look;
}

/** For stderr, once while it lasts. */
export function outageLine({ outage }: Outage): string {
  return `${outage.message} Waiting on.\n`;
}

export class Followed {
  readonly workflowId: string;
  readonly #namespace: string;
  readonly #sources: Sources;
  #runId: string | undefined;
  #final: JudgedLook | null = null;
  #kept = '';

  constructor(workflowId: string, runId: string | undefined, namespace: string, sources: Sources) {
    this.workflowId = workflowId;
    this.#runId = runId;
    this.#namespace = namespace;
    this.#sources = sources;
  }

  /** @throws HealthError NOT_FOUND, RUN_NOT_IN_MISSION, NOT_ALLOWED */
  async look(): Promise<Look> {
    if (this.#final !== null) return this.#final;
    try {
      const run = await this.#judge();
      const code = outageOf(run.gathered.document);
      if (code !== null) return { outage: outageError(code) };
      const look = { run, row: reportRow(run.gathered.document, run.judgement), final: isFinal(run) };
      if (look.final) this.#final = look;
      await this.#keep(look);
      return look;
    } catch (error) {
      if (isHealthError(error) && OUTAGES.includes(error.code)) return { outage: outageError(error.code) };
      throw error;
    }
  }

  async #judge(): Promise<JudgedRun> {
    const { workflowId } = this;
    const reference = { namespace: this.#namespace, workflowId };
    const run = await judgeRun(
      this.#runId === undefined ? reference : { ...reference, runId: this.#runId },
      this.#sources,
    );
    const gone = run.judgement.reason === 'continued';
    const followed = gone && this.#runId !== undefined ? await judgeRun(reference, this.#sources) : run;
    // The run is held on to: one that is started later under the same id is another work.
    this.#runId = followed.judgement.reason === 'continued' ? undefined : followed.judgement.runId || undefined;
    return followed;
  }

  /** Once for each change: a look every few seconds would fill the store with the same words. */
  async #keep({ run, row }: JudgedLook): Promise<void> {
    const change = changeKey(row);
    if (change === this.#kept) return;
    this.#kept = change;
    await keepJudged(run, this.#sources);
  }
}

/** Equal for two looks that say the same. */
export function changeKey({ runId, verdict, reason, message, next }: ReportRow): string {
  return JSON.stringify([runId, verdict, reason, message, next]);
}

function isFinal({ gathered: { document }, judgement }: JudgedRun): boolean {
  const { temporal } = document;
  if (judgement.reason === 'continued' || judgement.validUntilMs !== null) return false;
  return temporal.source === 'not-found' || (temporal.source === 'describe' && !isOpen(temporal.describe.status));
}

/** What could not be read because nobody answered; a refusal by rights is an answer. */
function outageOf({ temporal, unread }: EvidenceDocument): string | null {
  if (temporal.source === 'unread') return temporal.code;
  return unread.find(({ code }) => OUTAGES.includes(code))?.code ?? null;
}

/** A source that answered when it was opened and not any more when the run was looked at; null where there is none. */
export function outageIn(document: EvidenceDocument): HealthError | null {
  const code = outageOf(document);
  return code !== null && OUTAGES.includes(code) ? outageError(code) : null;
}

function outageError(code: string): HealthError {
  const ofTemporal = code === 'TEMPORAL_UNREACHABLE';
  return new HealthError(
    ofTemporal ? 'TEMPORAL_UNREACHABLE' : 'DB_UNREACHABLE',
    `${ofTemporal ? 'Temporal' : 'The store'} does not answer.`,
    { hint: 'What it would say of the run is not known until it answers again.' },
  );
}

/** Until the next look: the interval, or sooner where time alone may change what was said. */
export function pauseMsOf(looks: readonly Look[], intervalMs: number): number {
  const ahead = looks.flatMap((look) => {
    if (isOutage(look) || look.final || look.run.judgement.validUntilMs === null) return [];
    return [look.run.judgement.validUntilMs - look.run.gathered.document.nowMs];
  });
  return Math.max(LEAST_PAUSE_MS, Math.min(intervalMs, ...ahead));
}

export async function pauseBetween(looks: readonly Look[], intervalMs: number, mostMs = Infinity): Promise<void> {
  await pause(Math.max(0, Math.min(pauseMsOf(looks, intervalMs), mostMs)));
}
