import { describe, expect, test } from 'vitest';
import { findFragment, takeInventory } from '../../../activities/agents/source-check/sources.ts';
import type { Place } from '../../../workflows/agents/source-check-messages.ts';

const FILE: Place = { kind: 'file', path: 'notes/deep/list.md' };
const ADDRESS: Place = { kind: 'address', url: 'https://docs.example.org/guide/list.md' };
const target = (url: string, place: Place) => takeInventory(`[x](<${url}>)`, place).sources[0]?.target;

describe('a relative link of a file', () => {
  test.each([
    ['other.md', { kind: 'file', path: 'notes/deep/other.md', fragment: null }],
    ['../up.md#part', { kind: 'file', path: 'notes/up.md', fragment: 'part' }],
    ['/top.md?raw=1#a%20b', { kind: 'file', path: 'top.md', fragment: 'a b' }],
    ['with%20space.md', { kind: 'file', path: 'notes/deep/with space.md', fragment: null }],
    ['../../../etc/passwd', { kind: 'refused', cause: 'outside-root' }],
    ['..%2f..%2f..%2fetc/passwd', { kind: 'refused', cause: 'outside-root' }],
    ['/../etc/passwd', { kind: 'refused', cause: 'outside-root' }],
    ['#part', { kind: 'anchor', fragment: 'part' }],
    ['//cdn.example/x', { kind: 'address', url: 'https://cdn.example/x', fragment: null }],
  ])('%s', (url, expected) => {
    expect(target(url, FILE)).toEqual(expected);
  });
});

describe('a relative link of a document from the network, or with a base', () => {
  test.each([
    ['other.md', 'https://docs.example.org/guide/other.md'],
    ['/top', 'https://docs.example.org/top'],
    ['?q=1', 'https://docs.example.org/guide/list.md?q=1'],
    ['../../../up', 'https://docs.example.org/up'],
  ])('%s', (url, expected) => {
    expect(target(url, ADDRESS)).toEqual({ kind: 'address', url: expected, fragment: null });
  });
});

test.each([
  ['mailto:ann@example.org', { kind: 'skipped', cause: 'scheme-mailto' }],
  ['javascript:alert(1)', { kind: 'skipped', cause: 'scheme-javascript' }],
  ['data:text/plain,x', { kind: 'skipped', cause: 'scheme-data' }],
  ['file:///etc/passwd', { kind: 'refused', cause: 'scheme' }],
  ['FILE:///etc/passwd', { kind: 'refused', cause: 'scheme' }],
  ['http://', { kind: 'broken', cause: 'bad-address' }],
  ['https://exa mple.org/', { kind: 'broken', cause: 'bad-address' }],
  ['', { kind: 'broken', cause: 'empty-link' }],
  ['HTTPS://Example.ORG:443/a/../b#%zz', { kind: 'address', url: 'https://example.org/b', fragment: '%zz' }],
])('%s', (url, expected) => {
  expect(target(url, FILE)).toEqual(expected);
});

test('a source is listed once with all its places, in the order of the document', () => {
  const { sources, links } = takeInventory(
    '[a](https://a.example/) [b](https://b.example/#x)\n\n<https://a.example> [b](https://b.example/#y)',
    FILE,
  );
  expect(links).toBe(4);
  expect(sources.map(({ key, occurrences }) => [key, occurrences.length])).toEqual([
    ['https://a.example/', 2],
    ['https://b.example/#x', 1],
    ['https://b.example/#y', 1],
  ]);
});

test.each([
  ['part', true],
  ['PART', true],
  ['', true],
  ['top', true],
  ['part:~:text=words', true],
  [':~:text=words', true],
  ['gone', false],
  ['L12', null],
  ['L12-L20', null],
  ['/route', null],
])('fragment %s: %s', (fragment, found) => {
  expect(findFragment(fragment, new Set(['part']))).toBe(found);
});
