/** What `wait-for` does between its first look and its exit code. */
import { setTimeout as pause } from 'node:timers/promises';
import { terminalText } from '../../receipts/text.ts';
import type { ReportRow } from '../report.ts';
import { receiptFor } from '../rules/deliverables.ts';
import { bind } from '../view.ts';
import { changeLine } from './change-line.ts';
import { statusOf } from './classify.ts';
import type { Context } from './context.ts';
import { EXIT, errorOut } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { changeKey, Followed, isOutage, outageLine, pauseBetween } from './follow.ts';
import type { JudgedLook, Look, Outage } from './follow.ts';
import { NAGIOS, nagiosLine, runText, stateOf, unknownLine } from './nagios.ts';
import { nearing } from './nearing.ts';
import { Progress, write } from './output.ts';
import { openSources } from './sources.ts';
import { lengthText } from './times.ts';
import type { Wanted } from './wanted.ts';

export interface WaitWish {
  readonly workflowId: readonly string[];
  readonly for: readonly Wanted[];
  readonly timeout: number;
  readonly interval: number;
  readonly acceptJudged?: true | undefined;
}

type Outcome = 'met' | 'ended' | 'timed-out' | 'unreachable';

/** Words for a screen, a document's `outcome`, and the code. */
interface End {
  readonly outcome: Outcome;
  readonly exit: ExitCode;
  readonly looks: readonly Look[];
  readonly says: string;
}

export async function waitFor(wish: WaitWish, context: Context): Promise<ExitCode> {
  const configuration = context.configuration();
  const deadlineMs = Date.now() + wish.timeout;
  const { sources, errors, close } = await openSources(configuration);
  try {
    // At the first contact a wrong address is likelier than an outage; later ones are waited out.
    if (errors[0] !== undefined) throw errors[0];
    const { namespace } = configuration;
    const runs = wish.workflowId.map((workflowId) => new Followed(workflowId, undefined, namespace, sources));
    const waiting = new Waiting(wish, runs, deadlineMs, context);
    const exit = await report(await waiting.end(), wish, context);
    await waiting.settled();
    return exit;
  } finally {
    await close();
  }
}

class Waiting {
  readonly #wish: WaitWish;
  readonly #runs: readonly Followed[];
  readonly #deadlineMs: number;
  readonly #context: Context;
  readonly #progress: Progress;
  /** What was said last of each run. */
  readonly #said = new Map<string, string>();
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(wish: WaitWish, runs: readonly Followed[], deadlineMs: number, context: Context) {
    this.#wish = wish;
    this.#runs = runs;
    this.#deadlineMs = deadlineMs;
    this.#context = context;
    this.#progress = new Progress(context.terminal);
  }

  async end(): Promise<End> {
    let last: readonly Look[] = [];
    try {
      for (;;) {
        const looks = await this.#lookAtAll();
        if (looks !== null) {
          last = looks;
          await this.#say(looks);
          const end = endOf(looks, this.#wish);
          if (end !== null) return end;
        }
        if (Date.now() >= this.#deadlineMs) return timedOut(last, this.#wish);
        this.#showProgress(last);
        await pauseBetween(last, this.#wish.interval, this.#deadlineMs - Date.now());
      }
    } finally {
      this.#progress.clear();
    }
  }

  /** A connection that is closed under a call which is tried again ends the process (@temporalio/client 1.24). */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  /** Null where the time is over before everybody answered. */
  async #lookAtAll(): Promise<readonly Look[] | null> {
    const timer = new AbortController();
    const looks = Promise.all(this.#runs.map((run) => run.look()));
    const left = this.#deadlineMs - Date.now();
    this.#underWay = looks.catch(() => undefined);
    try {
      return await Promise.race([looks, pause(Math.max(left, 1), null, { signal: timer.signal })]);
    } finally {
      timer.abort();
    }
  }

  async #say(looks: readonly Look[]): Promise<void> {
    for (const [at, look] of looks.entries()) {
      const workflowId = this.#runs[at]?.workflowId ?? '';
      const change = isOutage(look) ? look.outage.code : changeKey(look.row);
      if (this.#said.get(workflowId) === change) continue;
      this.#said.set(workflowId, change);
      this.#progress.clear();
      if (isOutage(look)) this.#sayOutage(look);
      else await this.#sayRow(look.row);
    }
  }

  #sayOutage(outage: Outage): void {
    const { format } = this.#context;
    if (format === 'text' || format === 'jsonl') process.stderr.write(outageLine(outage));
  }

  async #sayRow(row: ReportRow): Promise<void> {
    const { format } = this.#context;
    if (format === 'text') await write(`${changeLine(row, this.#context)}\n`);
    if (format === 'jsonl') await write(`${JSON.stringify(row)}\n`);
  }

  #showProgress(looks: readonly Look[]): void {
    const met = looks.filter((look) => isMet(look, this.#wish)).length;
    const left = lengthText(this.#deadlineMs - Date.now());
    this.#progress.show(`${met} of ${this.#runs.length} are ${this.#wish.for.join(' or ')}, ${left} left`);
  }
}

function isMet(look: Look, wish: WaitWish): boolean {
  if (isOutage(look)) return false;
  const { verdict, reason } = look.row;
  if (wish.for.includes('deliverable') && deliverablesPass(look, wish)) return true;
  if (verdict === null || !wish.for.includes(verdict)) return false;
  return verdict !== 'healthy' || reason !== 'judged' || wish.acceptJudged === true;
}

/** Every due deliverable has a passing receipt of its check; one that only a judgement stands behind counts where wished. */
function deliverablesPass({ run: { gathered, judgement } }: JudgedLook, { acceptJudged }: WaitWish): boolean {
  const { document } = gathered;
  const view = bind(document, document.policy, judgement.judgedAtMs);
  const due = view.dueDeliverables;
  const pass = (one: (typeof due)[number]): boolean =>
    (one.check !== null || acceptJudged === true) && receiptFor(one, view)?.result === 'pass';
  return due.length > 0 && due.every(pass);
}

function endOf(looks: readonly Look[], wish: WaitWish): End | null {
  const open = looks.filter((look) => !isMet(look, wish));
  const wanted = wish.for.join(' or ');
  if (open.length === 0) return { outcome: 'met', exit: EXIT.done, looks, says: `All are ${wanted}.` };
  const ended = open.filter((look): look is JudgedLook => !isOutage(look) && look.final);
  if (ended.length === 0) return null;
  const exit = statusOf(ended.map(({ row }) => row.verdict));
  const says = ended.map(({ row }) => `${row.workflowId} is ${said(row)} and will not be ${wanted}`).join('; ');
  return { outcome: 'ended', exit: exit === EXIT.done ? EXIT.failure : exit, looks, says: `${says}.` };
}

function said({ verdict, reason }: ReportRow): string {
  return verdict === null ? reason : `${verdict} (${reason})`;
}

function timedOut(looks: readonly Look[], wish: WaitWish): End {
  const length = lengthText(wish.timeout);
  const outage = looks.find(isOutage);
  if (outage !== undefined) {
    const says = `${outage.outage.message} It did not answer again within ${length}.`;
    return { outcome: 'unreachable', exit: EXIT.unreachable, looks, says };
  }
  const open = looks.filter((look) => !isMet(look, wish)).flatMap((look) => (isOutage(look) ? [] : [look.row]));
  const states = open.map((row) => `${row.workflowId} is ${said(row)}`).join('; ');
  return {
    outcome: 'timed-out',
    exit: EXIT.timedOut,
    looks,
    says: `Timed out after ${length}: ${states || 'no answer'}.`,
  };
}

async function report(end: End, wish: WaitWish, context: Context): Promise<ExitCode> {
  const { outcome, exit, looks, says } = end;
  const judged = looks.filter((look): look is JudgedLook => !isOutage(look));
  if (context.format === 'nagios') return await asNagios(end, judged);
  if (context.format === 'json') {
    const runs = judged.map(({ row }) => row);
    await write(`${JSON.stringify({ schemaVersion: 1, outcome, for: wish.for, runs }, null, 2)}\n`);
  }
  const outage = looks.find(isOutage);
  if (outcome === 'unreachable' && outage) process.stderr.write(errorOut(outage.outage, context.format));
  else if (context.format === 'text' && outcome !== 'met')
    process.stderr.write(`${terminalText(says)}\n  ${remedy(end)}\n`);
  return exit;
}

function remedy({ outcome, looks }: End): string {
  const row = looks.flatMap((look) => (isOutage(look) ? [] : [look.row]))[0];
  const see = row === undefined ? '' : `See: temporal-health explain -w ${row.workflowId}`;
  return outcome === 'timed-out' ? `Give it longer with --timeout. ${see}` : see;
}

async function asNagios({ outcome, looks, says }: End, judged: readonly JudgedLook[]): Promise<ExitCode> {
  const outage = looks.find(isOutage);
  if (outage !== undefined && outcome !== 'ended') {
    await write(unknownLine(outage.outage));
    return NAGIOS.UNKNOWN;
  }
  const checked = judged.map(({ row, run }) => ({ row, nearing: nearing(run.gathered.document) }));
  const near = checked.some((one) => stateOf(one) === 'WARNING');
  const state = outcome !== 'met' ? 'CRITICAL' : near ? 'WARNING' : 'OK';
  const runs = checked.map(runText).join(', ');
  await write(nagiosLine(state, outcome === 'met' ? runs : says));
  return NAGIOS[state];
}
