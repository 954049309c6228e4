/**
 * The package as a stranger installs it: packed, put into an empty project, and the README's lines run as they stand there,
 * against the shared Temporal server and a database that the packed command migrated.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase, testTemporal } from '../support/servers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let project = '';
let worker: ChildProcess | null = null;

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

beforeAll(async () => {
  // With a blank in it, as a person's folders have.
  project = await mkdtemp(join(tmpdir(), 'temporal-health package-'));
  await execa('npm', ['run', 'build'], { cwd: root });
  await execa('npm', ['run', 'check:package'], { cwd: root });
  await execa('npm', ['pack', '--pack-destination', project], { cwd: root });
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? '';
  const { devDependencies, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  const versions = { ...devDependencies, ...dependencies };
  const peers = ['worker', 'workflow', 'activity', 'plugin', 'envconfig'].map((name) => `@temporalio/${name}`);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const wanted = [...peers, 'tsx'].map((name) => `${name}@${versions[name] ?? ''}`);
  await execa('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `./${tarball}`, ...wanted], {
    cwd: project,
  });
}, 600_000);

afterAll(async () => {
  if (worker !== null && worker.exitCode === null) {
    const ended = new Promise((resolve) => worker?.once('exit', resolve));
    worker.kill('SIGTERM');
    await ended;
  }
  await rm(project, { recursive: true, force: true });
}, 120_000);

test('the README’s lines run from the packed package, and the packed command sees the run', async () => {
  const [temporal, database] = [testTemporal(), await freshDatabase()];
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const lines = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  await writeFile(join(project, 'worker.ts'), lines);
  await writeFile(
    join(project, 'workflows.ts'),
    `import { condition, proxyActivities } from '@temporalio/workflow';
     const { visit } = proxyActivities({ startToCloseTimeout: '1 minute' });
     export async function crawl() { await visit(1); await visit(2); await condition(() => false); }`,
  );
  const env = { ...process.env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_HEALTH_DATABASE_URL: database.url };
  const command = (...args: string[]) =>
    execa('npx', ['--no-install', 'temporal-health', ...args], { cwd: project, env, reject: false });

  const migrated = await command('migrate');
  expect(migrated.stderr).toBe('');
  expect(migrated.exitCode).toBe(0);

  worker = spawn(process.execPath, ['--import', 'tsx', 'worker.ts'], { cwd: project, env, stdio: 'ignore' });
  const workflowId = `packed-${process.pid}`;
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address: temporal.address });
  const handle = await new Client({ connection }).workflow.start('crawl', { workflowId, taskQueue: 'crawl' });
  try {
    // The second visit's completion is in history only after its receipt was committed: nothing need be waited for but it.
    await expect
      .poll(
        async () =>
          (await handle.fetchHistory()).events?.filter((event) => event.activityTaskCompletedEventAttributes).length,
        {
          timeout: 120_000,
        },
      )
      .toBe(2);
    const explained = await command('explain', '-w', workflowId, '-o', 'json');
    expect(explained.stderr).toBe('');
    expect(JSON.parse(explained.stdout)).toMatchObject({
      judgement: { verdict: 'working', reason: 'milestone-fresh' },
    });
  } finally {
    await handle.terminate('the test is over');
    await connection.close();
  }
}, 300_000);
