/** A page for each error code, and the exit codes of the command. */
import { toFailure } from '../../../activities/failures.ts';
import { EXIT, exitCodeOf } from '../../../health/cli/errors.ts';
import { ERROR_TEXTS } from '../../../health/reference/errors.ts';
import type { Border } from '../../../health/reference/texts.ts';
import { ERROR_CODES, HealthError } from '../../../receipts/errors.ts';
import type { ErrorCode } from '../../../receipts/errors.ts';
import { code, fenced, link, list, page, section, table } from './markdown.ts';
import type { Pages } from './markdown.ts';

const EXIT_TEXTS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'Done.',
  failure: 'A failure that has no exit code of its own.',
  usage: 'The command line or the configuration cannot be understood.',
  notFound: 'What was asked for is not there.',
  notAllowed: 'Temporal does not allow it.',
  unreachable: 'Temporal or Postgres cannot be reached. What could be read stands on stdout.',
  conflict: 'Two things that must be equal differ.',
  stuck: 'With `--exit-status`, or of `wait-for`: the worst verdict is stuck.',
  falseSuccess: 'With `--exit-status`, or of `wait-for`: the worst verdict is false-success.',
  uncertain: 'With `--exit-status`, or of `wait-for`: the worst verdict is uncertain.',
  timedOut: '`wait-for` has waited as long as `--timeout` says.',
  interrupted: 'Interrupted.',
};

export function addErrors(pages: Pages): void {
  for (const errorCode of ERROR_CODES) pages.set(`errors/${errorCode}.md`, errorPage(errorCode));
  pages.set('errors/README.md', indexPage());
}

function exitOf(errorCode: ErrorCode): number | null {
  return ERROR_TEXTS[errorCode].borders.includes('command') ? exitCodeOf(new HealthError(errorCode, '')) : null;
}

function errorPage(errorCode: ErrorCode): string {
  const { happened, remedy, stored, borders } = ERROR_TEXTS[errorCode];
  return page(
    code(errorCode),
    happened,
    section('What to do', remedy),
    section('Was anything stored or done?', stored),
    borders.length === 0
      ? ''
      : section('Where it comes out', list(borders.map((border) => borderText(border, errorCode)))),
  );
}

function borderText(border: Border, errorCode: ErrorCode): string {
  switch (border) {
    case 'activity': {
      const final = toFailure(new HealthError(errorCode, '')).nonRetryable === true;
      return `In an activity, as a failure of type ${code(errorCode)}: Temporal ${final ? 'does not retry it' : 'retries it'}.`;
    }
    case 'workflow':
      return workflowText(errorCode);
    case 'worker':
      return 'When a worker starts, or in its log.';
    case 'command':
      return `From the command, with exit code ${String(exitOf(errorCode))}, on stderr (as JSON with ${code('-o json')}).`;
    case 'contract':
      return 'From `defineContract`, or where a contract is read.';
    case 'store':
      return "From the store: where it is opened or read, or as a receipt's outcome.";
    case 'agent':
      return 'From the example workflows of this checkout, as a failure.';
  }
}

function workflowText(errorCode: ErrorCode): string {
  if (errorCode === 'STORE_UNAVAILABLE') {
    return 'In a workflow: `recordProgress` returns it after ten seconds, and the note travels with the next receipt. A wait that opens is tried until it is stored.';
  }
  if (errorCode === 'PLUGIN_MISSING') return 'In a workflow: every helper throws it, as a failure that is not retried.';
  const waits = `In a workflow: ${code('openWait')} and ${code('recordWait')} throw it, as a failure of type ${code(errorCode)} that is not retried`;
  return errorCode.startsWith('WAIT_') ? `${waits}.` : `${waits}; ${code('recordProgress')} returns it.`;
}

function indexPage(): string {
  const exits = Object.entries(EXIT_TEXTS) as [keyof typeof EXIT, string][];
  return page(
    'Errors',
    'Every refusal has a stable code, a sentence that says what to do, and never a value: identities, fields, limits and SQL states only. Compare `code`, never a class.',
    table(
      ['Code', 'What happened', 'Exit'],
      ERROR_CODES.map((errorCode) => [
        link(code(errorCode), `${errorCode}.md`),
        ERROR_TEXTS[errorCode].happened,
        String(exitOf(errorCode) ?? '–'),
      ]),
    ),
    section(
      'The form on stderr',
      'As text: the sentence, the code, and what to do. With `-o json` or `-o jsonl` the same as one line:',
      fenced(
        'json',
        JSON.stringify({
          error: new HealthError('INVALID_TIME', '--at takes a time with its zone, for example 2026-06-01T12:00:00Z.', {
            field: '--at',
          }),
        }),
      ),
    ),
    section(
      'Exit codes',
      table(
        ['Exit', 'Means'],
        exits.map(([name, means]) => [String(EXIT[name]), means]),
      ),
    ),
  );
}
