/** `wait-for`: blocks until every named run has one of the verdicts that are waited for, or until one of them never will. */
import { Option } from '@commander-js/extra-typings';
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { listOption } from './columns.ts';
import { examples } from './examples.ts';
import { identity } from './ids.ts';
import { lengthOfTime } from './program.ts';
import type { Program } from './program.ts';
import { WANTED } from './wanted.ts';

const known = identity('--workflow-id');

export function addWaitFor(program: Program, finish: Finish): void {
  program
    .command('wait-for')
    .description('block until runs have a verdict')
    .addHelpText(
      'before',
      examples(
        'wait-for -w crawl-7 --for healthy',
        'wait-for -w crawl-7 -w crawl-8 --for healthy,waiting --timeout 10m',
      ),
    )
    .addOption(
      new Option('-w, --workflow-id <id...>', 'workflow id, repeatable; the run that is its newest at the beginning')
        .argParser((text, before: readonly string[] | undefined) => [...new Set([...(before ?? []), known(text)])])
        .makeOptionMandatory(),
    )
    .addOption(
      listOption(
        '--for <list>',
        'verdicts, or `deliverable`: every due one checked and passing',
        WANTED,
      ).makeOptionMandatory(),
    )
    .option('--timeout <length>', 'how long to wait at most', lengthOfTime, 10 * 60_000)
    .option('-i, --interval <length>', 'how often to look', lengthOfTime, 3_000)
    .option('--accept-judged', 'take `healthy` for met where a judgement stands behind it and no check')
    .action(async (options, command) => {
      const context = contextOf(command.optsWithGlobals(), 'text', true);
      const { waitFor } = await import('./waiting.ts');
      finish(await waitFor({ ...options, workflowId: options.workflowId ?? [] }, context));
    });
}
