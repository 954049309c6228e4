/**
 * Where a source check keeps things below the output root:
 *
 *     <id>.json, <id>.md                         the report, at its promised destination
 *     .source-check/<id>/document.md             the document as it was read at the start
 *     .source-check/<id>/<runId>/range-<n>.json  findings so far, so that a retry goes on where the last attempt was
 *
 * Several workers of one task queue must share the output root.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { SourceFinding } from './finding.ts';

export interface RunPlace {
  readonly jsonName: string;
  readonly markdownName: string;
  readonly json: string;
  readonly markdown: string;
  readonly document: string;
  readonly rangeFolder: string;
  readonly range: (from: number) => string;
}

const LONGEST_NAME = 180;

/** A workflow id as a file name: itself where it can be, else encoded so that two ids never share a name. */
export function fileNameOf(workflowId: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(workflowId) && workflowId.length <= LONGEST_NAME) return workflowId;
  const encoded = encodeURIComponent(workflowId).replace(/^\./, '%2E').replaceAll('*', '%2A');
  if (encoded.length <= LONGEST_NAME) return encoded;
  return `${encoded.slice(0, 100)}%${createHash('sha256').update(workflowId).digest('hex').slice(0, 32)}`;
}

export function placeOf(outputRoot: string, run: { readonly workflowId: string; readonly runId: string }): RunPlace {
  const name = fileNameOf(run.workflowId);
  const own = join(outputRoot, '.source-check', name);
  const rangeFolder = join(own, run.runId);
  return {
    jsonName: `${name}.json`,
    markdownName: `${name}.md`,
    json: join(outputRoot, `${name}.json`),
    markdown: join(outputRoot, `${name}.md`),
    document: join(own, 'document.md'),
    rangeFolder,
    range: (from) => join(rangeFolder, `range-${from}.json`),
  };
}

/** Findings of earlier runs of this workflow id: their reports were replaced or will be. */
export async function removeEarlierRuns({ rangeFolder }: RunPlace): Promise<void> {
  const names = await readdir(dirname(rangeFolder)).catch(() => []);
  const earlier = names.filter((name) => name !== basename(rangeFolder) && !name.startsWith('document.md'));
  for (const name of earlier) await rm(join(dirname(rangeFolder), name), { recursive: true, force: true });
}

/** Written beside its place and put there whole: a reader sees the old content or the new one. */
export async function writeWhole(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  const file = await open(draft, 'wx', 0o644);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Findings of one range by the source's place in the inventory. */
export interface RangeState {
  readonly documentDigest: string;
  /** Settled: not asked again. */
  readonly findings: Readonly<Record<string, SourceFinding>>;
  /** Not settled: the last look, with the number of tries so far. */
  readonly open: Readonly<Record<string, SourceFinding>>;
}

/** What an earlier attempt kept of this document; nothing where there is none or where it cannot be read. */
export async function readRange(path: string, documentDigest: string): Promise<RangeState> {
  const nothing: RangeState = { documentDigest, findings: {}, open: {} };
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as RangeState;
    return kept.documentDigest === documentDigest ? kept : nothing;
  } catch {
    return nothing; // Asking again costs a few requests; taking a broken file for findings would cost the truth.
  }
}
