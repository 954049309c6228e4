import { expect, test } from 'vitest';
import { readSourceCheckInput } from '../../../workflows/agents/source-check-input.ts';

test.each([
  [{ document: 'notes/list.md' }],
  [{ document: 'https://a.example/list.md', base: 'https://a.example/', concurrency: 1, timeoutSeconds: 60 }],
])('%j starts a check', (input) => {
  expect(readSourceCheckInput(input)).toEqual({ valid: true, input });
});

test.each([
  ['nothing', undefined, 'input'],
  ['null', null, 'input'],
  ['text', 'notes/list.md', 'input'],
  ['a list', ['notes/list.md'], 'input'],
  ['no document', {}, 'document'],
  ['an empty document', { document: '  ' }, 'document'],
  ['a number as document', { document: 7 }, 'document'],
  ['a NUL byte', { document: 'a\0b' }, 'document'],
  ['a long one', { document: 'x'.repeat(3_000) }, 'document'],
  ['a misspelt field', { document: 'a.md', concurency: 3 }, 'concurency'],
  ['a base that is no address', { document: 'a.md', base: 'file:///' }, 'base'],
  ['too many at once', { document: 'a.md', concurrency: 21 }, 'concurrency'],
  ['half at once', { document: 'a.md', concurrency: 0.5 }, 'concurrency'],
  ['a timeout as text', { document: 'a.md', timeoutSeconds: '10' }, 'timeoutSeconds'],
])('%s is refused with its field', (_name, given, field) => {
  expect(readSourceCheckInput(given)).toMatchObject({ valid: false, field });
});
