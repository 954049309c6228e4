/** `receipts list`: what a run has recorded, as the store holds it. Temporal may be down. */
import { RECEIPT_KINDS } from '../../receipts/receipt.ts';
import { columnsOption, listOption } from './columns.ts';
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { examples } from './examples.ts';
import { runIdOption, workflowIdOption } from './ids.ts';
import { usage, wholeNumber } from './program.ts';
import type { Program } from './program.ts';
import { MOST_RECEIPTS, RECEIPT_COLUMNS } from './receipts-shown.ts';

export function addReceipts(program: Program, finish: Finish): void {
  const shown = examples('receipts list -w crawl-7', 'receipts list -w crawl-7 --kind effect,wait -o jsonl');
  const group = program.command('receipts').description('what runs have recorded').addHelpText('before', shown);
  group
    .command('list')
    .description("a run's receipts as they were recorded, late and refused ones marked")
    .addHelpText('before', shown)
    .addOption(workflowIdOption())
    .addOption(runIdOption('only this run; without it the newest run with all that it continues'))
    .addOption(listOption('--kind <list>', 'only these kinds', RECEIPT_KINDS))
    .option('--limit <n>', 'the newest so many', wholeNumber('--limit', 1, MOST_RECEIPTS), 100)
    .addOption(columnsOption(RECEIPT_COLUMNS))
    .action(async (options, command) => {
      const context = contextOf(command.optsWithGlobals());
      if (options.columns !== undefined && context.format !== 'text') {
        throw usage('--columns is for text; JSON always holds everything.');
      }
      const { listReceipts } = await import('./receipts-list.ts');
      finish(await listReceipts(options, context));
    });
}
