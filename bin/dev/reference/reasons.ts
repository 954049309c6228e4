/** A page for each reason, with an evidence document beside it that `temporal-health classify` judges as the page says. */
import {
  ACTION_TEXTS,
  FORBIDDEN_TEXTS,
  NO_VERDICT_TEXT,
  ORDER_OF_DECISION,
} from '../../../health/reference/verdicts.ts';
import { REASON_TEXTS } from '../../../health/reference/reasons.ts';
import type { Limit, PolicyPath } from '../../../health/reference/texts.ts';
import { adviceFor } from '../../../health/actions.ts';
import { classify } from '../../../health/classify.ts';
import type { EvidenceDocument } from '../../../health/evidence.ts';
import { factKind } from '../../../health/explain.ts';
import type { Fact, Judgement } from '../../../health/judgement.ts';
import { DEFAULT_POLICY } from '../../../health/policy.ts';
import { isoTime } from '../../../health/report.ts';
import { ALL_REASONS, REASONS, VERDICTS } from '../../../health/verdict.ts';
import type { Reason, Verdict } from '../../../health/verdict.ts';
import { evidenceOf } from '../../../test/support/evidence.ts';
import { readCases } from '../../../test/cases/case-file.ts';
import { code, fenced, lengthOf, link, list, page, quoted, section, table } from './markdown.ts';
import type { Pages } from './markdown.ts';

function verdictOf(reason: Reason): Verdict | null {
  return VERDICTS.find((verdict) => (REASONS[verdict] as readonly Reason[]).includes(reason)) ?? null;
}

/** Every case of a reason's file, judged. */
interface JudgedCase {
  readonly name: string;
  readonly document: EvidenceDocument;
  readonly judgement: Judgement;
}

function judgedCases(reason: Reason): readonly JudgedCase[] {
  return readCases(caseFile(reason)).map(({ name, given }) => {
    const document = evidenceOf(given);
    return { name, document, judgement: classify(document, document.policy, document.nowMs) };
  });
}

function caseFile(reason: Reason): string {
  return `reasons/${reason}.json`;
}

/** The case that the page shows. @throws Error where the text names none that exists and has the reason */
function shownCase(reason: Reason, cases: readonly JudgedCase[]): JudgedCase {
  const { example } = REASON_TEXTS[reason];
  const found = cases.find(
    ({ name, judgement }) => judgement.reason === reason && (example === undefined || example === name),
  );
  if (found === undefined) throw new Error(`test/cases/${caseFile(reason)} has no such case of ${reason}.`);
  return found;
}

export function addReasons(pages: Pages): void {
  for (const reason of ALL_REASONS) {
    const cases = judgedCases(reason);
    const shown = shownCase(reason, cases);
    pages.set(`reasons/${reason}.md`, reasonPage(reason, shown, cases));
    pages.set(`reasons/${reason}.json`, `${JSON.stringify(shown.document, null, 2)}\n`);
  }
  pages.set('reasons/README.md', indexPage());
}

function indexPage(): string {
  const groups = [...VERDICTS, 'none' as const].map((verdict) =>
    section(
      verdict === 'none' ? 'No verdict' : verdict,
      verdict === 'none' ? NO_VERDICT_TEXT : `See ${link(code(verdict), `../verdicts/${verdict}.md`)}.`,
      table(
        ['Reason', 'Means'],
        REASONS[verdict].map((reason) => [link(code(reason), `${reason}.md`), REASON_TEXTS[reason].means]),
      ),
    ),
  );
  return page(
    'Reasons',
    `Every judgement has one reason. The order in which they are asked is ${link('the order of decision', '../verdicts/README.md#the-order-of-decision')}.`,
    ...groups,
  );
}

function reasonPage(reason: Reason, shown: JudgedCase, cases: readonly JudgedCase[]): string {
  const text = REASON_TEXTS[reason];
  const verdict = verdictOf(reason);
  const step = ORDER_OF_DECISION.find(({ reasons }) => reasons.includes(reason));
  const standing = verdict === null ? 'No verdict' : `Verdict ${link(code(verdict), `../verdicts/${verdict}.md`)}`;
  const order = link(`step ${step?.step ?? ''}`, '../verdicts/README.md#the-order-of-decision');
  const scope =
    text.withoutContract === true
      ? 'also for a workflow type without a contract'
      : 'only for a workflow type with a contract';
  return page(
    code(reason),
    text.means,
    `${standing} · ${order} of the order of decision · ${scope}`,
    section('What decides it', text.decidedBy, limitsTable(text.limits)),
    section('What to do first', text.first, advice(verdict, reason)),
    section('What would change it', text.changes),
    section('Example', ...example(reason, shown)),
    section('Cases', ...casesBlocks(reason, cases)),
  );
}

/** The safe action, and what must not be done with the reason why. */
function advice(verdict: Verdict | null, reason: Reason): string {
  const { safeAction, forbidden } = adviceFor(verdict, reason);
  const { beware } = REASON_TEXTS[reason];
  return [
    `Safe action: ${code(safeAction)}. ${ACTION_TEXTS[safeAction]}`,
    beware,
    ...(forbidden.length === 0
      ? []
      : [
          'Forbidden:',
          list(forbidden.map((what) => `${code(what)}: ${FORBIDDEN_TEXTS[what].what}. ${FORBIDDEN_TEXTS[what].why}`)),
        ]),
  ].join('\n\n');
}

function limitsTable(limits: readonly Limit[]): string {
  return table(
    ['Limit', 'Contract', 'Policy', 'Default'],
    limits.map(({ says, contract, policy, otherwise }) => [
      says,
      contract === undefined ? '–' : code(contract),
      policy === undefined ? '–' : code(policy),
      policy === undefined ? (otherwise ?? '–') : defaultOf(policy),
    ]),
  );
}

function defaultOf(path: PolicyPath): string {
  const value = path
    .split('.')
    .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>>)[part], DEFAULT_POLICY);
  if (Array.isArray(value)) return value.map((word) => code(String(word))).join(', ');
  return path.endsWith('Ms') ? lengthOf(Number(value)) : String(value);
}

function example(reason: Reason, { name, judgement }: JudgedCase): readonly string[] {
  const { verdict, message, decisive, judgedAtMs } = judgement;
  return [
    `${link(`${reason}.json`, `${reason}.json`)} is an evidence document: ${quoted(name)}.`,
    fenced('sh', `temporal-health classify docs/reference/reasons/${reason}.json -o text`),
    `says ${code(`${verdict ?? 'no verdict'}: ${reason}`)}, judged at ${isoTime(judgedAtMs) ?? ''}: “${quoted(message)}” Decided by:`,
    table(
      ['What', 'Field', 'Value'],
      decisive.map((fact) => [code(fact.ref), code(fact.field), valueOf(fact, judgedAtMs)]),
    ),
  ];
}

function valueOf(fact: Fact, nowMs: number): string {
  const { value } = fact;
  const kind = factKind(fact);
  if (typeof value !== 'number' || kind === 'value') return code(String(value));
  if (kind === 'length') return lengthOf(value);
  const distance =
    value === nowMs ? 'now' : `${lengthOf(Math.abs(nowMs - value))} ${value < nowMs ? 'before' : 'ahead'}`;
  return `${isoTime(value) ?? ''} (${distance})`;
}

function casesBlocks(reason: Reason, cases: readonly JudgedCase[]): readonly string[] {
  const file = caseFile(reason);
  return [
    `All cases of ${link(`test/cases/${file}`, `../../../test/cases/${file}`)}, as they are judged:`,
    table(
      ['Case', 'Judged'],
      cases.map(({ name, judgement: { verdict, reason: decided } }) => {
        const word = `${verdict ?? 'no verdict'}: ${code(decided)}`;
        return [
          quoted(name),
          decided === reason ? `**${word}**` : `${verdict ?? 'no verdict'}: ${link(code(decided), `${decided}.md`)}`,
        ];
      }),
    ),
  ];
}
