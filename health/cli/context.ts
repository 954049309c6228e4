/** What every command is given: the merged flags, the form of its output, and where to connect. */
import { configurationOf } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { terminalOf } from './output.ts';
import type { OutputFormat, Terminal } from './output.ts';
import type { GlobalOptions } from './program.ts';
import type { ExitCode } from './errors.ts';
import type { TimeFormat } from './times.ts';

export interface Context {
  readonly format: OutputFormat;
  readonly terminal: Terminal;
  readonly timeFormat: TimeFormat;
  readonly header: boolean;
  /** Read when it is needed: `classify`, `schema` and `version` work with a broken configuration. */
  readonly configuration: () => Configuration;
}

/** How a command hands its exit code back. */
export type Finish = (code: ExitCode) => void;

export function contextOf(options: GlobalOptions, defaultFormat: OutputFormat = 'text'): Context {
  return {
    format: options.output ?? defaultFormat,
    terminal: terminalOf(options.color ?? 'auto', process.env),
    timeFormat: options.timeFormat ?? 'relative',
    header: options.header,
    configuration: () => configurationOf(options, process.env),
  };
}
