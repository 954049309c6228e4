import { describe, expect, test } from 'vitest';
import { httpResource } from '../../../receipts/checks/index.ts';
import { boundedRequest } from '../../../receipts/checks/request.ts';
import { freePort } from '../../../bin/dev/processes.ts';
import { look, site } from './checking.ts';

const page = (status: number, body: string, headers: Record<string, string> = {}) =>
  site((_request, response) => {
    response.writeHead(status, headers).end(body);
  });

describe('a resource at its promised address', () => {
  test('passes with the digest and the size of its body', async () => {
    const { origin } = await page(200, 'hello');
    expect(await look(httpResource({ origins: [origin] }), `${origin}/report`)).toEqual({
      result: 'pass',
      subject: {
        digest: 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
        sizeBytes: 5,
      },
    });
  });

  test.each([
    [404, 'fail', 'missing'],
    [410, 'fail', 'missing'],
    [418, 'fail', 'status-418'],
    [204, 'fail', 'status-204'],
    [301, 'fail', 'redirected'],
    [401, 'unread', 'permission'],
    [403, 'unread', 'permission'],
    [429, 'unread', 'status-429'],
    [500, 'unread', 'status-500'],
    [503, 'unread', 'status-503'],
  ] as const)('status %i is %s %s', async (status, result, cause) => {
    const { origin } = await page(status, '', { location: '/elsewhere' });
    expect(await look(httpResource({ origins: [origin] }), origin)).toEqual({ result, cause });
  });

  test('empty, too small, another digest', async () => {
    const empty = await page(200, '');
    const small = await page(200, 'tiny');
    expect(await look(httpResource({ origins: [empty.origin] }), empty.origin)).toMatchObject({ cause: 'size-zero' });
    const { origin } = small;
    expect(await look(httpResource({ origins: [origin], minimumBytes: 9 }), origin)).toMatchObject({
      result: 'fail',
      cause: 'too-small',
    });
    const other = httpResource({ origins: [origin], expectedDigest: `sha256:${'0'.repeat(64)}` });
    expect(await look(other, origin)).toMatchObject({ result: 'fail', cause: 'digest-differs' });
  });

  test('nobody there, silent for too long, cut in the middle: unread', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    expect(await look(httpResource({ origins: [nobody] }), nobody)).toEqual({
      result: 'unread',
      cause: 'connection-refused',
    });
    const silent = await site(() => undefined);
    expect(await look(httpResource({ origins: [silent.origin], timeoutMs: 100 }), silent.origin)).toEqual({
      result: 'unread',
      cause: 'timeout',
    });
    const slow = await site((_request, response) => {
      response.writeHead(200).write('the first half and then nothing');
    });
    expect(await look(httpResource({ origins: [slow.origin], timeoutMs: 100 }), slow.origin)).toEqual({
      result: 'unread',
      cause: 'timeout',
    });
    const cut = await site((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    });
    expect(await look(httpResource({ origins: [cut.origin] }), cut.origin)).toEqual({
      result: 'unread',
      cause: 'truncated',
    });
  });

  test('a body without end is read to the bound and no further', async () => {
    let open = true;
    const endless = await site((_request, response) => {
      response.on('close', () => (open = false));
      const more = (): void => {
        if (open) response.write('x'.repeat(64 * 1024), more);
      };
      more();
    });
    const check = httpResource({ origins: [endless.origin], maximumBytes: 200_000 });
    expect(await look(check, endless.origin)).toEqual({ result: 'unread', cause: 'too-large' });
  });

  test('another origin than the contract’s is not the promised destination', async () => {
    const { origin, asked } = await page(200, 'hello');
    const check = httpResource({ origins: ['https://reports.example.org'] });
    expect(await look(check, origin)).toEqual({ result: 'fail', cause: 'other-destination' });
    expect(await look(check, 'reports.example.org')).toEqual({ result: 'fail', cause: 'bad-location' });
    expect(asked).toEqual([]);
  });

  test('without origins an internal address is not asked', async () => {
    const { origin, asked } = await page(200, 'hello');
    expect(await look(httpResource(), origin)).toEqual({ result: 'unread', cause: 'not-allowed' });
    expect(asked).toEqual([]);
  });
});

describe('redirects', () => {
  const bounds = { method: 'GET', timeoutMs: 5_000, maximumBytes: 1_000 } as const;

  test('are followed up to the bound, and a ring ends', async () => {
    const { origin, host } = await site((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step === 3) response.end('there');
      else response.writeHead(302, { location: request.url === '/ring' ? '/ring' : `/${step + 1}` }).end();
    });
    const addresses = { allowedHosts: [host] };
    expect(await boundedRequest(`${origin}/0`, { ...bounds, redirects: 3, addresses })).toMatchObject({
      kind: 'answered',
      status: 200,
      redirects: 3,
      finalUrl: `${origin}/3`,
    });
    expect(await boundedRequest(`${origin}/0`, { ...bounds, redirects: 2, addresses })).toMatchObject({
      kind: 'too-many-redirects',
    });
    expect(await boundedRequest(`${origin}/ring`, { ...bounds, redirects: 5, addresses })).toMatchObject({
      kind: 'too-many-redirects',
    });
  });

  test('into the internal network are refused at the hop that leads there', async () => {
    const inner = await site((_request, response) => {
      response.end('inner secret');
    });
    const outer = await site((_request, response) => {
      response.writeHead(302, { location: `${inner.origin}/admin` }).end();
    });
    const addresses = { allowedHosts: [outer.host] };
    expect(await boundedRequest(outer.origin, { ...bounds, redirects: 5, addresses })).toEqual({
      kind: 'not-allowed',
      cause: 'internal-address',
      url: `${inner.origin}/admin`,
    });
    expect(inner.asked).toEqual([]);
  });

  test('to a file or a script are refused', async () => {
    const { origin, host } = await site((_request, response) => {
      response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    });
    expect(
      await boundedRequest(origin, { ...bounds, redirects: 5, addresses: { allowedHosts: [host] } }),
    ).toMatchObject({ kind: 'not-allowed', cause: 'scheme' });
  });
});
