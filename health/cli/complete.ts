/**
 * `__complete`: what a shell asks for candidates, in the protocol of the Temporal CLI's own completion, which forwards
 * `temporal health <TAB>` to us. One candidate a line with its description, then a directive.
 */
import type { Finish } from './context.ts';
import { EXIT } from './errors.ts';
import { write } from './output.ts';
import type { Program } from './program.ts';
import { lines } from './table.ts';

/** "Offer no file names": the candidates are all there is. */
const NO_FILES = ':4';

export function addComplete(program: Program, finish: Finish): void {
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption(true)
    .action(async (words) => {
      const last = words[words.length - 1] ?? '';
      const named = program.commands.find((command) => words.slice(0, -1).includes(command.name()));
      const commands = named === undefined ? program.commands : named.commands;
      const offered = last.startsWith('-')
        ? [...(named?.options ?? []), ...program.options].flatMap(({ long, description }) =>
            long ? [`${long}\t${description}`] : [],
          )
        : commands
            .filter((command) => !command.name().startsWith('__'))
            .map((command) => `${command.name()}\t${command.description()}`);
      await write(lines([...offered.filter((line) => line.startsWith(last)), NO_FILES]));
      finish(EXIT.done);
    });
}
