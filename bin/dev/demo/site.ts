/** The local site that the demonstration's document links to: pages that are good, gone, slow, flapping and moved. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface DemonstrationSite {
  readonly origin: string;
  /** `host:port`, as a worker's list of allowed hosts wants it. */
  readonly host: string;
  close(): Promise<void>;
}

const SLOW_MS = 1_500;
/** HEAD and GET of the first two tries. */
const FLAPS = 4;

const PAGE = (title: string, sections: readonly string[]): string =>
  `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>` +
  sections.map((name) => `<h2 id="${name}">${name}</h2><p>What there is to say about ${name}.</p>`).join('') +
  '</html>';

const html = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body);
};

const moved = (response: ServerResponse, location: string): void => {
  response.writeHead(301, { location }).end();
};

/** Listens on a free loopback port. */
export async function startSite(): Promise<DemonstrationSite> {
  let flaps = 0;
  const pages: Readonly<Record<string, (response: ServerResponse) => void | Promise<void>>> = {
    '/guide': (response) => {
      html(response, 200, PAGE('Guide', ['receipts', 'waits', 'effects', 'deliverables']));
    },
    '/glossary': (response) => {
      html(response, 200, PAGE('Glossary', ['lease', 'fence', 'milestone']));
    },
    '/slow': async (response) => {
      await delay(SLOW_MS);
      html(response, 200, PAGE('Slow', ['patience']));
    },
    '/flapping': (response) => {
      flaps += 1;
      html(response, flaps <= FLAPS ? 503 : 200, PAGE('Back again', ['outage']));
    },
    '/old-guide': (response) => {
      moved(response, '/moved/guide');
    },
    '/moved/guide': (response) => {
      moved(response, '/guide');
    },
    '/ring': (response) => {
      moved(response, '/ring');
    },
    '/members': (response) => {
      html(response, 403, PAGE('Members only', []));
    },
    '/withdrawn': (response) => {
      html(response, 410, PAGE('Withdrawn', []));
    },
    '/silent': (response) => {
      response.destroy();
    },
    '/notes.md': (response) => {
      response.writeHead(200, { 'content-type': 'text/markdown' }).end('# Notes\n\n## On receipts\n\nKept short.\n');
    },
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.invalid');
    const page = pages[pathname];
    if (page === undefined) html(response, 404, PAGE('Not found', []));
    else void page(response);
  });
  await new Promise<void>((ready) => {
    server.listen(0, '127.0.0.1', ready);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
