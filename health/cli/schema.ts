/** `schema NAME`: a published JSON Schema, as it ships with this version. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from '@commander-js/extra-typings';
import { HealthError } from '../../receipts/errors.ts';
import { completes } from './candidates.ts';
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { EXIT } from './errors.ts';
import { write } from './output.ts';
import { packageFile } from './package-files.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';
import { lines } from './table.ts';

/** Names without their version ending, the newest file of each. */
function schemas(): ReadonlyMap<string, string> {
  const folder = packageFile('schemas');
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.json'))
        .sort()
    : [];
  return new Map(files.map((file) => [file.replace(/(\.v\d+)?(\.schema)?\.json$/, ''), join(folder, file)]));
}

export function addSchema(program: Program, finish: Finish): void {
  program
    .command('schema')
    .addArgument(
      completes(new Argument('[name]', 'evidence, judgement, receipt, …; none lists them'), {
        get words() {
          return [...schemas().keys()];
        },
      }),
    )
    .description('a published JSON Schema')
    .addHelpText('before', examples('schema', 'schema evidence'))
    .action(async (name, _options, command) => {
      const { format } = contextOf(command.optsWithGlobals());
      const known = schemas();
      const names = [...known.keys()];
      const file = name === undefined ? undefined : known.get(name);
      if (name !== undefined && file === undefined) {
        throw new HealthError('NOT_FOUND', `There is no schema of that name; there are ${names.join(', ')}.`);
      }
      const text =
        file === undefined
          ? format === 'text'
            ? lines(names)
            : `${JSON.stringify(names)}\n`
          : readFileSync(file, 'utf8');
      if (format !== 'none') await write(text);
      finish(EXIT.done);
    });
}
