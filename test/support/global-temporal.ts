/** One Temporal development server for a whole run, as global-postgres.ts has one PostgreSQL. */
import type { TestProject } from 'vitest/node';
import { privateTemporal } from './private-servers.ts';
import { sharedForRun } from './shared-for-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddress: string;
    temporalCli: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { value, release } = await sharedForRun(
    'temporal',
    () => privateTemporal(),
    (server) => server.discard(),
  );
  project.provide('temporalAddress', value.address);
  project.provide('temporalCli', value.cli);
  return release;
}
