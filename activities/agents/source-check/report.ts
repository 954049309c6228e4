/** The report of a source check, as JSON for programs and as Markdown for people. Pure. */
import { digestJson } from '../../../receipts/digest.ts';
import type { OpenedDocument, SourceCheckResult } from '../../../workflows/agents/source-check-messages.ts';
import { OUTCOMES } from './finding.ts';
import type { Outcome, SourceFinding } from './finding.ts';
import type { Link } from './links.ts';
import type { Inventory } from './sources.ts';

export const REPORT_SCHEMA_VERSION = 1;
export const REPORT_KIND = 'source-check-report';

export interface ReportedSource extends SourceFinding {
  /** The source's identity: an address, `./path` below the document root, `#anchor` or `[^footnote]`. */
  readonly source: string;
  readonly occurrences: readonly Link[];
}

export interface SourceReport {
  readonly schemaVersion: typeof REPORT_SCHEMA_VERSION;
  readonly kind: typeof REPORT_KIND;
  /** Whose report it is: one of another run does not count. */
  readonly workflowId: string;
  readonly runId: string;
  readonly document: OpenedDocument;
  readonly summary: ReportSummary;
  readonly writtenAt: string;
  /** In the order of the document. */
  readonly sources: readonly ReportedSource[];
}

export type ReportSummary = Omit<SourceCheckResult, 'report'>;

/** Sources without a finding are left out: the check that recounts them says so. */
export function makeReport(
  run: { readonly workflowId: string; readonly runId: string; readonly writtenAtMs: number },
  document: OpenedDocument,
  inventory: Inventory,
  findings: ReadonlyMap<number, SourceFinding>,
): SourceReport {
  const sources = inventory.sources.flatMap(({ key, occurrences }, index) => {
    const finding = findings.get(index);
    return finding === undefined ? [] : [{ source: key, ...finding, occurrences }];
  });
  const counts = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, sources.filter((source) => source.outcome === outcome).length]),
  ) as Record<Outcome, number>;
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    kind: REPORT_KIND,
    workflowId: run.workflowId,
    runId: run.runId,
    document,
    summary: { links: inventory.links, sources: inventory.sources.length, ...counts },
    writtenAt: new Date(run.writtenAtMs).toISOString(),
    sources,
  };
}

export const reportAsJson = (report: SourceReport): string => `${JSON.stringify(report, null, 2)}\n`;

/** Identity of what was found so far: equal sources with equal outcomes give an equal digest. */
export function verifiedSet(inventory: Inventory, findings: ReadonlyMap<number, SourceFinding>): string {
  // Neither times nor the digests of pages: a page that differs at each visit would make a loop look like work.
  const found = [...findings].map(([index, { outcome }]) => [inventory.sources[index]?.key ?? '', outcome]);
  return digestJson(found.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

const HEADINGS: Readonly<Record<Outcome, string>> = {
  broken: 'Broken',
  unreachable: 'Unreachable',
  refused: 'Not allowed',
  restricted: 'Restricted',
  skipped: 'Not checked',
  ok: 'Reachable',
};

/** Findings first, what is well last. Text of the document and of strangers is shown as code, never as markup. */
export function reportAsMarkdown(report: SourceReport): string {
  const { document, summary, sources } = report;
  const lines = [
    `# Sources of ${code(document.name)}`,
    '',
    `${summary.links} links to ${summary.sources} sources: ` +
      (Object.keys(HEADINGS) as Outcome[])
        .filter((outcome) => summary[outcome] > 0)
        .map((outcome) => `${summary[outcome]} ${HEADINGS[outcome].toLowerCase()}`)
        .join(', ') +
      '.',
    '',
    `Document ${code(document.digest)}, ${document.sizeBytes} bytes. Run ${code(report.runId)} of ` +
      `${code(report.workflowId)}, written ${report.writtenAt}.`,
  ];
  for (const outcome of Object.keys(HEADINGS) as Outcome[]) {
    const found = sources.filter((source) => source.outcome === outcome);
    if (found.length === 0) continue;
    lines.push(
      '',
      `## ${HEADINGS[outcome]} (${found.length})`,
      '',
      '| source | lines | what was found |',
      '| --- | --- | --- |',
    );
    for (const source of found) lines.push(`| ${code(source.source)} | ${linesOf(source)} | ${said(source)} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** As inline code that no content can leave: control characters and pipes are shown, back-ticks replaced. */
function code(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what it looks for
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  return `\`${plain.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

function linesOf({ occurrences }: ReportedSource): string {
  const numbers = [...new Set(occurrences.map(({ line }) => line))];
  return numbers.length > 6 ? `${numbers.slice(0, 6).join(', ')} and ${numbers.length - 6} more` : numbers.join(', ');
}

function said({ cause, status, finalUrl, fragment, digest, tries }: ReportedSource): string {
  return [
    cause ?? (status === null ? 'there' : `status ${status}`),
    ...(fragment === 'not-checked' ? ['fragment not checked'] : []),
    ...(finalUrl === null ? [] : [`at ${code(finalUrl)}`]),
    ...(digest === null ? [] : [code(digest.slice(0, 'sha256:'.length + 12))]),
    ...(tries > 1 ? [`${tries} tries`] : []),
  ].join(', ');
}
