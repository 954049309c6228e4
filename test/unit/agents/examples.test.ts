import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Looker } from '../../../activities/agents/source-check/look.ts';
import { takeInventory } from '../../../activities/agents/source-check/sources.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = 'examples/documents';

/** Looks at what can be looked at without a network: anchors, footnotes and files. */
async function brokenInside(name: string): Promise<{ links: number; broken: string[] }> {
  const path = `${FOLDER}/${name}`;
  const { sources, links, document } = takeInventory(readFileSync(`${ROOT}${path}`, 'utf8'), { kind: 'file', path });
  const looker = new Looker(document, {
    documentRoot: ROOT,
    allowedHosts: [],
    timeoutMs: 1,
    maximumBytes: 5_000_000,
    signal: new AbortController().signal,
  });
  const broken: string[] = [];
  for (const source of sources) {
    if (source.target.kind === 'address') continue;
    const { finding } = await looker.look(source);
    if (finding.outcome !== 'ok') broken.push(source.key);
  }
  return { links, broken };
}

describe('the example documents', () => {
  const names = readdirSync(`${ROOT}${FOLDER}`).filter((name) => name !== 'demonstration.md');

  test.each(names)('%s is long, and nothing inside of it is broken', async (name) => {
    const { links, broken } = await brokenInside(name);
    expect(links).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });

  test('the demonstration has a link of every kind of trouble', () => {
    const text = readFileSync(`${ROOT}${FOLDER}/demonstration.md`, 'utf8');
    for (const page of ['/slow', '/flapping', '/silent', '/old-guide', '/ring', '/members', '/withdrawn', '/nowhere']) {
      expect(text).toContain(`](${page}`);
    }
  });
});
