/**
 * The command `temporal-health`, which the Temporal CLI runs as `temporal health`. Composes only: one file a command under
 * `cli/`, flags in `cli/program.ts`, exit codes in `cli/errors.ts`.
 */
import { addClassify } from './cli/classify.ts';
import { addComplete } from './cli/complete.ts';
import { addDoctor } from './cli/doctor.ts';
import { addExplain } from './cli/explain.ts';
import { addMigrate } from './cli/migrate.ts';
import { addReport } from './cli/report.ts';
import { addSchema } from './cli/schema.ts';
import { addVersion } from './cli/version.ts';
import { asHealthError, errorJson, errorText, EXIT, exitCodeOf } from './cli/errors.ts';
import type { ExitCode } from './cli/errors.ts';
import { ReaderGone } from './cli/output.ts';
import { createProgram, isHelp, usageOf } from './cli/program.ts';

/** True where errors are to be JSON, also when the flags could not be parsed. */
function wantsJson(args: readonly string[]): boolean {
  return args.some(
    (arg, at) =>
      /^(-o|--output=)jsonl?$/.test(arg) || (/^(-o|--output)$/.test(arg) && /^jsonl?$/.test(args[at + 1] ?? '')),
  );
}

/** Runs the command and answers its exit code; nothing is thrown. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const finish = (to: ExitCode): void => {
    code = to;
  };
  // It stays: what was written last may fail after the command has ended.
  if (!process.stdout.listeners('error').includes(onStdoutError)) process.stdout.on('error', onStdoutError);
  process.on('SIGINT', onInterrupt);
  const program = createProgram();
  // Commander prints its refusals itself; ours has a code and goes out in the form that was asked for.
  program.configureOutput({ outputError: () => undefined });
  addReport(program, finish);
  addExplain(program, finish);
  addClassify(program, finish);
  addDoctor(program, finish);
  addMigrate(program, finish);
  addSchema(program, finish);
  addVersion(program, finish);
  addComplete(program, finish);
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof ReaderGone || isHelp(error)) return EXIT.done;
    const failure = usageOf(error) ?? asHealthError(error);
    process.stderr.write(wantsJson(args) ? errorJson(failure) : errorText(failure));
    return exitCodeOf(failure);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

/** A reader that went away, as `| head -1` does, is no failure. */
function onStdoutError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
}

function onInterrupt(): void {
  process.exit(EXIT.interrupted);
}
