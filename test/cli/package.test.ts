/**
 * The package as a stranger installs it: packed and put into an empty project, as the tutorial says. There the README's
 * lines run as they stand, against the shared Temporal server and a database that the packed command migrated, and then
 * the rest of the tutorial, command by command, on a local stack of its own.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverFolder } from '../support/private-servers.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import { cleanEnvironment } from './support/command.ts';
import { openReaderShell, stepsOf } from './support/page.ts';
import type { ReaderShell, Step } from './support/page.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TUTORIAL = 'docs/tutorial/six-uncomfortable-runs.md';
/** The blocks that start the stack, pack the package and make the project. */
const SETUP = 2;

let home = '';
let project = '';
let stateDir = '';
let reader: ReaderShell;
let steps: readonly Step[] = [];
let worker: ChildProcess | null = null;

beforeAll(async () => {
  // With a blank in it, as a person's folders have.
  home = await mkdtemp(join(tmpdir(), 'temporal-health package-'));
  project = join(home, 'newsletter');
  stateDir = serverFolder('tutorial');
  steps = stepsOf(await readFile(join(root, TUTORIAL), 'utf8'));
  reader = openReaderShell(root, {
    ...cleanEnvironment({ TEMPORAL_CLI: testTemporal().cli, TEMPORAL_HEALTH_STATE_DIR: stateDir, HOME: home }),
    // What npm has fetched already, and where from, is the business of whoever runs the tests.
    npm_config_cache: await npmSetting('cache'),
    npm_config_userconfig: await npmSetting('userconfig'),
    npm_config_prefer_offline: 'true',
  });
  await reader.follow(steps.slice(0, SETUP));
  await execa('npm', ['run', 'check:package'], { cwd: root });
}, 600_000);

afterAll(async () => {
  if (worker !== null && worker.exitCode === null) {
    const ended = new Promise((resolve) => worker?.once('exit', resolve));
    worker.kill('SIGTERM');
    await ended;
  }
  await reader.close();
  const env = cleanEnvironment({ TEMPORAL_HEALTH_STATE_DIR: stateDir });
  await execa(join(root, 'temporal-dev.sh'), ['reset'], { cwd: root, env, extendEnv: false });
  await Promise.all([home, stateDir].map((folder) => rm(folder, { recursive: true, force: true })));
}, 120_000);

const npmSetting = async (name: string): Promise<string> =>
  (await execa('npm', ['config', 'get', name], { cwd: root })).stdout.trim();

test('the README’s lines run from the packed package, and the packed command sees the run', async () => {
  const [temporal, database] = [testTemporal(), await freshDatabase()];
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const lines = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const folder = join(project, 'readme');
  await mkdir(folder);
  await writeFile(join(folder, 'worker.ts'), lines);
  await writeFile(
    join(folder, 'workflows.ts'),
    `import { condition, proxyActivities } from '@temporalio/workflow';
     const { visit } = proxyActivities({ startToCloseTimeout: '1 minute' });
     export async function crawl() { await visit(1); await visit(2); await condition(() => false); }`,
  );
  const env = { ...process.env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_HEALTH_DATABASE_URL: database.url };
  const command = (...args: string[]) =>
    execa('npx', ['--no-install', 'temporal-health', ...args], { cwd: folder, env, reject: false });

  const migrated = await command('migrate');
  expect(migrated.stderr).toBe('');
  expect(migrated.exitCode).toBe(0);

  worker = spawn(process.execPath, ['--import', 'tsx', 'worker.ts'], { cwd: folder, env, stdio: 'ignore' });
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

test('the tutorial: every file and command of it, and six verdicts as the page shows them', async () => {
  await reader.follow(steps.slice(SETUP));
  // What a reader types has its types right as well.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = '--noEmit --strict --module nodenext --target es2023 --allowImportingTsExtensions --skipLibCheck';
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
  const checked = await execa(process.execPath, [compiler, ...options.split(' '), ...types, 'worker.ts'], {
    cwd: project,
    reject: false,
  });
  expect(checked.stdout).toBe('');
}, 600_000);
