/** A page for each verdict, the order of decision, and what findings mean. */
import { adviceFor } from '../../../health/actions.ts';
import { FINDING_TEXTS } from '../../../health/reference/findings.ts';
import { REASON_TEXTS } from '../../../health/reference/reasons.ts';
import {
  ACTION_TEXTS,
  FORBIDDEN_TEXTS,
  NO_VERDICT_TEXT,
  ORDER_OF_DECISION,
  VERDICT_TEXTS,
} from '../../../health/reference/verdicts.ts';
import { ACTIONS, FORBIDDEN, REASONS, VERDICTS, VERDICTS_BY_SEVERITY } from '../../../health/verdict.ts';
import type { Reason, Verdict } from '../../../health/verdict.ts';
import { code, link, list, numbered, page, section, table } from './markdown.ts';
import type { Pages } from './markdown.ts';

const reasonLink = (reason: Reason): string => link(code(reason), `../reasons/${reason}.md`);

export function addVerdicts(pages: Pages): void {
  for (const verdict of VERDICTS) pages.set(`verdicts/${verdict}.md`, verdictPage(verdict));
  pages.set('verdicts/README.md', indexPage());
  pages.set('findings.md', findingsPage());
}

/** The reason under which a verdict's own advice holds: none of those with advice of their own. */
function adviceOf(verdict: Verdict): ReturnType<typeof adviceFor> {
  return adviceFor(verdict, REASONS[verdict][0]);
}

function forbiddenWords(verdict: Verdict): string {
  const { forbidden } = adviceOf(verdict);
  return forbidden.length === 0 ? '–' : forbidden.map(code).join(', ');
}

function verdictPage(verdict: Verdict): string {
  const text = VERDICT_TEXTS[verdict];
  const { safeAction, forbidden } = adviceOf(verdict);
  const others = REASONS[verdict].filter((reason) => adviceFor(verdict, reason).safeAction !== safeAction);
  return page(
    verdict,
    text.means,
    table(
      ['Decisive evidence', 'Safe action', 'Forbidden'],
      [[text.decisiveEvidence, text.safeAction, forbiddenWords(verdict)]],
    ),
    section('When it is given', text.order),
    section('What to do first', text.first, `Safe action: ${code(safeAction)}. ${ACTION_TEXTS[safeAction]}`),
    forbidden.length === 0
      ? ''
      : section(
          'What not to do',
          list(forbidden.map((what) => `${code(what)}: ${FORBIDDEN_TEXTS[what].what}. ${FORBIDDEN_TEXTS[what].why}`)),
        ),
    ...others.map((reason) => exception(verdict, reason)),
    section('What would change it', text.changes),
    section(
      'Reasons',
      table(
        ['Reason', 'Means'],
        REASONS[verdict].map((reason) => [reasonLink(reason), REASON_TEXTS[reason].means]),
      ),
    ),
  );
}

function exception(verdict: Verdict, reason: Reason): string {
  const { safeAction, forbidden } = adviceFor(verdict, reason);
  return `Under ${reasonLink(reason)} the safe action is ${code(safeAction)} instead (${ACTION_TEXTS[safeAction].replace(/\.$/, '')}), and forbidden is ${forbidden.map(code).join(', ')}.`;
}

function indexPage(): string {
  return page(
    'Verdicts',
    'Six verdicts, worst first. A judgement has one of them, or none with a reason that says why.',
    table(
      ['Verdict', 'Decisive evidence', 'Safe action', 'Forbidden'],
      VERDICTS_BY_SEVERITY.map((verdict) => [
        link(verdict, `${verdict}.md`),
        VERDICT_TEXTS[verdict].decisiveEvidence,
        VERDICT_TEXTS[verdict].safeAction,
        forbiddenWords(verdict),
      ]),
    ),
    NO_VERDICT_TEXT,
    section(
      'The order of decision',
      'The first that decides wins. What loses stays in the findings under its own word. The same evidence, policy and moment give the same judgement.',
      numbered(
        ORDER_OF_DECISION.map(
          ({ title, says, reasons }) =>
            `**${title}.** ${says}${reasons.length === 0 ? '' : ` Asked in this order: ${reasons.map(reasonLink).join(', ')}.`}`,
        ),
      ),
      'A deadline equal to now is late. A sum equal to what is left is allowed.',
    ),
    section(
      'Safe actions',
      table(
        ['Word', 'What to do'],
        ACTIONS.map((action) => [code(action), ACTION_TEXTS[action]]),
      ),
    ),
    section(
      'Forbidden',
      table(
        ['Word', 'What not to do', 'Why'],
        FORBIDDEN.map((what) => [code(what), FORBIDDEN_TEXTS[what].what, FORBIDDEN_TEXTS[what].why]),
      ),
    ),
  );
}

function findingsPage(): string {
  return page(
    'Findings',
    `What was seen and did not decide. A finding never changes a verdict. Beside these, every reason that lost is a finding under ${link('its own word', 'reasons/README.md')}.`,
    table(
      ['Finding', 'Means'],
      Object.entries(FINDING_TEXTS).map(([finding, means]) => [code(finding), means]),
    ),
  );
}
