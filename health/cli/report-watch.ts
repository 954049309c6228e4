/** `report --watch`: pass after pass, as a screen that replaces itself, or as a report and then one line for each change. */
import { setTimeout as pause } from 'node:timers/promises';
import type { HealthError } from '../../receipts/errors.ts';
import type { Sources } from '../gather.ts';
import type { ReportRow } from '../report.ts';
import { changeLine, ChangeLines } from './change-line.ts';
import type { Configuration } from './configuration.ts';
import type { Context } from './context.ts';
import { EXIT, errorOut } from './errors.ts';
import type { ExitCode } from './errors.ts';
import { changeKey } from './follow.ts';
import { write } from './output.ts';
import { forMachines, Report } from './report-once.ts';
import type { Pass, ReportWish } from './report-once.ts';
import { Screen } from './screen.ts';
import { LEAST_BETWEEN_LINES_MS } from './watch.ts';

/** Ends only where the first pass cannot read: later outages are waited out, Ctrl-C is 130. */
export async function watchReport(
  wish: ReportWish,
  intervalMs: number,
  context: Context,
  configuration: Configuration,
  sources: Sources,
  errors: readonly HealthError[],
): Promise<ExitCode> {
  const show = shower(context);
  let unread = '';
  for (let first = true; ; first = false) {
    const rows = new Map<string, ReportRow>();
    const report = new Report(wish, context, configuration, sources, errors, (row) => {
      rows.set(row.runId, forMachines(row));
    });
    const pass = await report.pass();
    const now = pass.errors.map(({ code }) => code).join(' ');
    // What was judged without one of the sources is no change of the runs.
    if (first || now === '') await show(pass, rows);
    if (now !== unread) for (const error of pass.errors) process.stderr.write(errorOut(error, context.format));
    unread = now;
    if (first && now !== '') return EXIT.unreachable;
    await pause(intervalMs);
  }
}

function shower(context: Context): (pass: Pass, rows: ReadonlyMap<string, ReportRow>) => Promise<void> {
  const { format, terminal } = context;
  if (format === 'text' && terminal.rows !== null) {
    const screen = new Screen(terminal);
    return async (pass) => screen.show(pass.text());
  }
  const lines = new ChangeLines(format === 'text' ? LEAST_BETWEEN_LINES_MS : 0, async (rows) => {
    for (const row of rows) await write(`${format === 'text' ? changeLine(row, context) : JSON.stringify(row)}\n`);
  });
  let known: ReadonlyMap<string, string> | null = null;
  return async (pass, rows) => {
    if (known === null && format === 'text') await write(pass.text());
    else for (const row of rows.values()) if (known?.get(row.runId) !== changeKey(row)) lines.add(row);
    known = new Map([...rows].map(([runId, row]) => [runId, changeKey(row)]));
    await lines.flush();
  };
}
