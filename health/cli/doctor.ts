/** `doctor`: what a right report needs, with the remedy of what fails. */
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';

export function addDoctor(program: Program, finish: Finish): void {
  program
    .command('doctor')
    .description('check what a right report needs, with the remedy of what fails')
    .addHelpText('before', examples('doctor', 'doctor -o json'))
    .action(async (_options, command) => {
      const { examine } = await import('./examine.ts');
      finish(await examine(contextOf(command.optsWithGlobals())));
    });
}
