/**
 * The reference: a page for each receipt, verdict, reason and error code. `npx tsx bin/dev/reference.ts` writes
 * `docs/reference/`, `--check` says which files differ and exits 1.
 *
 * The texts are data in `health/reference/`, typed by the closed lists. Types, limits, defaults, actions and exit codes come
 * from the code itself, and the examples are cases of `test/cases/reasons/`, judged here.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { addErrors } from './reference/errors.ts';
import { link, page, table } from './reference/markdown.ts';
import type { Pages } from './reference/markdown.ts';
import { addReasons } from './reference/reasons.ts';
import { addReceipts } from './reference/receipts.ts';
import { addVerdicts } from './reference/verdicts.ts';

const FOLDER = new URL('../../docs/reference/', import.meta.url);

/** Path below `docs/reference/` and text of every page and of every example beside one. */
export async function renderReference(): Promise<ReadonlyMap<string, string>> {
  const pages: Pages = new Map([['README.md', indexPage()]]);
  addVerdicts(pages);
  addReasons(pages);
  addReceipts(pages);
  addErrors(pages);
  const options = await resolveConfig(fileURLToPath(import.meta.url));
  const formatted: [string, string][] = [];
  for (const [path, text] of pages) {
    const parser = path.endsWith('.json') ? 'json' : 'markdown';
    formatted.push([path, await format(text, { ...options, parser })]);
  }
  return new Map(formatted);
}

function indexPage(): string {
  return page(
    'Reference',
    table(
      ['List', 'For'],
      [
        [link('Verdicts', 'verdicts/README.md'), 'the six verdicts, the order of decision, safe and forbidden actions'],
        [link('Reasons', 'reasons/README.md'), 'what decides each, what to do first, and an example that runs'],
        [link('Findings', 'findings.md'), 'what is shown and never decides'],
        [link('Receipts', 'receipts/README.md'), 'the four receipts, field by field, and what they prove'],
        [link('Errors', 'errors/README.md'), 'every error code, and the exit codes of the command'],
      ],
    ),
  );
}

/** Every file that is there now. */
async function committed(): Promise<readonly string[]> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true }).catch(() => []);
  const root = fileURLToPath(FOLDER);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length).replace(/^\//, ''));
}

/** Files of `docs/reference/` that are missing, not what the code says, or no page of any list. */
export async function outdatedPages(rendered: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const outdated = (await committed()).filter((path) => !rendered.has(path));
  for (const [path, text] of rendered) {
    const there = await readFile(new URL(path, FOLDER), 'utf8').catch(() => null);
    if (there !== text) outdated.push(path);
  }
  return outdated.sort();
}

async function main(): Promise<void> {
  const rendered = await renderReference();
  const outdated = await outdatedPages(rendered);
  if (process.argv.includes('--check')) {
    for (const path of outdated) {
      console.error(`docs/reference/${path} is not what the code says: npx tsx bin/dev/reference.ts`);
    }
    process.exitCode = outdated.length === 0 ? 0 : 1;
    return;
  }
  for (const path of outdated) {
    const place = new URL(path, FOLDER);
    const text = rendered.get(path);
    if (text === undefined) await rm(place);
    else {
      await mkdir(dirname(fileURLToPath(place)), { recursive: true });
      await writeFile(place, text);
    }
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
