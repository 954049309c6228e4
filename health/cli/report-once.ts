/** A report that is made once: a screen, a document, or a stream that ends. */
import type { HealthError } from '../../receipts/errors.ts';
import { isUnreadable } from '../gather.ts';
import type { FleetEnd, Sources } from '../gather.ts';
import { isoTime, REPORT_SCHEMA_VERSION, Tally } from '../report.ts';
import type { ReportRow } from '../report.ts';
import type { Verdict } from '../verdict.ts';
import { statusOf } from './classify.ts';
import type { Configuration } from './configuration.ts';
import type { Context } from './context.ts';
import { EXIT, errorOut } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { judgeFleet } from './fleet-pass.ts';
import type { FleetFilter, MetRun } from './fleet-pass.ts';
import { NagiosReport } from './nagios.ts';
import { nearing } from './nearing.ts';
import { Progress, write } from './output.ts';
import type { ReportColumn, ShownRow } from './report-columns.ts';
import { reportText } from './report-text.ts';

export interface ReportWish {
  readonly filter: FleetFilter;
  /** How many rows a screen shows at most. */
  readonly rows: number;
  readonly exitStatus: boolean;
  /** Null: the screen's own. */
  readonly columns: readonly ReportColumn[] | null;
}

/** One pass over the runs, counted. */
export interface Pass {
  readonly end: FleetEnd;
  /** One for each source that could not be read, of the opening and of the pass. */
  readonly errors: readonly HealthError[];
  readonly text: () => string;
}

export class Report {
  readonly #wish: ReportWish;
  readonly #context: Context;
  readonly #configuration: Configuration;
  readonly #sources: Sources;
  readonly #errors: readonly HealthError[];
  readonly #tally: Tally<ShownRow>;
  readonly #onShown: (row: ShownRow) => void;
  readonly #nagios = new NagiosReport();
  readonly #seen = new Set<Verdict>();
  readonly #startedAtMs = Date.now();
  #first = true;

  constructor(
    wish: ReportWish,
    context: Context,
    configuration: Configuration,
    sources: Sources,
    errors: readonly HealthError[],
    onShown: (row: ShownRow) => void = () => undefined,
  ) {
    this.#wish = wish;
    this.#onShown = onShown;
    this.#context = context;
    this.#configuration = configuration;
    this.#sources = sources;
    this.#errors = errors;
    this.#tally = new Tally(wish.rows);
  }

  async run(): Promise<ExitCode> {
    return await this.#end(await this.pass((run) => this.#print(run)));
  }

  /** Counts and remembers; nothing is printed but by `print`. */
  async pass(print: (run: MetRun) => Promise<void> | void = () => undefined): Promise<Pass> {
    const progress = new Progress(this.#context.terminal);
    try {
      const end = await judgeFleet(
        this.#wish.filter,
        this.#sources,
        async (run) => {
          this.#meet(run);
          if (run.shown) await print(run);
        },
        ({ listed, rows, described }) => {
          progress.show(`${listed} listed, ${rows} chains read, ${described} described`);
        },
      );
      const errors = dedupe([...this.#errors, ...end.errors]);
      return { end, errors, text: () => this.#text(end) };
    } finally {
      progress.clear();
    }
  }

  #meet({ row, shown }: MetRun): void {
    this.#tally.add(row, shown);
    if (!shown) return;
    if (row.verdict !== null) this.#seen.add(row.verdict);
    this.#onShown(row);
  }

  async #print({ row, document }: MetRun): Promise<void> {
    const { format } = this.#context;
    if (format === 'nagios') this.#nagios.add({ row, nearing: nearing(document) });
    if (format === 'jsonl') await write(`${JSON.stringify(forMachines(row))}\n`);
    if (format === 'json') await this.#writeJsonRow(forMachines(row));
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

  async #end({ end, errors, text }: Pass): Promise<ExitCode> {
    const { format } = this.#context;
    if (format === 'nagios') {
      const { line, exit } = this.#nagios.end(errors);
      await write(line);
      return exit;
    }
    if (format === 'json') {
      const { open, closed, notDescribed, leftOut } = end;
      const tail = {
        counts: this.#tally.counts(),
        open,
        closed,
        notDescribed,
        leftOut,
        sources: sourceStates(this.#sources),
      };
      await write(`${this.#first ? this.#jsonHead() : ''}\n],${JSON.stringify(tail).slice(1)}\n`);
    }
    if (format === 'text') await write(text());
    for (const error of errors) process.stderr.write(errorOut(error, format));
    if (errors.length > 0) return EXIT.unreachable;
    return this.#wish.exitStatus ? statusOf([...this.#seen]) : EXIT.done;
  }

  #text(end: FleetEnd): string {
    const { filter, columns } = this.#wish;
    const { query, type } = filter;
    return reportText(
      {
        namespace: this.#configuration.namespace,
        rows: this.#tally.worst(),
        notShown: this.#tally.notShown(),
        counts: this.#tally.counts(),
        end,
        states: sourceStates(this.#sources),
        startedAtMs: this.#startedAtMs,
        nowMs: Date.now(),
        discovered: this.#configuration.discovered,
        limit: filter.limit,
        filtered: query !== undefined || type !== undefined,
        columns,
      },
      this.#context,
    );
  }
}

/** A row without what user code said, which is for a screen only. */
export function forMachines({ failureText: _, ...row }: ShownRow): ReportRow {
  return row;
}

export interface SourceStates {
  readonly temporal: string;
  readonly store: string;
}

export function sourceStates({ temporal, store }: Sources): SourceStates {
  return {
    temporal: isUnreadable(temporal) ? temporal.unread : 'read',
    store: store === null ? 'none' : isUnreadable(store) ? store.unread : 'read',
  };
}

function dedupe(errors: readonly HealthError[]): readonly HealthError[] {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  return [...byCode.values()];
}
