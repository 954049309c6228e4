/**
 * Servers of one test's own, to be killed and started again: same address, same data. Each has a guard, so that an
 * interrupted run leaves neither a process nor a folder behind.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../bin/dev/postgres.ts';
import type { PostgresServer } from '../../bin/dev/postgres.ts';
import { endWithParent } from '../../bin/dev/processes.ts';
import { findTemporalCli } from '../../bin/dev/temporal-cli.ts';
import { startTemporal } from '../../bin/dev/temporal-server.ts';
import type { TemporalOptions, TemporalServer } from '../../bin/dev/temporal-server.ts';

export interface PrivatePostgres {
  /** Stays the same over `kill` and `restart`. */
  url: string;
  /** SIGKILL to the server and all its backends; resolves when they are gone. */
  kill(): Promise<void>;
  /** In order: fast shutdown. */
  stop(): Promise<void>;
  /** Starts it again on the same port and data; resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it and removes its data: call it in `afterAll` or `onTestFinished`. */
  discard(): Promise<void>;
  pid(): number;
}

/** A folder that the account of a server started by root may enter. */
export function serverFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `temporal-health-test-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
}

export async function privatePostgres(settings: Readonly<Record<string, string>> = {}): Promise<PrivatePostgres> {
  const folder = serverFolder('postgres');
  const dataDir = join(folder, 'data');
  let server: PostgresServer = await startPostgres({ dataDir, settings });
  let guard = endWithParent(server.pid, folder);
  const { url, port } = server;
  return {
    url,
    pid: () => server.pid,
    kill: () => server.kill(),
    stop: () => server.stop(),
    async restart() {
      server = await startPostgres({ dataDir, port, settings });
      guard.standDown();
      guard = endWithParent(server.pid, folder);
    },
    async discard() {
      await server.kill();
      guard.standDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface PrivateTemporal {
  /** Host and port: the same over `kill` and `restart`. */
  address: string;
  /** The executable, for `temporal …` commands in tests. */
  cli: string;
  pid(): number;
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same address and database file; resolves when it can be used. */
  restart(): Promise<void>;
  discard(): Promise<void>;
}

/** Headless and on a WAL file unless told otherwise. */
export async function privateTemporal(
  wishes: Pick<TemporalOptions, 'searchAttributes' | 'dynamicConfig'> = {},
): Promise<PrivateTemporal> {
  const { path: cli } = await findTemporalCli();
  const folder = serverFolder('temporal');
  const options: TemporalOptions = {
    ...wishes,
    cli,
    headless: true,
    dbFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
  };
  let server: TemporalServer = await startTemporal(options);
  let guard = endWithParent(server.pid, folder);
  const { address, port } = server;
  return {
    address,
    cli,
    pid: () => server.pid,
    kill: () => server.kill(),
    stop: () => server.stop(),
    async restart() {
      server = await startTemporal({ ...options, port });
      guard.standDown();
      guard = endWithParent(server.pid, folder);
    },
    async discard() {
      await server.kill();
      guard.standDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
