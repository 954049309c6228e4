/** `explain` as a screen: the verdict and what decided it first, then each part of the evidence with its vote. */
import { shorten, terminalText } from '../../receipts/text.ts';
import type { EvidenceDocument } from '../evidence.ts';
import type { Explanation, Phrase } from '../explain.ts';
import { isoTime } from '../report.ts';
import type { Context } from './context.ts';
import { bold, dim, dot, glyphOf, inColor } from './output.ts';
import type { Terminal } from './output.ts';
import { lines, wrapLast } from './table.ts';
import { lengthText, timeText } from './times.ts';

export interface ExplainScreen {
  readonly document: EvidenceDocument;
  readonly explanation: Explanation;
  readonly failureTexts: Readonly<Record<string, string>>;
  readonly links: readonly string[];
  /** What was done or could not be done before judging. */
  readonly notes: readonly string[];
}

export function explainText(screen: ExplainScreen, context: Context): string {
  const { explanation } = screen;
  const { terminal } = context;
  const { judgement } = explanation;
  return lines([
    ...head(screen, context),
    `  ${terminalText(judgement.message)}`,
    '',
    bold('Decided by', terminal),
    ...indented(facts(screen, context)),
    ...saidBy(screen),
    '',
    bold('Each part by itself', terminal),
    ...indented(components(screen, context)),
    '',
    `${bold('Safe action:', terminal)} ${explanation.safeAction}`,
    ...(explanation.forbidden.length === 0
      ? []
      : [`${bold('Do not:', terminal)} ${explanation.forbidden.join(', ')}.`]),
    ...explanation.wouldChange.map(
      (phrase) => `${bold('Would change it:', terminal)} ${said(phrase, screen, context)}`,
    ),
    ...findings(screen, context),
    ...screen.notes.map((note) => dim(`Note: ${terminalText(note)}`, terminal)),
    ...screen.links.map((link) => `Web UI: ${terminalText(link)}`),
  ]);
}

/** The verdict, why, and what to do: the first and the last thing that somebody who watches wants to know. */
export function compactText(screen: ExplainScreen, context: Context): string {
  const { judgement, safeAction } = screen.explanation;
  return lines([
    ...head(screen, context),
    `  ${terminalText(judgement.message)}`,
    `${bold('Safe action:', context.terminal)} ${safeAction}`,
  ]);
}

function head({ document, explanation }: ExplainScreen, context: Context): readonly string[] {
  const { terminal } = context;
  const { judgement } = explanation;
  const { verdict, reason } = judgement;
  const { workflowId, runId, workflowType } = document.run;
  const word = `${glyphOf(verdict, terminal)} ${verdict ?? 'no verdict'}: ${reason}`;
  return [
    [
      inColor(verdict, word, terminal),
      bold(terminalText(workflowId), terminal),
      terminalText(workflowType),
      judgement.disposition,
    ].join(dot(terminal)),
    dim(
      `  run ${terminalText(runId)}${dot(terminal)}rules ${judgement.ruleVersion}${dot(terminal)}judged ${isoTime(judgement.judgedAtMs) ?? ''}`,
      terminal,
    ),
  ];
}

function said(phrase: Phrase, { explanation }: ExplainScreen, { timeFormat }: Context): string {
  const nowMs = explanation.judgement.judgedAtMs;
  const text = phrase.map((part) => {
    if (typeof part === 'string') return part;
    return 'atMs' in part ? timeText(part.atMs, nowMs, timeFormat) : lengthText(part.lengthMs);
  });
  return terminalText(text.join(''));
}

function facts({ explanation }: ExplainScreen, { timeFormat, terminal }: Context): readonly string[] {
  const nowMs = explanation.judgement.judgedAtMs;
  if (explanation.decisive.length === 0) return ['nothing: no rule had evidence'];
  const rows = explanation.decisive.map(({ fact, kind }) => {
    const value =
      typeof fact.value !== 'number' || kind === 'value'
        ? String(fact.value)
        : kind === 'time'
          ? timeText(fact.value, nowMs, timeFormat)
          : lengthText(fact.value);
    return [terminalText(fact.ref), terminalText(fact.field), terminalText(value)];
  });
  return wrapLast(rows, inner(terminal), 20);
}

/** What failing user code said, for a screen only. */
function saidBy({ failureTexts }: ExplainScreen): readonly string[] {
  return Object.entries(failureTexts).map(
    ([activityId, text]) => `  activity ${terminalText(activityId)} says: ${shorten(terminalText(text), 200)}`,
  );
}

function components(screen: ExplainScreen, context: Context): readonly string[] {
  const { terminal } = context;
  const rows = screen.explanation.components.map(({ component, vote, says }) => [
    component,
    vote === null ? dim('no vote', terminal) : inColor(vote, vote, terminal),
    said(says, screen, context),
  ]);
  return wrapLast(rows, inner(terminal), 30);
}

function findings({ explanation }: ExplainScreen, { terminal }: Context): readonly string[] {
  const { findings: found } = explanation.judgement;
  if (found.length === 0) return [];
  return [
    '',
    bold('Also seen', terminal),
    ...found.map(({ finding, message }) => `  ${finding}: ${terminalText(message)}`),
  ];
}

/** Both tables are indented by two. */
function inner({ columns }: Terminal): number | null {
  return columns === null ? null : columns - 2;
}

function indented(all: readonly string[]): readonly string[] {
  return all.map((line) => `  ${line}`);
}
