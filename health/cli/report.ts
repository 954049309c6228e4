/** `report`: how the runs of a namespace are, worst first on a screen, in store order as a stream of JSON. */
import { Option } from '@commander-js/extra-typings';
import { NEEDS_ATTENTION } from '../report.ts';
import { ALL_REASONS, VERDICTS } from '../verdict.ts';
import type { Reason, Verdict } from '../verdict.ts';
import { completes } from './candidates.ts';
import { columnsOption, listOption, wordList } from './columns.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import type { ExitCode } from './errors.ts';
import { examples } from './examples.ts';
import type { FleetFilter } from './fleet-pass.ts';
import { lengthOfTime, usage, wholeNumber } from './program.ts';
import type { Program } from './program.ts';
import { REPORT_COLUMNS } from './report-columns.ts';
import type { ReportColumn } from './report-columns.ts';
import { Report } from './report-once.ts';
import { watchReport } from './report-watch.ts';

const DEFAULT_LIMIT = 500;
const MOST = 10_000;
/** Rows of a screen without --all. */
const SCREEN_ROWS = 30;

interface ReportOptions {
  readonly query?: string | undefined;
  readonly type?: string | undefined;
  readonly owner?: string | undefined;
  readonly verdict?: readonly Verdict[] | undefined;
  readonly reason?: readonly Reason[] | undefined;
  readonly needsAttention?: true | undefined;
  readonly all?: true | undefined;
  readonly columns?: readonly ReportColumn[] | undefined;
  readonly exitStatus?: true | undefined;
  readonly watch?: true | undefined;
  readonly interval: number;
  readonly limit: number;
}

export function addReport(program: Program, finish: Finish): void {
  program
    .command('report')
    .description('how the runs of a namespace are, worst first')
    .addHelpText(
      'before',
      examples('report --needs-attention', `report --query 'WorkflowType = "crawl"' --columns verdict,workflow,since`),
    )
    .option('-q, --query <filter>', "Temporal's list filter, passed on as it is; our own filters narrow it further")
    .option('--type <workflowType>', 'only runs of this workflow type')
    .option('--owner <who>', 'only runs with an open wait of this owner')
    .addOption(listOption('--verdict <list>', 'only these verdicts', VERDICTS).conflicts('needsAttention'))
    .addOption(
      completes(
        new Option('--reason <list>', 'only these reasons, as `explain` names them').argParser(
          wordList('--reason', ALL_REASONS),
        ),
        { words: ALL_REASONS, list: true },
      ),
    )
    .addOption(new Option('--needs-attention', `only ${NEEDS_ATTENTION.join(', ')}`).conflicts('all'))
    .option('--all', 'every run, also those without a verdict')
    .addOption(columnsOption(REPORT_COLUMNS))
    .option('--limit <n>', 'how many runs are described at most', wholeNumber('--limit', 1, MOST), DEFAULT_LIMIT)
    .option('--watch', 'again and again, until Ctrl-C')
    .option('-i, --interval <length>', 'with --watch: how long between two reports', lengthOfTime, 10_000)
    .addOption(
      new Option('--exit-status', 'exit with 12, 11 or 10 when a run is uncertain, a false success or stuck').conflicts(
        'watch',
      ),
    )
    .action(async (options, command) => {
      finish(await runReport(options, contextOf(command.optsWithGlobals(), 'text', true)));
    });
}

async function runReport(options: ReportOptions, context: Context): Promise<ExitCode> {
  if (options.columns !== undefined && context.format !== 'text') {
    throw usage('--columns is for text; JSON always holds everything.');
  }
  if (options.watch && context.format !== 'text' && context.format !== 'jsonl') {
    throw usage('--watch has no end to close a document with; it is for text and -o jsonl.');
  }
  const configuration = context.configuration();
  // The clients of Temporal and Postgres are loaded by who needs them: `version` and completion answer at once.
  const { openSources } = await import('./sources.ts');
  const { sources, errors, close } = await openSources(configuration);
  try {
    const wish = {
      filter: filterOf(options, configuration.namespace, context),
      rows: context.format !== 'text' ? 0 : options.all ? MOST : SCREEN_ROWS,
      exitStatus: options.exitStatus === true,
      columns: options.columns ?? null,
    };
    if (options.watch) return await watchReport(wish, options.interval, context, configuration, sources, errors);
    return await new Report(wish, context, configuration, sources, errors).run();
  } finally {
    await close();
  }
}

function filterOf(options: ReportOptions, namespace: string, { format }: Context): FleetFilter {
  const { query, type, owner, verdict, reason, limit } = options;
  const unjudged = options.all === true || format !== 'text';
  return {
    namespace,
    ...{ query, type, owner, verdict, reason, limit, unjudged },
    needsAttention: options.needsAttention === true,
  };
}
