/** `version`: of the package, and of everything whose change others must notice. */
import { readFileSync } from 'node:fs';
import { RECEIPT_SCHEMA_VERSION } from '../../receipts/envelope.ts';
import { EVIDENCE_SCHEMA_VERSION } from '../evidence.ts';
import { JUDGEMENT_SCHEMA_VERSION, RULE_VERSION } from '../judgement.ts';
import { REPORT_SCHEMA_VERSION } from '../report.ts';
import { contextOf } from './context.ts';
import type { Finish } from './context.ts';
import { EXIT } from './errors.ts';
import { write } from './output.ts';
import { packageFile } from './package-files.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';
import { lines } from './table.ts';

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string };
  return version;
}

export function addVersion(program: Program, finish: Finish): void {
  program
    .command('version')
    .description('versions of the package, the rules and the schemas')
    .addHelpText('before', examples('version', 'version -o json'))
    .action(async (_options, command) => {
      const { format } = contextOf(command.optsWithGlobals());
      const versions = {
        schemaVersion: REPORT_SCHEMA_VERSION,
        version: packageVersion(),
        rules: RULE_VERSION,
        receipts: RECEIPT_SCHEMA_VERSION,
        evidence: EVIDENCE_SCHEMA_VERSION,
        judgement: JUDGEMENT_SCHEMA_VERSION,
        node: process.versions.node,
      };
      if (format === 'json' || format === 'jsonl') await write(`${JSON.stringify(versions)}\n`);
      if (format === 'text') {
        await write(
          lines([
            `temporal-health ${versions.version}`,
            `rules ${versions.rules}, receipts ${versions.receipts}, evidence ${versions.evidence}, judgement ${versions.judgement}`,
            `Node ${versions.node}`,
          ]),
        );
      }
      finish(EXIT.done);
    });
}
