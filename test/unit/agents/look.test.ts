import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../bin/dev/processes.ts';
import { Looker } from '../../../activities/agents/source-check/look.ts';
import type { LookBounds } from '../../../activities/agents/source-check/look.ts';
import { takeInventory } from '../../../activities/agents/source-check/sources.ts';
import { folder, site } from '../checks/checking.ts';

async function lookAt(text: string, bounds: Partial<LookBounds> = {}) {
  const { sources, document } = takeInventory(text, { kind: 'file', path: 'list.md' });
  const looker = new Looker(document, {
    documentRoot: null,
    allowedHosts: [],
    timeoutMs: 2_000,
    maximumBytes: 10_000,
    signal: new AbortController().signal,
    ...bounds,
  });
  return Promise.all(sources.map((source) => looker.look(source)));
}

describe('an address', () => {
  test('is found with status, digest, size and fragment; HEAD comes first', async () => {
    const { origin, host, asked } = await site((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h2 id="part">Part</h2>');
    });
    const [whole, part, gone] = await lookAt(`[a](${origin}/p) [b](${origin}/p#part) [c](${origin}/p#gone)`, {
      allowedHosts: [host],
    });
    expect(whole).toMatchObject({
      final: true,
      finding: { outcome: 'ok', status: 200, sizeBytes: 23, fragment: null },
    });
    expect(whole?.finding.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(part?.finding).toMatchObject({ outcome: 'ok', fragment: 'found' });
    expect(gone?.finding).toMatchObject({ outcome: 'broken', cause: 'fragment-missing', status: 200 });
    expect(asked).toEqual(['HEAD /p', 'GET /p']);
  });

  test.each([
    [404, true, 'broken', 'status-404'],
    [410, true, 'broken', 'status-410'],
    [451, true, 'broken', 'status-451'],
    [401, true, 'restricted', 'status-401'],
    [403, true, 'restricted', 'status-403'],
    [429, false, 'unreachable', 'status-429'],
    [500, false, 'unreachable', 'status-500'],
    [503, false, 'unreachable', 'status-503'],
  ])('status %i: final %s, %s', async (status, final, outcome, cause) => {
    const { origin, host } = await site((_request, response) => response.writeHead(status).end());
    const [look] = await lookAt(`[a](${origin})`, { allowedHosts: [host] });
    expect(look).toMatchObject({ final, finding: { outcome, cause, status } });
  });

  test('a server that does not know HEAD is asked by GET', async () => {
    const { origin, host } = await site((request, response) => {
      if (request.method === 'HEAD') request.socket.destroy();
      else response.end('here');
    });
    expect(await lookAt(`[a](${origin})`, { allowedHosts: [host] })).toMatchObject([
      { final: true, finding: { outcome: 'ok', sizeBytes: 4 } },
    ]);
  });

  test('a large file is there and is not fetched', async () => {
    const { origin, host, asked } = await site((request, response) => {
      response.writeHead(200, { 'content-length': '20000' }).end(request.method === 'HEAD' ? '' : 'x'.repeat(20_000));
    });
    expect(await lookAt(`[a](${origin}/big#p)`, { allowedHosts: [host] })).toMatchObject([
      { finding: { outcome: 'ok', digest: null, sizeBytes: 20_000, fragment: 'not-checked' } },
    ]);
    expect(asked).toEqual(['HEAD /big']);
  });

  test('a page that comes compressed unasked is there, and its fragment is not checked', async () => {
    const { origin, host } = await site((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end('not to be read');
    });
    expect(await lookAt(`[a](${origin}/#part)`, { allowedHosts: [host] })).toMatchObject([
      { finding: { outcome: 'ok', fragment: 'not-checked' } },
    ]);
  });

  test('redirects are followed and told; a ring is broken', async () => {
    const { origin, host } = await site((request, response) => {
      if (request.url === '/old') response.writeHead(301, { location: '/new' }).end();
      else if (request.url === '/ring') response.writeHead(302, { location: '/ring' }).end();
      else response.end('new');
    });
    expect(await lookAt(`[a](${origin}/old) [b](${origin}/ring)`, { allowedHosts: [host] })).toMatchObject([
      { finding: { outcome: 'ok', status: 200, redirects: 1, finalUrl: `${origin}/new` } },
      { finding: { outcome: 'broken', cause: 'too-many-redirects' } },
    ]);
  });

  test('nobody there and no answer in time may be better in a minute', async () => {
    const silent = await site(() => undefined);
    const port = await freePort();
    const looks = await lookAt(`[a](http://127.0.0.1:${port}/) [b](${silent.origin})`, {
      allowedHosts: ['127.0.0.1'],
      timeoutMs: 50,
    });
    expect(looks).toMatchObject([
      { final: false, finding: { outcome: 'unreachable', cause: 'connection-refused' } },
      { final: false, finding: { outcome: 'unreachable', cause: 'timeout' } },
    ]);
  });

  test('internal addresses are not asked, also not by a redirect', async () => {
    const inner = await site((_request, response) => response.end('secret'));
    const outer = await site((_request, response) => response.writeHead(302, { location: inner.origin }).end());
    const looks = await lookAt(
      `[a](${inner.origin}/) [b](http://localhost:1/) [c](${outer.origin}/) [d](http://[::1]/)`,
      {
        allowedHosts: [outer.host],
      },
    );
    for (const look of looks) {
      expect(look).toMatchObject({ final: true, finding: { outcome: 'refused', cause: 'internal-address' } });
    }
    expect(inner.asked).toEqual([]);
  });
});

test('files below the root, their headings, folders, and what is outside', async () => {
  const root = folder();
  mkdirSync(join(root, 'sub'));
  writeFileSync(join(root, 'list.md'), '');
  writeFileSync(join(root, 'other.md'), '# A heading\n');
  writeFileSync(join(root, 'page.html'), '<p id=x>');
  const looks = await lookAt(
    '[a](other.md) [b](other.md#a-heading) [c](other.md#gone) [d](sub) [e](missing.md) [f](../out.md) [g](page.html#x)',
    { documentRoot: root },
  );
  expect(looks.map(({ finding }) => [finding.outcome, finding.cause, finding.fragment])).toEqual([
    ['ok', null, null],
    ['ok', null, 'found'],
    ['broken', 'fragment-missing', 'missing'],
    ['ok', null, null],
    ['broken', 'file-missing', null],
    ['refused', 'outside-root', null],
    ['ok', null, 'found'],
  ]);
});

test('anchors and footnotes of the document itself', async () => {
  const looks = await lookAt('# Here\n\n[a](#here) [b](#nowhere) c[^n] d[^gone]\n\n[^n]: note\n');
  expect(looks.map(({ finding }) => [finding.outcome, finding.cause])).toEqual([
    ['ok', null],
    ['broken', 'fragment-missing'],
    ['ok', null],
    ['broken', 'footnote-missing'],
  ]);
});
