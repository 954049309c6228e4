/**
 * One PostgreSQL for a whole run: started by the first project that needs one, ended with the last, and by a guard when
 * the run is cut short. Test files take a database of their own from it (`freshDatabase` in servers.ts).
 */
import type { TestProject } from 'vitest/node';
import { privatePostgres } from './private-servers.ts';
import { sharedForRun } from './shared-for-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, release } = await sharedForRun('postgres', privatePostgres, (server) => server.discard());
  project.provide('postgresUrl', value.url);
  return release;
}
