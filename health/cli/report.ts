/** `report`: how the runs of a namespace are, worst first on a screen, in store order as a stream of JSON. */
import { Option } from '@commander-js/extra-typings';
import type { HealthError } from '../../receipts/errors.ts';
import { classify } from '../classify.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { gatherFleet, isUnreadable } from '../gather.ts';
import type { FleetEnd, GatheredRun, Sources } from '../gather.ts';
import type { Judgement } from '../judgement.ts';
import { isoTime, needsAttention, NEEDS_ATTENTION, REPORT_SCHEMA_VERSION, reportRow, Tally } from '../report.ts';
import type { ReportRow } from '../report.ts';
import { isOpen } from '../temporal.ts';
import { VERDICTS } from '../verdict.ts';
import type { Verdict } from '../verdict.ts';
import type { Configuration } from './configuration.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import { EXIT, errorOut } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { Progress, write } from './output.ts';
import { usage, wholeNumber } from './program.ts';
import type { Program } from './program.ts';
import { reportText } from './report-text.ts';
import type { ShownRow } from './report-text.ts';

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = 500;
const MOST = 10_000;
/** Rows of a screen without --all. */
const SCREEN_ROWS = 30;

interface ReportOptions {
  readonly query?: string | undefined;
  readonly type?: string | undefined;
  readonly verdict?: readonly Verdict[] | undefined;
  readonly needsAttention?: true | undefined;
  readonly all?: true | undefined;
  readonly exitStatus?: true | undefined;
  readonly limit: number;
}

function verdictList(text: string): Verdict[] {
  return text.split(',').map((word) => {
    const found = VERDICTS.find((verdict) => verdict === word.trim());
    if (found === undefined) throw usage(`--verdict takes ${VERDICTS.join(', ')}; '${word}' is none of them.`);
    return found;
  });
}

export function addReport(program: Program, finish: Finish): void {
  program
    .command('report')
    .description('how the runs of a namespace are, worst first')
    .option('-q, --query <filter>', "Temporal's list filter, passed on as it is")
    .option('--type <workflowType>', 'only runs of this workflow type')
    .addOption(
      new Option('--verdict <list>', `only these verdicts: ${VERDICTS.join(', ')}`)
        .argParser(verdictList)
        .conflicts('needsAttention'),
    )
    .addOption(new Option('--needs-attention', `only ${NEEDS_ATTENTION.join(', ')}`).conflicts('all'))
    .option('--all', 'every run, also those without a verdict')
    .option('--limit <n>', 'how many runs are described at most', wholeNumber('--limit', 1, MOST), DEFAULT_LIMIT)
    .option('--exit-status', 'exit with 12, 11 or 10 when a run is uncertain, a false success or stuck')
    .action(async (options, command) => {
      finish(await runReport(options, contextOf(command.optsWithGlobals())));
    });
}

async function runReport(options: ReportOptions, context: Context): Promise<ExitCode> {
  const configuration = context.configuration();
  // The clients of Temporal and Postgres are loaded by who needs them: `version` and completion answer at once.
  const { openSources } = await import('./sources.ts');
  const { sources, errors, close } = await openSources(configuration);
  try {
    return await new Report(options, context, configuration, sources, errors).run();
  } finally {
    await close();
  }
}

/** Worst first, so that the highest exit code wins. */
const STATUS: readonly (readonly [Verdict, ExitCode])[] = [
  ['uncertain', EXIT.uncertain],
  ['false-success', EXIT.falseSuccess],
  ['stuck', EXIT.stuck],
];

class Report {
  readonly #options: ReportOptions;
  readonly #context: Context;
  readonly #configuration: Configuration;
  readonly #sources: Sources;
  readonly #errors: readonly HealthError[];
  readonly #tally: Tally<ShownRow>;
  readonly #seen = new Set<Verdict>();
  readonly #startedAtMs = Date.now();
  #first = true;

  constructor(
    options: ReportOptions,
    context: Context,
    configuration: Configuration,
    sources: Sources,
    errors: readonly HealthError[],
  ) {
    this.#options = options;
    this.#context = context;
    this.#configuration = configuration;
    this.#sources = sources;
    this.#errors = errors;
    this.#tally = new Tally(context.format !== 'text' ? 0 : options.all ? MOST : SCREEN_ROWS);
  }

  async run(): Promise<ExitCode> {
    const progress = new Progress(this.#context.terminal);
    const { query, type, limit } = this.#options;
    const runs = gatherFleet(
      {
        namespace: this.#configuration.namespace,
        query: query ?? null,
        workflowType: type ?? null,
        describeLimit: limit,
        closedWithinMs: DAY_MS,
        onProgress: ({ listed, rows, described }) => {
          progress.show(`${listed} listed, ${rows} chains read, ${described} described`);
        },
      },
      this.#sources,
      isSuspect,
    );
    try {
      let next = await runs.next();
      for (; !next.done; next = await runs.next()) await this.#meet(next.value);
      progress.clear();
      return await this.#end(next.value);
    } finally {
      progress.clear();
    }
  }

  async #meet({ document, failureTexts }: GatheredRun): Promise<void> {
    const row = reportRow(document, judge(document));
    const shown = this.#isShown(row);
    if (shown && row.verdict !== null) this.#seen.add(row.verdict);
    this.#tally.add({ ...row, failureText: Object.values(failureTexts)[0] ?? null }, shown);
    if (!shown) return;
    if (this.#context.format === 'jsonl') await write(`${JSON.stringify(row)}\n`);
    if (this.#context.format === 'json') await this.#writeJsonRow(row);
  }

  #isShown(row: ReportRow): boolean {
    const { verdict, needsAttention: attention, all } = this.#options;
    if (row.reason === 'continued' || row.reason === 'unknown-run') return false;
    if (verdict !== undefined) return row.verdict !== null && verdict.includes(row.verdict);
    if (attention) return needsAttention(row);
    return row.verdict !== null || all === true || this.#context.format !== 'text';
  }

  async #writeJsonRow(row: ReportRow): Promise<void> {
    if (this.#first) await write(this.#jsonHead());
    await write(`${this.#first ? '' : ','}\n  ${JSON.stringify(row)}`);
    this.#first = false;
  }

  #jsonHead(): string {
    const { namespace } = this.#configuration;
    const head = { schemaVersion: REPORT_SCHEMA_VERSION, namespace, judgedAt: isoTime(this.#startedAtMs) };
    return `${JSON.stringify(head).slice(0, -1)},"runs":[`;
  }

  async #end(end: FleetEnd): Promise<ExitCode> {
    const { format } = this.#context;
    const errors = dedupe([...this.#errors, ...end.errors]);
    if (format === 'json') {
      const { open, closed, notDescribed, leftOut } = end;
      const tail = { counts: this.#tally.counts(), open, closed, notDescribed, leftOut, sources: this.#states() };
      await write(`${this.#first ? this.#jsonHead() : ''}\n],${JSON.stringify(tail).slice(1)}\n`);
    }
    if (format === 'text') await write(this.#text(end));
    for (const error of errors) process.stderr.write(errorOut(error, format));
    if (errors.length > 0) return EXIT.unreachable;
    const worst = STATUS.find(([verdict]) => this.#seen.has(verdict));
    return this.#options.exitStatus && worst ? worst[1] : EXIT.done;
  }

  #states(): { readonly temporal: string; readonly store: string } {
    const { temporal, store } = this.#sources;
    return {
      temporal: isUnreadable(temporal) ? temporal.unread : 'read',
      store: store === null ? 'none' : isUnreadable(store) ? store.unread : 'read',
    };
  }

  #text(end: FleetEnd): string {
    return reportText(
      {
        namespace: this.#configuration.namespace,
        rows: this.#tally.worst(),
        notShown: this.#tally.notShown(),
        counts: this.#tally.counts(),
        end,
        states: this.#states(),
        startedAtMs: this.#startedAtMs,
        nowMs: Date.now(),
        discovered: this.#configuration.discovered,
        limit: this.#options.limit,
        filtered: this.#options.query !== undefined || this.#options.type !== undefined,
      },
      this.#context,
    );
  }
}

/** Judged once, although a suspect is first looked for and then reported. */
const judgements = new WeakMap<EvidenceDocument, Judgement>();

function judge(document: EvidenceDocument): Judgement {
  const known = judgements.get(document) ?? classify(document, document.policy, document.nowMs);
  judgements.set(document, known);
  return known;
}

/** What the list and the store cannot settle: anything that needs somebody, and open runs without a receipt. */
function isSuspect(document: EvidenceDocument): boolean {
  const { verdict } = judge(document);
  if (verdict !== null && NEEDS_ATTENTION.includes(verdict)) return true;
  const { listed } = document.temporal;
  return document.chain === null && listed !== null && isOpen(listed.status);
}

function dedupe(errors: readonly HealthError[]): readonly HealthError[] {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  return [...byCode.values()];
}
