/** `explain`: one run, always described, with everything that speaks for and against its verdict. */
import { Option } from '@commander-js/extra-typings';
import type { HealthError } from '../../receipts/errors.ts';
import type { RunReference } from '../../receipts/store.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { explain, EXPLAIN_SCHEMA_VERSION, factKind, phraseText } from '../explain.ts';
import { gatherRunAt } from '../gather.ts';
import type { Sources } from '../gather.ts';
import { isoTime, reportRow } from '../report.ts';
import { isOpen } from '../temporal.ts';
import { statusOf } from './classify.ts';
import type { Configuration } from './configuration.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import { EXIT, errorOut } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { outageIn } from './follow.ts';
import { explainText } from './explain-text.ts';
import type { ExplainScreen } from './explain-text.ts';
import { runIdOption, workflowIdOption } from './ids.ts';
import { judgeDocument, judgeRun, keepJudged } from './judge-run.ts';
import type { JudgedRun } from './judge-run.ts';
import { NAGIOS, nagiosLine, runText, stateOf, unknownLine } from './nagios.ts';
import { nearing } from './nearing.ts';
import { write } from './output.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';
import { parseTime } from './times.ts';

interface ExplainOptions {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  readonly at?: number | undefined;
  readonly export?: true | undefined;
  readonly exitStatus?: true | undefined;
}

export function addExplain(program: Program, finish: Finish): void {
  program
    .command('explain')
    .description('why one run is what it is, and what to do')
    .addHelpText('before', examples('explain -w crawl-7', 'explain -w crawl-7 -o json --exit-status'))
    .addOption(workflowIdOption())
    .addOption(runIdOption())
    .addOption(
      new Option('--at <time>', 'as it was known at this moment, from the store').argParser((text) =>
        parseTime(text, '--at'),
      ),
    )
    .option('--export', 'write the evidence document, for `classify`')
    .option('--exit-status', 'exit with 12, 11 or 10 when it is uncertain, a false success or stuck')
    .action(async (options, command) => {
      finish(await runExplain(options, contextOf(command.optsWithGlobals(), 'text', true)));
    });
}

async function runExplain(options: ExplainOptions, context: Context): Promise<ExitCode> {
  const configuration = context.configuration();
  const { openSources } = await import('./sources.ts');
  const { sources, errors: whenOpened, close } = await openSources(configuration);
  try {
    const { workflowId, runId } = options;
    const { namespace } = configuration;
    const reference = { namespace, workflowId, ...(runId === undefined ? {} : { runId }) };
    const found =
      options.at === undefined ? await judgeRun(reference, sources) : await then(reference, options.at, sources);
    const { judgement } = found;
    const since = whenOpened.length > 0 ? null : outageIn(found.gathered.document);
    const errors = since === null ? whenOpened : [since];
    if (options.export) {
      if (context.format !== 'none') await write(`${JSON.stringify(found.gathered.document, null, 2)}\n`);
    } else if (context.format === 'nagios') return await asNagios(found, errors);
    else await print(found, configuration, context);
    await keepJudged(found, sources);
    for (const error of errors) process.stderr.write(errorOut(error, context.format));
    if (errors.length > 0) return EXIT.unreachable;
    return options.exitStatus ? statusOf([judgement.verdict]) : EXIT.done;
  } finally {
    await close();
  }
}

async function asNagios({ gathered, judgement }: JudgedRun, errors: readonly HealthError[]): Promise<ExitCode> {
  const { document } = gathered;
  const row = reportRow(document, judgement);
  const unread = errors[0];
  const checked = { row, nearing: nearing(document) };
  const state = unread === undefined ? stateOf(checked) : 'UNKNOWN';
  const seconds = row.since === null ? {} : { since: Math.round((document.nowMs - Date.parse(row.since)) / 1_000) };
  await write(
    unread === undefined ? nagiosLine(state, `${runText(checked)}: ${row.message}`, seconds) : unknownLine(unread),
  );
  return NAGIOS[state];
}

async function then(reference: RunReference, atMs: number, sources: Sources): Promise<JudgedRun> {
  const { document, judgedThen } = await gatherRunAt(reference, atMs, sources);
  const said = judgedThen && `${judgedThen.verdict ?? 'no verdict'} (${judgedThen.reason})`;
  const notes = judgedThen === null ? [] : [`Said by then, at ${isoTime(judgedThen.atMs) ?? ''}: ${String(said)}.`];
  return { gathered: { document, failureTexts: {} }, judgement: judgeDocument(document), notes, seen: null };
}

export function explainScreen(
  { gathered: { document, failureTexts }, judgement, notes }: JudgedRun,
  configuration: Configuration,
): ExplainScreen {
  return {
    document,
    explanation: explain(document, judgement),
    failureTexts,
    links: linksOf(document, configuration),
    notes,
  };
}

async function print(found: JudgedRun, configuration: Configuration, context: Context): Promise<void> {
  const screen = explainScreen(found, configuration);
  if (context.format === 'text') await write(explainText(screen, context));
  else if (context.format !== 'none') {
    const indent = context.format === 'json' ? 2 : 0;
    await write(`${JSON.stringify(explainDocument(screen), null, indent)}\n`);
  }
}

function explainDocument({ document, explanation, links, notes }: ExplainScreen): object {
  const { judgement, components, safeAction, forbidden, wouldChange, decisive } = explanation;
  return {
    schemaVersion: EXPLAIN_SCHEMA_VERSION,
    run: document.run,
    judgedAt: isoTime(judgement.judgedAtMs),
    judgement,
    times: decisive
      .filter(({ fact }) => factKind(fact) === 'time')
      .map(({ fact }) => ({ ref: fact.ref, field: fact.field, at: isoTime(Number(fact.value)) })),
    components: components.map(({ component, vote, says }) => ({ component, vote, says: phraseText(says) })),
    advice: { safeAction, forbidden, wouldChange: wouldChange.map(phraseText) },
    links,
    notes,
  };
}

function linksOf({ run, temporal }: EvidenceDocument, { uiAddress }: Configuration): readonly string[] {
  if (uiAddress === null || run.runId === '') return [];
  const base = uiAddress.replace(/\/+$/, '');
  const path = [run.namespace, 'workflows', run.workflowId, run.runId].map(encodeURIComponent).join('/');
  const open = temporal.source === 'describe' && isOpen(temporal.describe.status);
  return [`${base}/namespaces/${path}/${open ? 'pending-activities' : 'history'}`];
}
