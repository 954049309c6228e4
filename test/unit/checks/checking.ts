/** What the tests of the checks share: a folder of their own, and a small web server whose pages a test decides. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../../../receipts/contract.ts';

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'temporal-health-checks-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

export const requestFor = (location: string, more: Partial<CheckRequest> = {}): CheckRequest => ({
  workflowId: 'order-7',
  runId: 'run-1',
  deliverable: 'report',
  location,
  minimumBytes: 1,
  options: {},
  ...more,
});

export const look = (
  check: DeliverableCheck,
  location: string,
  more: Partial<CheckRequest> = {},
): Promise<CheckFinding> => check.run(requestFor(location, more));

export interface Site {
  readonly origin: string;
  readonly host: string;
  /** `METHOD path` of each request, in order. */
  readonly asked: string[];
}

export async function site(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    answer(request, response);
  });
  await new Promise<void>((ready) => {
    server.listen(0, '127.0.0.1', ready);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, asked };
}
