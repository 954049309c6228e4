/** `watch`: follows one run until it closes: a screen that replaces itself, or one line for each change off a terminal. */
import { changeLine, ChangeLines } from './change-line.ts';
import { statusOf } from './classify.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import { EXIT } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { examples } from './examples.ts';
import { explainScreen } from './explain.ts';
import { compactText, explainText } from './explain-text.ts';
import { changeKey, Followed, isOutage, outageLine, pauseBetween } from './follow.ts';
import type { JudgedLook } from './follow.ts';
import { runIdOption, workflowIdOption } from './ids.ts';
import { dim, write } from './output.ts';
import { lengthOfTime, usage } from './program.ts';
import type { Program } from './program.ts';
import { Screen } from './screen.ts';
import { lengthText } from './times.ts';

/** Off a terminal a run says something at most so often. */
export const LEAST_BETWEEN_LINES_MS = 5_000;

interface WatchOptions {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  readonly compact?: true | undefined;
  readonly interval: number;
  readonly exitStatus?: true | undefined;
}

export function addWatch(program: Program, finish: Finish): void {
  program
    .command('watch')
    .description('follow one run until it closes')
    .addHelpText('before', examples('watch -w crawl-7', 'watch -w crawl-7 -o jsonl --exit-status'))
    .addOption(workflowIdOption())
    .addOption(runIdOption())
    .option('--compact', 'only the verdict, why, and what to do')
    .option('-i, --interval <length>', 'how often to look', lengthOfTime, 3_000)
    .option('--exit-status', 'exit with 12, 11 or 10 when it closes uncertain, as a false success or stuck')
    .action(async (options, command) => {
      finish(await watch(options, contextOf(command.optsWithGlobals())));
    });
}

async function watch(options: WatchOptions, context: Context): Promise<ExitCode> {
  if (context.format === 'json') throw usage('`watch` has no end to close a document with; use -o jsonl.');
  const configuration = context.configuration();
  const { openSources } = await import('./sources.ts');
  const { sources, errors, close } = await openSources(configuration);
  try {
    if (errors[0] !== undefined) throw errors[0];
    const run = new Followed(options.workflowId, options.runId, configuration.namespace, sources);
    const shown = shower(options, context, (look) => explainScreen(look.run, configuration));
    for (let outage = ''; ;) {
      const look = await run.look();
      if (!isOutage(look)) {
        outage = '';
        await shown(look);
        if (look.final) return options.exitStatus ? statusOf([look.row.verdict]) : EXIT.done;
      } else if (outage !== look.outage.code) {
        outage = look.outage.code;
        if (context.format !== 'none') process.stderr.write(outageLine(look));
      }
      await pauseBetween([look], options.interval);
    }
  } finally {
    await close();
  }
}

/** How a look is shown: the form of the output and the terminal decide. */
function shower(
  options: WatchOptions,
  context: Context,
  screenOf: (look: JudgedLook) => ReturnType<typeof explainScreen>,
): (look: JudgedLook) => Promise<void> {
  const { format, terminal } = context;
  if (format === 'text' && terminal.rows !== null) {
    const screen = new Screen(terminal);
    return async (look) => {
      const text = (options.compact ? compactText : explainText)(screenOf(look), context);
      const foot = look.final ? '' : dim(`Looks every ${lengthText(options.interval)}; Ctrl-C ends.`, terminal);
      await screen.show(`${text}${foot}`);
    };
  }
  const lines = new ChangeLines(format === 'text' ? LEAST_BETWEEN_LINES_MS : 0, async (rows) => {
    if (format === 'none') return;
    for (const row of rows) await write(`${format === 'text' ? changeLine(row, context) : JSON.stringify(row)}\n`);
  });
  let before = '';
  return async ({ row, final }) => {
    if (changeKey(row) !== before) lines.add(row);
    before = changeKey(row);
    await lines.flush(final);
  };
}
