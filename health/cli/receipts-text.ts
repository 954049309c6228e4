/** Receipts as a table: when, what was said, and by whom. */
import { terminalText } from '../../receipts/text.ts';
import type { StoredReceipt } from '../../receipts/envelope.ts';
import type { Delta } from '../../receipts/receipt.ts';
import type { Context } from './context.ts';
import { dim } from './output.ts';
import type { ListedReceipt, ReceiptColumn } from './receipts-shown.ts';
import { lines, wrapWidest } from './table.ts';
import { timeText } from './times.ts';

const SHOWN: readonly ReceiptColumn[] = ['recorded', 'kind', 'what', 'mark', 'emitter', 'attempt'];
const LEAST_WHAT = 24;

export function receiptsText(
  listed: readonly ListedReceipt[],
  columns: readonly ReceiptColumn[] | null,
  context: Context,
): string {
  if (listed.length === 0) return lines([dim('No receipt matches.', context.terminal)]);
  const chosen = columns ?? SHOWN;
  const nowMs = Date.now();
  const headings = context.header ? [chosen.map((column) => dim(column.toUpperCase(), context.terminal))] : [];
  const cells = listed.map((one) => chosen.map((column) => terminalText(columnText(column, one, nowMs, context))));
  return lines(wrapWidest([...headings, ...cells], context.terminal.columns, LEAST_WHAT));
}

function columnText(
  column: ReceiptColumn,
  { receipt, mark }: ListedReceipt,
  nowMs: number,
  { timeFormat }: Context,
): string {
  switch (column) {
    case 'recorded':
      return timeText(receipt.recordedAtMs, nowMs, timeFormat);
    case 'occurred':
      return 'code' in receipt ? '' : timeText(receipt.occurredAtMs, nowMs, timeFormat);
    case 'kind':
      return receipt.kind;
    case 'what':
      return 'code' in receipt ? receipt.code : what(receipt);
    case 'mark':
      return mark ?? '';
    case 'emitter':
      return receipt.activityType === undefined ? receipt.emitter : `${receipt.activityType} ${receipt.emitter}`;
    case 'attempt':
      return String(receipt.attempt);
    case 'sequence':
      return String(receipt.sequence);
    case 'run':
      return receipt.runId;
    case 'id':
      return receipt.receiptId;
  }
}

function what(receipt: StoredReceipt): string {
  switch (receipt.kind) {
    case 'progress': {
      const { milestone, delta, step } = receipt.body;
      return [milestone, delta === undefined ? '' : deltaText(delta), step === undefined ? '' : `next ${step}`]
        .filter((part) => part !== '')
        .join(' ');
    }
    case 'wait': {
      const { name, state, owner } = receipt.body;
      return `${name} ${state}, ${owner ?? 'no owner'}`;
    }
    case 'effect': {
      const { name, operationId, state, verdict } = receipt.body;
      return `${name} ${state}${verdict === undefined ? '' : ` by ${verdict.by}`}, ${operationId}`;
    }
    case 'deliverable': {
      const { name, result, destination, cause } = receipt.body;
      return `${name} ${result}${cause === undefined ? '' : ` (${cause})`} at ${destination}`;
    }
  }
}

function deltaText({ done, of, unit }: Delta): string {
  if (done === undefined) return '';
  return `${done}${of === undefined ? '' : `/${of}`}${unit === undefined ? '' : ` ${unit}`}`;
}
