/**
 * `-o nagios`: the one line and the exit code that Nagios, Icinga and their kin read. Everything goes to stdout, refusals
 * too: a monitoring system reads nothing else.
 */
import type { HealthError } from '../../receipts/errors.ts';
import { terminalText } from '../../receipts/text.ts';
import { NEEDS_ATTENTION } from '../report.ts';
import type { ReportRow } from '../report.ts';
import { VERDICTS } from '../verdict.ts';
import type { Verdict } from '../verdict.ts';
import type { ExitCode } from './errors.ts';
import { nearingText } from './nearing.ts';
import type { Nearing } from './nearing.ts';

export const NAGIOS = { OK: 0, WARNING: 1, CRITICAL: 2, UNKNOWN: 3 } as const satisfies Record<string, ExitCode>;
export type NagiosState = keyof typeof NAGIOS;

/** Runs that are named in the line; the others are counted. */
const NAMED = 3;

export interface Checked {
  readonly row: Pick<ReportRow, 'workflowId' | 'verdict' | 'reason'>;
  readonly nearing: readonly Nearing[];
}

/** `performance`: what is counted, by label; each is critical above 0 where it counts a verdict that needs somebody. */
export function nagiosLine(
  state: NagiosState,
  says: string,
  performance: Readonly<Record<string, number>> = {},
): string {
  const measured = Object.entries(performance).map(([label, value]) => {
    const critical = NEEDS_ATTENTION.some((verdict) => labelOf(verdict) === label) ? ';;0' : '';
    return `${label}=${value}${critical}`;
  });
  // The bar begins the performance data, and a line break what is shown on request only.
  const plain = terminalText(says).replaceAll('|', '/').replaceAll(/\s+/g, ' ');
  return `HEALTH ${state} - ${plain}${measured.length === 0 ? '' : ` | ${measured.join(' ')}`}\n`;
}

function labelOf(verdict: Verdict): string {
  return verdict.replaceAll('-', '_');
}

/** One run: no verdict is no proof of health, unless none is due. */
export function stateOf({ row, nearing }: Checked): NagiosState {
  if (row.verdict === null) return row.reason === 'stopped' || row.reason === 'continued' ? 'OK' : 'UNKNOWN';
  if (NEEDS_ATTENTION.includes(row.verdict)) return 'CRITICAL';
  return nearing.length > 0 ? 'WARNING' : 'OK';
}

export function runText({ row, nearing }: Checked): string {
  const near = nearing.map((one) => `, ${nearingText(one)} spent`).join('');
  return `${row.workflowId} ${row.verdict ?? 'no verdict'} (${row.reason}${near})`;
}

export function unknownLine({ message, code }: HealthError): string {
  return nagiosLine('UNKNOWN', `${message} (${code})`);
}

/** Counts the runs of a report and remembers the few that are named. */
export class NagiosReport {
  readonly #byVerdict = new Map<Verdict, number>(VERDICTS.map((verdict) => [verdict, 0]));
  readonly #named: Record<'CRITICAL' | 'WARNING', string[]> = { CRITICAL: [], WARNING: [] };
  readonly #count: Record<NagiosState, number> = { OK: 0, WARNING: 0, CRITICAL: 0, UNKNOWN: 0 };

  add(checked: Checked): void {
    const { verdict } = checked.row;
    const state = stateOf(checked);
    this.#count[state] += 1;
    if (verdict !== null) this.#byVerdict.set(verdict, (this.#byVerdict.get(verdict) ?? 0) + 1);
    if (state !== 'CRITICAL' && state !== 'WARNING') return;
    if (this.#named[state].length < NAMED) this.#named[state].push(runText(checked));
  }

  /** `unread`: sources that did not answer; then nothing that was counted stands for the whole. */
  end(unread: readonly HealthError[]): { readonly line: string; readonly exit: ExitCode } {
    const [first] = unread;
    if (first !== undefined) return { line: unknownLine(first), exit: NAGIOS.UNKNOWN };
    const state = this.#count.CRITICAL > 0 ? 'CRITICAL' : this.#count.WARNING > 0 ? 'WARNING' : 'OK';
    const performance = Object.fromEntries([
      ...[...this.#byVerdict].map(([verdict, count]) => [labelOf(verdict), count] as const),
      ['not_instrumented', this.#count.UNKNOWN] as const,
    ]);
    return { line: nagiosLine(state, this.#says(state), performance), exit: NAGIOS[state] };
  }

  #says(state: NagiosState): string {
    if (state !== 'CRITICAL' && state !== 'WARNING') return 'nothing needs you';
    const count = this.#count[state];
    const named = this.#named[state].join(', ');
    const more = count > NAMED ? ` and ${count - NAMED} more` : '';
    const what = state === 'CRITICAL' ? (count === 1 ? 'needs you' : 'need you') : 'near a limit';
    return `${count} ${what}: ${named}${more}`;
  }
}
