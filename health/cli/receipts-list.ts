/** Reads the receipts of a chain from the store and prints them: no source but the store is needed. */
import { compareFence, compareOrder } from '../../receipts/envelope.ts';
import type { OrderParts } from '../../receipts/envelope.ts';
import { HealthError } from '../../receipts/errors.ts';
import { emitterKeyOf } from '../../receipts/fold.ts';
import type { ReceiptKind } from '../../receipts/receipt.ts';
import type { ChainRow } from '../../receipts/state.ts';
import type { ReceiptStore } from '../../receipts/store.ts';
import { isUnreadable } from '../gather.ts';
import { isoTime } from '../report.ts';
import type { Context } from './context.ts';
import { EXIT } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { requireDatabase } from './migrate.ts';
import { dim, write } from './output.ts';
import { MOST_RECEIPTS } from './receipts-shown.ts';
import type { ListedReceipt, ReceiptColumn } from './receipts-shown.ts';
import { receiptsText } from './receipts-text.ts';
import { openSources } from './sources.ts';

interface ListWish {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  readonly kind?: readonly ReceiptKind[] | undefined;
  readonly limit: number;
  readonly columns?: readonly ReceiptColumn[] | undefined;
}

export async function listReceipts(wish: ListWish, context: Context): Promise<ExitCode> {
  const configuration = context.configuration();
  requireDatabase(configuration);
  const { sources, errors, close } = await openSources(configuration);
  try {
    const { store } = sources;
    if (store === null || isUnreadable(store)) {
      throw (
        errors.find(({ code }) => code === 'DB_UNREACHABLE') ??
        new HealthError('DB_UNREACHABLE', 'The store does not answer.')
      );
    }
    const { workflowId, runId } = wish;
    const reference = { namespace: configuration.namespace, workflowId, ...(runId === undefined ? {} : { runId }) };
    const chain = await store.readChain(reference);
    if (chain === null) {
      throw new HealthError('NOT_FOUND', 'The store has no receipt of this run.', {
        field: '--workflow-id',
        hint: 'Its worker may have no HealthPlugin, or write to another store or namespace (-n): see temporal-health doctor.',
      });
    }
    await print(await receiptsOf(chain, store), chain, wish, context);
    return EXIT.done;
  } finally {
    await close();
  }
}

async function receiptsOf(chain: ChainRow, store: ReceiptStore): Promise<readonly ListedReceipt[]> {
  const [receipts, refusals] = await Promise.all([store.readReceipts(chain, MOST_RECEIPTS), store.readRefusals(chain)]);
  const newest = new Map<string, OrderParts>();
  return [...receipts, ...refusals]
    .sort((a, b) => a.recordedAtMs - b.recordedAtMs || compareOrder(a, b) || (a.receiptId < b.receiptId ? -1 : 1))
    .map((receipt) => {
      const key = emitterKeyOf(receipt);
      const before = newest.get(key);
      const late = before !== undefined && compareFence(receipt, before) < 0;
      if (!late) newest.set(key, receipt);
      return { receipt, mark: 'code' in receipt ? 'refused' : late ? 'late' : null };
    });
}

async function print(
  all: readonly ListedReceipt[],
  chain: ChainRow,
  { runId, kind, limit, columns }: ListWish,
  context: Context,
): Promise<void> {
  const matching = all.filter(
    ({ receipt }) =>
      (runId === undefined || receipt.runId === runId) && (kind === undefined || kind.includes(receipt.kind)),
  );
  const listed = matching.slice(-limit);
  const notShown = matching.length - listed.length;
  const notRead = Math.max(0, chain.receiptCount - MOST_RECEIPTS);
  const { format, terminal } = context;
  if (format === 'jsonl') for (const one of listed) await write(`${JSON.stringify(forMachines(one))}\n`);
  if (format === 'json') {
    const { workflowId, chainId } = chain;
    const receipts = listed.map(forMachines);
    await write(`${JSON.stringify({ schemaVersion: 1, workflowId, chainId, receipts, notShown, notRead }, null, 2)}\n`);
  }
  if (format !== 'text') return;
  await write(receiptsText(listed, columns ?? null, context));
  if (notShown > 0) await write(`${dim(`${notShown} older ones are not shown (--limit).`, terminal)}\n`);
  if (notRead > 0) {
    await write(`${dim(`${notRead} newer ones were not read: the first ${MOST_RECEIPTS} are.`, terminal)}\n`);
  }
}

function forMachines({ mark, receipt }: ListedReceipt): object {
  return { mark, recordedAt: isoTime(receipt.recordedAtMs), receipt };
}
