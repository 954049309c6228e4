/** The reference against the closed lists, the rules, the schemas and the files that it names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { outdatedPages, renderReference } from '../../bin/dev/reference.ts';
import { renderSchemas, SCHEMA_BASE } from '../../bin/dev/schemas.ts';
import { classify } from '../../health/classify.ts';
import type { EvidenceDocument } from '../../health/evidence.ts';
import { parseEvidence } from '../../health/parse.ts';
import { FINDING_TEXTS } from '../../health/reference/findings.ts';
import { REASON_TEXTS } from '../../health/reference/reasons.ts';
import { RECEIPT_EXAMPLES } from '../../health/reference/receipts.ts';
import { ORDER_OF_DECISION } from '../../health/reference/verdicts.ts';
import { ALL_REASONS, VERDICTS } from '../../health/verdict.ts';
import type { Reason } from '../../health/verdict.ts';
import { ERROR_CODES } from '../../receipts/errors.ts';
import { parseReceipt } from '../../receipts/parse.ts';
import { RECEIPT_KINDS } from '../../receipts/receipt.ts';
import { caseFiles, readCases } from '../cases/case-file.ts';
import { evidenceOf } from '../support/evidence.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const pages = await renderReference();

const ajv = new Ajv2020({ strict: true, allErrors: true });
for (const text of renderSchemas().values()) ajv.addSchema(JSON.parse(text) as object);
const faultsOf = (schema: string, value: unknown): unknown => {
  ajv.validate(`${SCHEMA_BASE}${schema}.json`, value);
  return ajv.errors ?? [];
};

const judged = ['six-cases.json', ...caseFiles('public/'), ...caseFiles('reasons/')].flatMap((file) =>
  readCases(file).map(({ name, given }) => {
    const document = evidenceOf(given);
    return { at: `${file}: ${name}`, document, judgement: classify(document, document.policy, document.nowMs) };
  }),
);

describe('the pages', () => {
  test('are the committed files', async () => {
    expect(await outdatedPages(pages)).toEqual([]);
  });

  test('that are missing, changed or left over are named', async () => {
    const path = 'README.md';
    const text = pages.get(path) ?? '';
    const already = await outdatedPages(pages);
    const newly = async (...entries: [string, string][]): Promise<string[]> =>
      (await outdatedPages(new Map(entries))).filter((outdated) => !already.includes(outdated));
    const others = [...pages].filter(([other]) => other !== path);
    expect(await newly(...others)).toEqual([path]);
    expect(await newly(...others, [path, `${text}\n`])).toEqual([path]);
    expect(await newly(...pages, ['reasons/bored.md', ''])).toEqual(['reasons/bored.md']);
  });

  test.each([
    ['verdicts', VERDICTS],
    ['reasons', ALL_REASONS],
    ['receipts', RECEIPT_KINDS],
    ['errors', ERROR_CODES],
  ] as const)('of %s are one for each entry, and none for anything else', (folder, entries) => {
    const there = readdirSync(join(ROOT, 'docs/reference', folder)).filter((name) => name.endsWith('.md'));
    expect(there.sort()).toEqual(['README.md', ...entries.map((entry) => `${entry}.md`)].sort());
    const index = pages.get(`${folder}/README.md`) ?? '';
    expect(entries.filter((entry) => !index.includes(`](${entry}.md)`))).toEqual([]);
  });
});

describe('examples', () => {
  test.each(ALL_REASONS)('%s: its document is valid and is judged so', (reason) => {
    const value = JSON.parse(pages.get(`reasons/${reason}.json`) ?? '') as unknown;
    expect(faultsOf('evidence.v1', value)).toEqual([]);
    const document = parseEvidence(value);
    expect(classify(document, document.policy, document.nowMs).reason).toBe(reason);
  });

  test.each(RECEIPT_KINDS)('%s: each JSON block of its page is a receipt that is taken', (kind) => {
    const blocks = tokensOf(pages.get(`receipts/${kind}.md`) ?? '').filter(({ info }) => info === 'json');
    expect(blocks).toHaveLength(1);
    for (const { content } of blocks) {
      const value = JSON.parse(content) as unknown;
      expect(faultsOf('receipt.v1', value)).toEqual([]);
      expect(parseReceipt(value)).toEqual(RECEIPT_EXAMPLES[kind]);
    }
  });

  test('every field of a receipt says what it means', () => {
    const bare = RECEIPT_KINDS.flatMap((kind) => rowsOf(`receipts/${kind}.md`, 'Field'))
      .concat(rowsOf('receipts/README.md', 'Field'))
      .filter((cells) => cells.some((cell) => cell === ''));
    expect(bare).toEqual([]);
  });
});

describe('texts against rules', () => {
  test('the order of decision has every reason once', () => {
    expect(ORDER_OF_DECISION.flatMap(({ reasons }) => reasons).sort()).toEqual([...ALL_REASONS].sort());
  });

  test('a reason that lost is never asked before the one that decided', () => {
    // Unread sources are asked about in three steps; the list and Describe may differ without a rule.
    const severalSteps = ['evidence-unread', 'sources-disagree', 'wait'];
    const wrong = judged.flatMap(({ at, judgement: { reason, findings } }) =>
      findings
        .filter(({ finding }) => !severalSteps.includes(finding) && !severalSteps.includes(reason))
        .filter(({ finding }) => placeOf(finding) >= 0 && placeOf(finding) < placeOf(reason))
        .map(({ finding }) => `${at}: ${finding} before ${reason}`),
    );
    expect(wrong).toEqual([]);
  });

  test('a reason is given without a contract where its text says so, and nowhere else', () => {
    const given = new Set<Reason>(
      judged.flatMap(({ document }) => {
        const bare = { ...document, contract: null };
        // A retry that Temporal's own expiry leaves no time for is in no case without a contract.
        return [bare, expiringSoon(bare)].map((each) => classify(each, each.policy, each.nowMs).reason);
      }),
    );
    const said = ALL_REASONS.filter((reason) => REASON_TEXTS[reason].withoutContract === true);
    expect([...given].sort()).toEqual([...said].sort());
  });

  test('every finding of every case has a text, and every text a case', () => {
    const words = judged.flatMap(({ judgement }) => judgement.findings.map(({ finding }) => finding));
    const reasons: readonly string[] = ALL_REASONS;
    const own = [...new Set(words)].filter((word) => !reasons.includes(word) || word === 'sources-disagree');
    expect(own.sort()).toEqual(Object.keys(FINDING_TEXTS).sort());
  });

  function placeOf(reason: string): number {
    return ORDER_OF_DECISION.flatMap(({ reasons }): readonly string[] => reasons).indexOf(reason);
  }
});

describe('links', () => {
  const documents = [
    ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
  ];

  test('there are documents to look at', () => {
    expect(documents).toContain('README.md');
    expect(documents.length).toBeGreaterThan(ALL_REASONS.length + ERROR_CODES.length);
  });

  test('every relative one leads to a file, and to a heading of it', () => {
    expect(documents.flatMap(deadLinks)).toEqual([]);
  });

  test('a dead one is found', () => {
    expect(deadLinksOf('[a](missing.md) [b](README.md#no-such-heading) [c](README.md#six-verdicts)', 'x.md')).toEqual([
      'x.md: missing.md',
      'x.md: README.md#no-such-heading',
    ]);
  });
});

function expiringSoon(document: EvidenceDocument): EvidenceDocument {
  const { temporal, nowMs } = document;
  if (temporal.source !== 'describe') return document;
  return { ...document, temporal: { ...temporal, describe: { ...temporal.describe, expiresAtMs: nowMs + 60_000 } } };
}

const parser = new MarkdownIt();

function tokensOf(text: string): readonly Token[] {
  return parser.parse(text, {}).flatMap((token) => [token, ...(token.children ?? [])]);
}

function deadLinks(document: string): readonly string[] {
  return deadLinksOf(readFileSync(join(ROOT, document), 'utf8'), document);
}

function deadLinksOf(text: string, document: string): readonly string[] {
  const links = tokensOf(text).flatMap((token) => String(token.attrGet('href') ?? token.attrGet('src') ?? ''));
  return links
    .filter((href) => href !== '' && !/^[a-z]+:/i.test(href) && !leads(href, join(ROOT, document)))
    .map((href) => `${relative(ROOT, join(ROOT, document))}: ${href}`);
}

function leads(href: string, from: string): boolean {
  const [path = '', anchor] = decodeURI(href).split('#');
  const target = path === '' ? from : resolve(dirname(from), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || headingsOf(readFileSync(target, 'utf8')).includes(anchor);
}

function headingsOf(text: string): readonly string[] {
  const slugger = new GithubSlugger();
  const tokens = parser.parse(text, {});
  return tokens.flatMap((token, at) =>
    token.type === 'heading_open' ? [slugger.slug((tokens[at + 1]?.content ?? '').replaceAll('`', ''))] : [],
  );
}

/** The cells of each row of the table whose head begins with this word. */
function rowsOf(path: string, head: string): string[][] {
  const lines = (pages.get(path) ?? '').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} `));
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
