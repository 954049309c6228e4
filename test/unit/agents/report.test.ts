import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { finding } from '../../../activities/agents/source-check/finding.ts';
import { readDocument } from '../../../activities/agents/source-check/links.ts';
import { fileNameOf, placeOf } from '../../../activities/agents/source-check/place.ts';
import { recount } from '../../../activities/agents/source-check/recount.ts';
import {
  makeReport,
  reportAsJson,
  reportAsMarkdown,
  verifiedSet,
} from '../../../activities/agents/source-check/report.ts';
import type { SourceReport } from '../../../activities/agents/source-check/report.ts';
import { takeInventory } from '../../../activities/agents/source-check/sources.ts';
import { digestText } from '../../../receipts/digest.ts';
import type { OpenedDocument } from '../../../workflows/agents/source-check-messages.ts';
import { folder } from '../checks/checking.ts';

const TEXT =
  '# List\n\n[a](https://a.example/) [b](https://b.example/#x) [a again](https://a.example/) [mail](mailto:a@b.example)\n';
const RUN = { workflowId: 'check-1', runId: 'run-1', writtenAtMs: 0 };

function reported(text = TEXT, readFrom: OpenedDocument['readFrom'] = 'file') {
  const documentRoot = folder();
  const outputRoot = folder();
  const place = { kind: 'file', path: 'list.md' } as const;
  const inventory = takeInventory(text, place);
  const document: OpenedDocument = {
    name: 'list.md',
    readFrom,
    place,
    digest: digestText(text),
    sizeBytes: Buffer.byteLength(text),
    headings: 1,
    links: inventory.links,
    sources: inventory.sources.length,
  };
  const path = readFrom === 'file' ? join(documentRoot, 'list.md') : placeOf(outputRoot, RUN).document;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const findings = new Map(inventory.sources.map((_source, index) => [index, finding('ok', null)]));
  const report = makeReport(RUN, document, inventory, findings);
  return { report, roots: { documentRoot, outputRoot }, path, inventory, findings };
}

const count = (report: SourceReport, roots: Parameters<typeof recount>[1], run: Partial<typeof RUN> = {}) =>
  recount({ content: Buffer.from(reportAsJson(report)), ...RUN, signal: undefined, ...run }, roots);

describe('the recount reads the document by itself', () => {
  test.each(['file', 'address'] as const)('a whole report of a document read from %s', async (readFrom) => {
    const { report, roots } = reported(TEXT, readFrom);
    expect(await count(report, roots)).toEqual({ counted: true, expected: 3, accepted: 3 });
  });

  test('a source that was left out, a place that was left out, an invented outcome', async () => {
    const { report, roots } = reported();
    const [first, ...rest] = report.sources;
    const sources = (changed: Partial<typeof first>) => ({ ...report, sources: [{ ...first!, ...changed }, ...rest] });
    expect(await count({ ...report, sources: rest }, roots)).toMatchObject({ expected: 3, accepted: 2 });
    expect(await count(sources({ occurrences: [] }), roots)).toMatchObject({ expected: 3, accepted: 2 });
    expect(await count(sources({ outcome: 'fine' as never }), roots)).toMatchObject({ expected: 3, accepted: 2 });
    expect(await count(sources({ cause: 'timeout' }), roots)).toMatchObject({ expected: 3, accepted: 2 });
  });

  test('numbers that the report states of itself are not believed', async () => {
    const { report, roots } = reported();
    const boasting = { ...report, summary: { ...report.summary, sources: 1 }, sources: report.sources.slice(0, 1) };
    expect(await count(boasting, roots)).toMatchObject({ expected: 3, accepted: 1 });
  });

  test('a report of another run or workflow', async () => {
    const { report, roots } = reported();
    const other = { counted: false, result: 'fail', cause: 'other-run' };
    expect(await count(report, roots, { runId: 'run-0' })).toEqual(other);
    expect(await count(report, roots, { workflowId: 'check-2' })).toEqual(other);
  });

  test('a document that changed since, and one that is gone', async () => {
    const { report, roots, path } = reported();
    writeFileSync(path, `${TEXT}[one more](https://c.example/)\n`);
    expect(await count(report, roots)).toEqual({ counted: false, result: 'fail', cause: 'document-changed' });
    expect(await count(report, { ...roots, documentRoot: folder() })).toMatchObject({ result: 'unread' });
    expect(await count(report, { ...roots, documentRoot: null })).toMatchObject({ result: 'unread' });
  });

  test('what is no report', async () => {
    const { roots } = reported();
    for (const text of ['done', '{}', 'null', '[]', '{"schemaVersion":1,"kind":"source-check-report"}']) {
      const counted = await recount({ content: Buffer.from(text), ...RUN, signal: undefined }, roots);
      expect(counted, text).toEqual({ counted: false, result: 'fail', cause: 'not-a-report' });
    }
  });

  test('a document without links has nothing to cover', async () => {
    const { report, roots } = reported('# Nothing here\n');
    expect(await count(report, roots)).toEqual({ counted: true, expected: 0, accepted: 0 });
  });
});

test('the verified set changes with an outcome, not with the page behind it or the order of the findings', () => {
  const { inventory, findings } = reported();
  const set = verifiedSet(inventory, findings);
  const reversed = new Map([...findings].reverse());
  const otherPage = new Map(findings).set(0, finding('ok', null, { digest: digestText('another day'), tries: 3 }));
  const otherOutcome = new Map(findings).set(0, finding('broken', 'status-404'));
  expect(verifiedSet(inventory, reversed)).toBe(set);
  expect(verifiedSet(inventory, otherPage)).toBe(set);
  expect(verifiedSet(inventory, otherOutcome)).not.toBe(set);
});

test('the Markdown report shows what strangers wrote as text, and is itself read without their links', () => {
  const { report } = reported('[x](<https://a.example/|`](https://evil.example/)>) and [^ghost]\n\n\u202e');
  const written = reportAsMarkdown(report);
  expect(written).toContain('| source | lines | what was found |');
  expect(readDocument(written).links).toEqual([]);
});

test('workflow ids become file names that stay below the root and never collide', () => {
  const ids = [
    'check-1',
    'a/b',
    'a%2Fb',
    '../x',
    '.',
    '..',
    '.hidden',
    'A b',
    'x'.repeat(1_000),
    `${'x'.repeat(999)}y`,
    'é*',
  ];
  const names = ids.map(fileNameOf);
  expect(names[0]).toBe('check-1');
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) {
    expect(name).toMatch(/^[^./][^/\\]*$/);
    expect(name.length).toBeLessThan(200);
  }
});
