/** `classify FILE…`: judges evidence documents with no server. The same document gives the same bytes everywhere. */
import { readFile } from 'node:fs/promises';
import { Argument } from '@commander-js/extra-typings';
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import { classify } from '../classify.ts';
import type { EvidenceDocument } from '../evidence.ts';
import { explain } from '../explain.ts';
import type { Judgement } from '../judgement.ts';
import type { Verdict } from '../verdict.ts';
import { completes } from './candidates.ts';
import { contextOf } from './context.ts';
import type { Context, Finish } from './context.ts';
import { EXIT } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { explainText } from './explain-text.ts';
import { write } from './output.ts';
import { examples } from './examples.ts';
import type { Program } from './program.ts';
import { parseTime } from './times.ts';

const STDIN = '-';

export function addClassify(program: Program, finish: Finish): void {
  program
    .command('classify')
    .addArgument(
      completes(new Argument('<files...>', `evidence documents; ${STDIN} is standard input`), {
        words: [],
        files: true,
      }),
    )
    .description('judge evidence documents, with no server')
    .addHelpText('before', examples('classify evidence.json', 'classify evidence.json -o text --exit-status'))
    .option('--at <time>', 'judge as of this moment, not the one in the document')
    .option('--exit-status', 'exit with 12, 11 or 10 when a run is uncertain, a false success or stuck')
    .action(async (files, options, command) => {
      const context = contextOf(command.optsWithGlobals(), 'json');
      const { format } = context;
      const atMs = options.at === undefined ? null : parseTime(options.at, '--at');
      const judgements: Judgement[] = [];
      for (const file of files) {
        const { document, judgement } = await judge(file, atMs);
        judgements.push(judgement);
        if (format === 'jsonl') await write(`${JSON.stringify(judgement)}\n`);
        if (format === 'text')
          await write(`${judgements.length > 1 ? '\n' : ''}${asScreen(document, judgement, context)}`);
      }
      const whole = files.length === 1 ? judgements[0] : judgements;
      if (format === 'json') await write(`${JSON.stringify(whole, null, 2)}\n`);
      finish(options.exitStatus ? statusOf(judgements.map(({ verdict }) => verdict)) : EXIT.done);
    });
}

/** As `explain` shows it, without what a document does not hold: links, and what failing code said. */
function asScreen(document: EvidenceDocument, judgement: Judgement, context: Context): string {
  const explanation = explain(document, judgement);
  return explainText({ document, explanation, failureTexts: {}, links: [], notes: [] }, context);
}

interface Judged {
  readonly document: EvidenceDocument;
  readonly judgement: Judgement;
}

async function judge(file: string, atMs: number | null): Promise<Judged> {
  const text = await read(file);
  const [{ parseEvidence }, { parseJsonText }] = await Promise.all([
    import('../parse.ts'),
    import('../../receipts/parse.ts'),
  ]);
  try {
    const document = parseEvidence(parseJsonText(text));
    return { document, judgement: classify(document, document.policy, atMs ?? document.nowMs) };
  } catch (error) {
    if (!isHealthError(error)) throw error;
    const { code, message, field, hint, position } = error;
    throw new HealthError(code, `${file === STDIN ? 'Standard input' : file}: ${message}`, {
      ...(field === undefined ? {} : { field }),
      ...(hint === undefined ? {} : { hint }),
      ...(position === undefined ? {} : { position }),
      cause: error,
    });
  }
}

async function read(file: string): Promise<Uint8Array> {
  if (file === STDIN) {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new HealthError(
      code === 'ENOENT' ? 'NOT_FOUND' : 'EVIDENCE_INVALID',
      `${file} cannot be read (${code ?? ''}).`,
      {
        hint: 'Give the path of an evidence document, as `temporal-health explain -w ID --export` writes it.',
        cause: error,
      },
    );
  }
}

/** The exit code of `--exit-status`: the worst verdict wins. */
export function statusOf(verdicts: readonly (Verdict | null)[]): ExitCode {
  if (verdicts.includes('uncertain')) return EXIT.uncertain;
  if (verdicts.includes('false-success')) return EXIT.falseSuccess;
  return verdicts.includes('stuck') ? EXIT.stuck : EXIT.done;
}
