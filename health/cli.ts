/**
 * The command `temporal-health`, which the Temporal CLI runs as `temporal health`. Composes only: one file a command under
 * `cli/`, flags in `cli/program.ts`, exit codes in `cli/errors.ts`.
 */
import { addClassify } from './cli/classify.ts';
import { completionOf } from './cli/complete.ts';
import { addCompletion } from './cli/completion.ts';
import { addDoctor } from './cli/doctor.ts';
import { addExplain } from './cli/explain.ts';
import { addMigrate } from './cli/migrate.ts';
import { addReceipts } from './cli/receipts.ts';
import { addReport } from './cli/report.ts';
import { addSchema } from './cli/schema.ts';
import { addVersion } from './cli/version.ts';
import { addWatch } from './cli/watch.ts';
import { addWaitFor } from './cli/wait-for.ts';
import { HealthError } from '../receipts/errors.ts';
import { asHealthError, errorJson, errorText, EXIT, exitCodeOf } from './cli/errors.ts';
import type { ExitCode } from './cli/errors.ts';
import { NAGIOS, unknownLine } from './cli/nagios.ts';
import { ReaderGone, write } from './cli/output.ts';
import type { OutputFormat } from './cli/output.ts';
import { createProgram, isHelp, usageOf } from './cli/program.ts';

/** True where this form of output was asked for, also when the flags could not be parsed. */
function formIn(args: readonly string[], ...forms: readonly OutputFormat[]): boolean {
  return args.some((arg, at) => {
    const value = /^(?:-o|--output=)(.+)$/.exec(arg)?.[1] ?? (/^(-o|--output)$/.test(arg) ? args[at + 1] : undefined);
    return forms.some((form) => form === value);
  });
}

/** Runs the command and answers its exit code; nothing is thrown. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const finish = (to: ExitCode): void => {
    code = to;
  };
  // It stays: what was written last may fail after the command has ended.
  if (!process.stdout.listeners('error').includes(onStdoutError)) process.stdout.on('error', onStdoutError);
  // Where complaints cannot be written there is nobody to tell: the exit code still says it.
  if (!process.stderr.listeners('error').includes(onStderrError)) process.stderr.on('error', onStderrError);
  process.on('SIGINT', onInterrupt);
  const program = createProgram();
  // Commander prints its refusals itself; ours has a code and goes out in the form that was asked for.
  program.configureOutput({ outputError: () => undefined });
  addReport(program, finish);
  addExplain(program, finish);
  addWatch(program, finish);
  addWaitFor(program, finish);
  addReceipts(program, finish);
  addClassify(program, finish);
  addDoctor(program, finish);
  addMigrate(program, finish);
  addSchema(program, finish);
  addVersion(program, finish);
  addCompletion(program, finish);
  try {
    // Unfinished words are no command line: commander never sees them.
    if (args[0] === '__complete') await write(completionOf(program, args.slice(1)));
    else if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof ReaderGone || isHelp(error)) return EXIT.done;
    const failure = usageOf(error) ?? asHealthError(error);
    if (formIn(args, 'nagios')) {
      process.stdout.write(unknownLine(failure));
      return NAGIOS.UNKNOWN;
    }
    process.stderr.write(formIn(args, 'json', 'jsonl') ? errorJson(failure) : errorText(failure));
    return exitCodeOf(failure);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** A reader that went away, as `| head -1` does, is no failure; output that was lost, as on a full disk, is one. */
function onStdoutError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  const args = process.argv.slice(2);
  const failure = new HealthError('OUTPUT_UNWRITABLE', `Standard output cannot be written: ${error.code ?? ''}.`, {
    hint: 'What was written is not whole: make room, or send it elsewhere.',
    cause: error,
  });
  process.stderr.write(formIn(args, 'json', 'jsonl') ? errorJson(failure) : errorText(failure));
  process.exit(formIn(args, 'nagios') ? NAGIOS.UNKNOWN : EXIT.failure);
}

function onStderrError(): void {
  return undefined;
}

function onInterrupt(): void {
  process.exit(EXIT.interrupted);
}
