import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../../bin/dev/processes.ts';
import { startTemporal, temporalAnswers } from '../../bin/dev/temporal-server.ts';
import { privateTemporal, testTemporal } from '../support/servers.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-temporal-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a workflow that nobody works on, so that it stays open. */
async function leaveOpen(address: string, workflowId: string): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const { firstExecutionRunId } = await client.workflow.start('nobody', { workflowId, taskQueue: 'nobody' });
    return firstExecutionRunId;
  } finally {
    await connection.close();
  }
}

const describeRun = ({ address, cli }: { address: string; cli: string }, id: string): string =>
  execFileSync(cli, ['workflow', 'describe', '--address', address, '-w', id, '-o', 'json'], { encoding: 'utf8' });

describe('the Temporal development server', () => {
  it('is shared by the test files of a run', async () => {
    const { address } = testTemporal();
    expect(await temporalAnswers(address)).toBe(true);
  });

  it('has a Web UI, its search attributes and pausing as soon as it is said to be ready', async () => {
    const server = await startTemporal({
      cli: testTemporal().cli,
      logFile: join(folder, 'ui.log'),
      searchAttributes: { OrderState: 'Keyword' },
    });
    onTestFinished(() => server.kill());
    expect(await temporalAnswers(server.address, ['OrderState'])).toBe(true);
    expect(await temporalAnswers(server.address, ['Other'])).toBe(false);
    expect((await fetch(server.uiAddress ?? '')).status).toBe(200);
    await leaveOpen(server.address, 'paused');
    const pause = ['workflow', 'pause', '--address', server.address, '-w', 'paused'];
    execFileSync(testTemporal().cli, pause);
    expect(describeRun({ ...testTemporal(), address: server.address }, 'paused')).toMatch(/PAUSED/);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  it('still has an open run after SIGKILL and a restart on the same address', async () => {
    const server = await privateTemporal();
    onTestFinished(() => server.discard());
    const runId = await leaveOpen(server.address, 'survivor');
    const { pid } = { pid: server.pid() };
    await server.kill();
    expect(isAlive(pid)).toBe(false);
    expect(await temporalAnswers(server.address)).toBe(false);
    await server.restart();
    expect(describeRun(server, 'survivor')).toContain(runId);
  });

  it('does not read the TEMPORAL_ variables that are meant for clients', async () => {
    process.env['TEMPORAL_ADDRESS'] = '127.0.0.1:1';
    onTestFinished(() => {
      delete process.env['TEMPORAL_ADDRESS'];
    });
    const server = await startTemporal({ cli: testTemporal().cli, logFile: join(folder, 'env.log'), headless: true });
    onTestFinished(() => server.kill());
    expect(await temporalAnswers(server.address)).toBe(true);
  });

  it.each(['port', 'uiPort'] as const)('names the taken port (%s) and starts nothing', async (which) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    onTestFinished(() => {
      holder.close();
    });
    const address = holder.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const options = { cli: testTemporal().cli, logFile: join(folder, 'taken.log'), [which]: port };
    await expect(startTemporal(options)).rejects.toMatchObject({
      code: 'TEMPORAL_PORT_TAKEN',
      message: expect.stringContaining(String(port)) as string,
    });
  });

  it('shows what the server said when it cannot start', async () => {
    const logFile = join(folder, 'failed.log');
    const dbFile = join(folder, 'no/such/folder/temporal.db');
    await expect(startTemporal({ cli: testTemporal().cli, logFile, dbFile })).rejects.toMatchObject({
      code: 'TEMPORAL_START_FAILED',
      message: expect.stringContaining(dbFile) as string,
    });
    expect(readFileSync(logFile, 'utf8')).not.toBe('');
  });
});
