/** Failures on their way out of the command: one exit code each, one form on stderr, never a stack or a secret. */
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import type { ErrorCode } from '../../receipts/errors.ts';
import { terminalText } from '../../receipts/text.ts';
import type { OutputFormat } from './output.ts';

/** The exit codes of the command. 10 to 12 are for `--exit-status` and `wait-for`; 3 is also Nagios' own "unknown". */
export const EXIT = {
  done: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  unreachable: 5,
  conflict: 6,
  stuck: 10,
  falseSuccess: 11,
  uncertain: 12,
  timedOut: 124,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const EXIT_BY_CODE: Partial<Readonly<Record<ErrorCode, ExitCode>>> = {
  USAGE: EXIT.usage,
  INVALID_ID: EXIT.usage,
  INVALID_TIME: EXIT.usage,
  LIMIT_REQUIRED: EXIT.usage,
  CONFIG_MISSING: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  RUN_NOT_IN_MISSION: EXIT.notFound,
  NOT_ALLOWED: EXIT.notAllowed,
  DB_UNREACHABLE: EXIT.unreachable,
  STORE_UNAVAILABLE: EXIT.unreachable,
  TEMPORAL_UNREACHABLE: EXIT.unreachable,
  CLUSTER_MISMATCH: EXIT.conflict,
};

export function exitCodeOf(error: HealthError): ExitCode {
  return EXIT_BY_CODE[error.code] ?? EXIT.failure;
}

/** A failure without a code of ours is a fault of this program: said as such, with its message and without its stack. */
export function asHealthError(error: unknown): HealthError {
  if (isHealthError(error)) return error;
  const said = error instanceof Error ? error.message : String(error);
  return new HealthError('INTERNAL', `This should not have happened: ${said}`, { cause: error });
}

/** In the form of the output that was asked for. */
export function errorOut(error: HealthError, format: OutputFormat): string {
  return format === 'json' || format === 'jsonl' ? errorJson(error) : errorText(error);
}

export function errorText(error: HealthError): string {
  const hint = error.hint === undefined ? '' : `\n  ${terminalText(error.hint)}`;
  return `Error: ${terminalText(error.message)} (${error.code})${hint}\n`;
}

export function errorJson(error: HealthError): string {
  return `${JSON.stringify({ error: error.toJSON() })}\n`;
}
