import { describe, expect, test } from 'vitest';
import { htmlAnchors, readDocument } from '../../../activities/agents/source-check/links.ts';

const urls = (text: string): string[] => readDocument(text).links.map(({ kind, url }) => `${kind} ${url}`);

describe('what counts as a link', () => {
  test.each([
    ['inline', '[a](https://a.example/x "title")', ['inline https://a.example/x']],
    ['with brackets in it', '[a [b]](<https://a.example/(x)> )', ['inline https://a.example/(x)']],
    ['with entities', '[a](https://a.example/?a=1&amp;b=2)', ['inline https://a.example/?a=1&b=2']],
    ['full, collapsed and shortcut references', '[a][r], [r][] and [R]\n\n[r]: /r', Array(3).fill('reference /r')],
    ['an image in a link', '[![alt](i.png)](https://a.example/)', ['inline https://a.example/', 'image i.png']],
    ['an image by reference', '![alt][i]\n\n[i]: i.png', ['image i.png']],
    [
      'in angle brackets',
      '<https://a.example/> <ann@a.example>',
      ['autolink https://a.example/', 'autolink mailto:ann@a.example'],
    ],
    ['bare', 'see https://a.example/x. And README.md!', ['autolink https://a.example/x']],
    ['a definition that nobody uses', 'text\n\n[r]: /r', ['definition /r']],
    ['the first of two definitions', '[r]\n\n[r]: /one\n[r]: /two', ['reference /one']],
    ['a footnote with a link in it', 'a[^n]\n\n[^n]: see [b](/b)', ['footnote [^n]', 'inline /b']],
    ['a footnote that is not there', 'a[^gone]', ['footnote [^gone]']],
    ['HTML', '<a href="/h">x</a> <img src=\'i.png\' alt="p">', ['html /h', 'image i.png']],
    ['an HTML block', '<p>\n<a\nhref="/h">x</a></p>', ['html /h']],
    [
      'in a table, a list, a quote and a heading',
      '| a |\n|-|\n| [t](/t) |\n\n- [l](/l)\n\n> [q](/q)\n\n# [h](/h)',
      ['inline /t', 'inline /l', 'inline /q', 'inline /h'],
    ],
    [
      'a dangerous one',
      '[a](javascript:x) [b](file:///etc/passwd)',
      ['inline javascript:x', 'inline file:///etc/passwd'],
    ],
    ['an empty one', '[a]()', ['inline ']],
  ] as [string, string, string[]][])('%s', (_name, text, expected) => {
    expect(urls(text).sort()).toEqual(expected.sort());
  });

  test.each([
    ['code', '`[a](/a)` and\n\n```\n[b](/b)\nhttps://c.example\n```\n\n    [d](/d)\n'],
    ['a reference without definition', '[a][nowhere]'],
    ['escaped brackets', '\\[a](/a)'],
    ['a comment', '<!-- <a href="/x">x</a> -->'],
    ['index brackets', 'matrix[i][j]'],
  ])('%s does not', (_name, text) => {
    expect(urls(text)).toEqual([]);
  });
});

test('each link has its line and what a reader sees', () => {
  const { links } = readDocument('one\n\n[two  *words*](/two)\n\n![a picture](/p)\n');
  expect(links).toEqual([
    { kind: 'inline', url: '/two', label: 'two words', line: 3 },
    { kind: 'image', url: '/p', label: 'a picture', line: 5 },
  ]);
});

test('headings give the anchors that GitHub gives them, twice the same one is numbered', () => {
  const { anchors, headings } = readDocument(
    '# One & two!\n## Same\n## Same\nSetext\n===\n## `code` and [link](/x)\n## Grüße\n<a name="old"></a> <b id="new">x</b>\n',
  );
  expect(headings).toBe(6);
  expect([...anchors].sort()).toEqual(
    ['one--two', 'same', 'same-1', 'setext', 'code-and-link', 'grüße', 'old', 'new'].sort(),
  );
});

test('a long document with deep nesting and many links is read in one go', () => {
  const text = Array.from(
    { length: 2_000 },
    (_, n) => `## Part ${n}\n\n[l${n}](https://a.example/${n}#x) and [r${n}]\n`,
  ).join('\n');
  const definitions = Array.from({ length: 2_000 }, (_, n) => `[r${n}]: https://b.example/${n}`).join('\n');
  const read = readDocument(`${text}\n${definitions}\n\n${'> '.repeat(200)}deep`);
  expect(read.links).toHaveLength(4_000);
  expect(read.headings).toBe(2_000);
});

test('the anchors of a page are its ids and names, wherever they stand', () => {
  const page = '<p id=a><a name="b"></a><h2 id="user-content-c">C</h2><script>"<p id=no>"</script><!-- <p id=no> -->';
  expect([...htmlAnchors(page)].sort()).toEqual(['a', 'b', 'c', 'user-content-c']);
});
