/** The servers of one bench: started on free loopback ports in a folder of their own, gone with the process in any case. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../bin/dev/postgres.ts';
import type { PostgresServer } from '../bin/dev/postgres.ts';
import { endWithParent } from '../bin/dev/processes.ts';
import { findTemporalCli } from '../bin/dev/temporal-cli.ts';
import { startTemporal } from '../bin/dev/temporal-server.ts';

export interface BenchServer {
  /** A connection string, or Temporal's address. */
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

function folderFor(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `temporal-health-bench-${name}-`));
  // Postgres started by root runs as another account, which must be able to enter.
  chmodSync(folder, 0o755);
  return folder;
}

/** Durable, as a real server is: with fsync off every ratio here would be another one. */
export async function benchPostgres(): Promise<BenchServer> {
  const folder = folderFor('postgres');
  const server: PostgresServer = await startPostgres({ dataDir: join(folder, 'data') });
  const guard = endWithParent(server.pid, folder);
  return {
    address: server.url,
    pid: server.pid,
    async stop() {
      await server.stop();
      guard.standDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** On a WAL file, as `temporal-dev.sh` runs it. */
export async function benchTemporal(): Promise<BenchServer> {
  const { path: cli } = await findTemporalCli();
  const folder = folderFor('temporal');
  const server = await startTemporal({
    cli,
    headless: true,
    dbFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
  });
  const guard = endWithParent(server.pid, folder);
  return {
    address: server.address,
    pid: server.pid,
    async stop() {
      await server.stop();
      guard.standDown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
