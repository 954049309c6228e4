/**
 * The published JSON Schemas: `npx tsx bin/dev/schemas.ts` writes `schemas/`, `--check` says which files differ and exits 1.
 *
 * A schema that is published keeps its file and `$id`; what breaks documents written with it gets a new version.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { evidenceSchema, judgementSchema, policySchema } from '../../health/parse.ts';
import { contractSchema, receiptSchema } from '../../receipts/parse.ts';

interface Published {
  /** Name and version as in the file and the `$id`, e.g. `receipt.v1`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

/** One line for each; add yours here. */
const PUBLISHED: readonly Published[] = [
  {
    name: 'receipt.v1',
    title: 'Receipt',
    description:
      'One of the four receipts with its envelope, as an emitter sends it. Text, secrets, size (8 KiB of body) and nesting are checked beside this shape.',
    schema: receiptSchema,
  },
  {
    name: 'contract.v1',
    title: 'Contract',
    description:
      'What a workflow type owes: milestones, effects, deliverables and their checks, budgets. Durations in ms.',
    schema: contractSchema,
  },
  {
    name: 'evidence.v1',
    title: 'Evidence document',
    description:
      'All that a run is judged by, and what could not be read: `explain --export` writes it, `classify` reads it. Times in epoch ms.',
    schema: evidenceSchema,
  },
  {
    name: 'policy.v1',
    title: 'Policy',
    description: 'How long evidence stays fresh and what may be spent on a retry. Durations in ms.',
    schema: policySchema,
  },
  {
    name: 'judgement.v1',
    title: 'Judgement',
    description:
      'A verdict with the evidence that decided it, the safe action and the forbidden ones. Times in epoch ms.',
    schema: judgementSchema,
  },
];

const FOLDER = new URL('../../schemas/', import.meta.url);

export const SCHEMA_BASE = 'https://temporal-health.dev/schemas/';

/** File name and text of every published schema. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(PUBLISHED.map((published) => [`${published.name}.json`, render(published)]));
}

function render({ name, title, description, schema }: Published): string {
  const { $schema, ...shape } = z.toJSONSchema(schema, { target: 'draft-2020-12' });
  const document = { $schema, $id: `${SCHEMA_BASE}${name}.json`, title, description, ...shape };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Names of files in `schemas/` that are missing or not what the code says. */
export async function outdatedSchemas(): Promise<readonly string[]> {
  const outdated: string[] = [];
  for (const [file, text] of renderSchemas()) {
    const committed = await readFile(new URL(file, FOLDER), 'utf8').catch(() => null);
    if (committed !== text) outdated.push(file);
  }
  return outdated;
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const outdated = await outdatedSchemas();
    for (const file of outdated) console.error(`schemas/${file} is not what the code says: npx tsx bin/dev/schemas.ts`);
    process.exitCode = outdated.length === 0 ? 0 : 1;
    return;
  }
  for (const [file, text] of renderSchemas()) await writeFile(new URL(file, FOLDER), text);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
