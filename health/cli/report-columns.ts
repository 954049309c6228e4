/** The columns that `report --columns` can show, each as its text. Nothing in them is shortened. */
import { terminalText } from '../../receipts/text.ts';
import type { ReportRow } from '../report.ts';
import type { Context } from './context.ts';
import { glyphOf, inColor } from './output.ts';
import { sinceText, timeText } from './times.ts';

/** A row of the report with what only a screen shows. */
export interface ShownRow extends ReportRow {
  /** What the failing user code said. */
  readonly failureText: string | null;
}

export const REPORT_COLUMNS = [
  'verdict',
  'workflow',
  'run',
  'type',
  'reason',
  'because',
  'next',
  'since',
  'owner',
  'deadline',
  'attempt',
  'history',
  'findings',
  'disposition',
  'temporal',
] as const;
export type ReportColumn = (typeof REPORT_COLUMNS)[number];

export function columnText(column: ReportColumn, row: ShownRow, nowMs: number, context: Context): string {
  return column === 'verdict' ? verdictText(row, context) : terminalText(plainText(column, row, nowMs, context));
}

function verdictText({ verdict }: ShownRow, { terminal }: Context): string {
  return inColor(verdict, `${glyphOf(verdict, terminal)} ${verdict ?? 'none'}`, terminal);
}

function plainText(
  column: Exclude<ReportColumn, 'verdict'>,
  row: ShownRow,
  nowMs: number,
  { timeFormat }: Context,
): string {
  switch (column) {
    case 'workflow':
      return row.workflowId;
    case 'run':
      return row.runId;
    case 'type':
      return row.workflowType;
    case 'reason':
      return row.reason;
    case 'because':
      return row.message;
    case 'next':
      return row.next;
    case 'since':
      return row.since === null ? '' : sinceText(Date.parse(row.since), nowMs, timeFormat);
    case 'owner':
      return row.wait?.owner ?? '';
    case 'deadline':
      return row.wait?.deadline ? timeText(Date.parse(row.wait.deadline), nowMs, timeFormat) : '';
    case 'attempt':
      return attemptText(row);
    case 'history':
      return row.history === null ? '' : `${row.history.events} events`;
    case 'findings':
      return row.findings.join(',');
    case 'disposition':
      return row.disposition;
    case 'temporal':
      return row.temporal;
  }
}

function attemptText({ retry }: ShownRow): string {
  if (retry === null) return '';
  return `${retry.attempt}${retry.maximumAttempts === 0 ? '' : ` of ${retry.maximumAttempts}`}`;
}
