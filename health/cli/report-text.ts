/** The report as a screen: a header, the worst first, and a closing line that counts what is not shown. */
import { shorten, terminalText } from '../../receipts/text.ts';
import type { FleetEnd } from '../gather.ts';
import { NEEDS_ATTENTION, isoTime } from '../report.ts';
import type { Counts } from '../report.ts';
import type { Context } from './context.ts';
import { bold, dim, dot, glyphOf, inColor } from './output.ts';
import type { Terminal } from './output.ts';
import { columnText } from './report-columns.ts';
import type { ReportColumn, ShownRow } from './report-columns.ts';
import { lines, naturalWidths, table, wrap, wrappedTable, wrapWidest } from './table.ts';
import { lengthText, sinceText, timeText } from './times.ts';
import type { TimeFormat } from './times.ts';

export interface ReportScreen {
  readonly namespace: string;
  readonly rows: readonly ShownRow[];
  readonly notShown: number;
  readonly counts: Counts;
  readonly end: FleetEnd;
  readonly states: { readonly temporal: string; readonly store: string };
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly discovered: boolean;
  readonly limit: number;
  /** True where --query or --type left runs out. */
  readonly filtered: boolean;
  /** Those that were asked for; the screen's own where none were. */
  readonly columns?: readonly ReportColumn[] | null;
}

const HEADINGS = ['', 'VERDICT', 'WORKFLOW', 'TYPE', 'BECAUSE', 'NEXT', 'SINCE'];
const TYPE = 3;
const BECAUSE = 4;
const NEXT = 5;
/** With less for the reason than this, a table would be a column of single words: each run gets lines of its own. */
const LEAST_REASON = 30;
/** What to do next gets about a third of what the two have together, and never less than an operation's name takes. */
const LEAST_NEXT = 22;

export function reportText(screen: ReportScreen, context: Context): string {
  const { terminal } = context;
  return lines([
    ...(context.header ? [header(screen, terminal)] : []),
    ...(screen.columns ? chosenText(screen, screen.columns, context) : rowsText(screen, context)),
    closing(screen, context),
    ...notes(screen, terminal),
  ]);
}

function header({ namespace, end, states, startedAtMs, nowMs, discovered }: ReportScreen, terminal: Terminal): string {
  const age = lengthText(nowMs - startedAtMs);
  const state = (name: string, what: string): string =>
    what === 'none' ? `no ${name}` : what === 'read' ? `${name} ${age} old` : `${name} unknown (${what})`;
  const runs = end.open === null ? [] : [`${end.open} open, ${end.closed ?? 0} closed in 24h`];
  return [
    bold(terminalText(namespace), terminal),
    ...(discovered ? ['local environment'] : []),
    ...runs,
    `judged ${(isoTime(nowMs) ?? '').slice(11, 19)}Z`,
    `${state('store', states.store)}, ${state('Temporal', states.temporal)}`,
  ].join(dot(terminal));
}

function rowsText({ rows, nowMs }: ReportScreen, context: Context): readonly string[] {
  if (rows.length === 0) return [];
  const { terminal, timeFormat } = context;
  const cells = rows.map((row) => [
    inColor(row.verdict, glyphOf(row.verdict, terminal), terminal),
    inColor(row.verdict, row.verdict ?? row.reason, terminal),
    terminalText(row.workflowId),
    terminalText(row.workflowType),
    terminalText(inRun(because(row, nowMs, timeFormat), row, context)),
    terminalText(inRun(next(row, nowMs, timeFormat), row, context)),
    row.since === null ? '' : sinceText(Date.parse(row.since), nowMs, timeFormat),
  ]);
  const headings = context.header ? [HEADINGS.map((heading) => dim(heading, terminal))] : [];
  return fitted([...headings, ...cells], headings.length, terminal);
}

/** The columns that were asked for. What the terminal has no room for goes on in further lines of the widest one. */
function chosenText({ rows, nowMs }: ReportScreen, columns: readonly ReportColumn[], context: Context) {
  if (rows.length === 0) return [];
  const { header: withHeader, terminal } = context;
  const headings = withHeader ? [columns.map((column) => dim(column.toUpperCase(), terminal))] : [];
  const cells = rows.map((row) => columns.map((column) => columnText(column, row, nowMs, context)));
  return wrapWidest([...headings, ...cells], terminal.columns, LEAST_NEXT);
}

/** Nothing is cut: what does not fit the terminal's width goes on in the next line. */
function fitted(rows: readonly (readonly string[])[], headings: number, { columns }: Terminal): readonly string[] {
  const widths = naturalWidths(rows);
  const all = widths.reduce((total, width) => total + width + 1, -1);
  if (columns === null || all <= columns) return table(rows);
  // The type stands in `explain`; the reason and the next step are what a report is read for.
  const room = columns - (all - sum(widths, TYPE, BECAUSE, NEXT) - 1);
  const forNext = Math.min(widths[NEXT] ?? 0, Math.max(LEAST_NEXT, Math.floor(room / 3)));
  const forReason = room - forNext;
  const narrow = rows.map((row) => row.filter((_, at) => at !== TYPE));
  if (forReason >= LEAST_REASON) return wrappedTable(narrow, [null, null, null, forReason, forNext, null]);
  return narrow.slice(headings).flatMap((row) => stacked(row, columns));
}

function sum(widths: readonly number[], ...columns: readonly number[]): number {
  return columns.reduce((total, at) => total + (widths[at] ?? 0), 0);
}

/** One run on a narrow terminal: what it is in the first line, why and what to do indented below. */
function stacked([glyph, verdict, workflow, why, step, since]: readonly string[], columns: number): readonly string[] {
  const below = [why, step === undefined || step === '' ? '' : `Next: ${step}`].filter((text) => text !== undefined);
  return [
    [glyph, verdict, workflow, since].join(' ').trimEnd(),
    ...below.filter((text) => text !== '').flatMap((text) => wrap(text, columns - 4).map((line) => `    ${line}`)),
  ];
}

/** An operation's id begins with its namespace and workflow, which the row names already. */
function inRun(text: string, { workflowId }: ShownRow, { terminal }: Context): string {
  return text.replaceAll(new RegExp(`[^\\s/]+/${escaped(workflowId)}/`, 'g'), terminal.unicode ? '…/' : '.../');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function because(
  { message, retry, failureText, temporal, verdict }: ShownRow,
  nowMs: number,
  format: TimeFormat,
): string {
  const parts = [message];
  if (retry !== null && failureText !== null) parts.push(`Last failure: ${shorten(failureText, 120)}.`);
  if (retry?.nextAttemptAt) parts.push(`Next try ${timeText(Date.parse(retry.nextAttemptAt), nowMs, format)}.`);
  if (temporal === 'not-asked' && verdict !== null && NEEDS_ATTENTION.includes(verdict)) {
    parts.push('(Temporal not asked)');
  }
  return parts.join(' ');
}

function next({ next: step, verdict, wait }: ShownRow, nowMs: number, format: TimeFormat): string {
  if (verdict !== 'waiting' || !wait?.deadline) return step;
  return `${step}, deadline ${timeText(Date.parse(wait.deadline), nowMs, format)}`;
}

function closing({ counts, notShown, nowMs }: ReportScreen, { terminal, timeFormat }: Context): string {
  const { byVerdict, nextWait } = counts;
  const attention = NEEDS_ATTENTION.reduce((sum, verdict) => sum + byVerdict[verdict], 0);
  const on =
    nextWait?.deadline && nextWait.owner
      ? ` on ${terminalText(nextWait.owner)}, deadline ${timeText(Date.parse(nextWait.deadline), nowMs, timeFormat)}`
      : '';
  const parts = [
    attention === 1 ? '1 needs you' : `${attention} need you`,
    ...(byVerdict.waiting > 0 ? [`${byVerdict.waiting} waiting${on}`] : []),
    `${byVerdict.working} working, ${byVerdict.healthy} healthy`,
    ...(counts.judgedOnly > 0 ? [`${counts.judgedOnly} judged without a check`] : []),
    ...(counts.notInstrumented > 0
      ? [`${counts.notInstrumented} not instrumented${counts.retrying > 0 ? ` (${counts.retrying} retrying)` : ''}`]
      : []),
    ...(notShown > 0 ? [`${notShown} not shown (--all)`] : []),
  ];
  return parts.join(dot(terminal));
}

function notes({ end, states, limit, counts, filtered }: ReportScreen, terminal: Terminal): readonly string[] {
  const all: string[] = [];
  if (end.leftOut > 0) {
    all.push(
      `${end.leftOut} more runs were not looked at. Narrow with --query or --type, or raise --limit (${limit}).`,
    );
  }
  if (end.notDescribed > 0) {
    all.push(`${end.notDescribed} were judged without asking Temporal about each: --limit is ${limit}.`);
  }
  if (states.store === 'none') {
    all.push(
      'No receipts: this is what Temporal alone can tell. Receipts add progress, waits, effects and deliverables;',
      'set TEMPORAL_HEALTH_DATABASE_URL and give HealthPlugin to a worker.',
    );
  } else if (counts.judged === 0 && end.errors.length === 0) {
    all.push(
      filtered
        ? 'No open run, and none closed in the last 24 hours, matches --query and --type.'
        : 'No open run, and none closed in the last 24 hours.',
    );
  }
  return all.map((note) => dim(note, terminal));
}
