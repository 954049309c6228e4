/**
 * The demonstration's destination, a process of its own: what it has done stays done whatever becomes of the caller.
 *
 *     node --import tsx bin/dev/demo/destination.ts LEDGER
 *
 * POST /registrations is done and answered. POST /payments is done, written to the ledger, and never answered: the reply
 * is lost on the way. GET /operations?id=… tells later what was done. On stdout one JSON line each: `listening`, `applied`.
 */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [, , ledger = ''] = process.argv;
const done = new Map<string, string>();

const say = (line: Record<string, string>): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

function handle(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://destination.invalid');
  if (request.method === 'GET' && pathname === '/operations') {
    const operationId = searchParams.get('id') ?? '';
    const reference = done.get(operationId);
    answer(response, reference === undefined ? 404 : 200, { operationId, reference, replayed: true });
    return;
  }
  const operationId = request.headers['idempotency-key'];
  if (request.method !== 'POST' || typeof operationId !== 'string') {
    answer(response, 400, { error: 'POST with an idempotency-key' });
    return;
  }
  const known = done.get(operationId);
  const reference = known ?? `${pathname.slice(1)}-${done.size + 1}`;
  if (known === undefined) {
    done.set(operationId, reference);
    appendFileSync(ledger, `${JSON.stringify({ operationId, reference })}\n`);
    say({ applied: operationId });
  }
  // The reply to a payment is lost: the connection stays open and nothing comes.
  if (pathname !== '/payments') answer(response, 200, { operationId, reference, replayed: known !== undefined });
}

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    handle(request, response);
  });
});
server.listen(0, '127.0.0.1', () => {
  say({ listening: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
