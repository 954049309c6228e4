/** Each command's help opens with two examples, and they run as they stand. One test for each exit code that is not tested elsewhere. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXIT, exitCodeOf } from '../../health/cli/errors.ts';
import { HealthError } from '../../receipts/errors.ts';
import { evidenceOf } from '../support/evidence.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import type { Ran } from './support/command.ts';
import { healthHere } from './support/in-process.ts';
import { openPlanted } from './support/planted.ts';
import type { Planted } from './support/planted.ts';

vi.setConfig({ testTimeout: 240_000 });

const QUEUE_OF_NOBODY = 'work';
let database: FreshDatabase;
let planted: Planted;
let folder: string;
const home = process.cwd();

/** The run that the examples name is closed, so that nothing that follows it goes on for ever. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'health-help-'));
  writeFileSync(join(folder, 'evidence.json'), JSON.stringify(evidenceOf({ started: '-1m' })));
  database = await freshDatabase();
  planted = await openPlanted(testTemporal().address, database.url);
  for (const workflowId of ['crawl-7', 'crawl-8']) {
    const { workflow } = planted.client;
    const options = { workflowId, taskQueue: QUEUE_OF_NOBODY, workflowIdConflictPolicy: 'TERMINATE_EXISTING' } as const;
    const handle = await workflow.start('ordinary', options);
    const digest = { milestone: 'pages', digest: 'p1' };
    await planted.emit(handle.firstExecutionRunId, workflowId, 'progress', digest, Date.now());
    await handle.terminate('the example is over');
  }
  process.chdir(folder);
}, 120_000);

afterAll(async () => {
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
  await planted.close();
  await database.drop();
});

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  healthHere(args, {
    TEMPORAL_ADDRESS: testTemporal().address,
    TEMPORAL_HEALTH_DATABASE_URL: database.url,
    ...env,
  });

const COMMANDS = [
  ['report'],
  ['explain'],
  ['watch'],
  ['wait-for'],
  ['receipts'],
  ['receipts', 'list'],
  ['classify'],
  ['doctor'],
  ['migrate'],
  ['migrate', 'up'],
  ['migrate', 'status'],
  ['schema'],
  ['completion'],
  ['version'],
  [],
] as const;

describe('help', () => {
  it('every command that is offered is in this list', async () => {
    const { stdout } = await run(['__complete', '']);
    const offered = stdout.split('\n').flatMap((line) => (line.includes('\t') ? [line.split('\t')[0]] : []));
    expect(offered.sort()).toEqual([...new Set(COMMANDS.flatMap(([name]) => (name ? [name] : [])))].sort());
  });

  it.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    '%s: opens with two examples, which run as they stand',
    async (_name, words) => {
      const { stdout, code } = await run([...words, '--help']);
      expect(code).toBe(0);
      const found = /^Examples:\n {2}temporal health (.*)\n {2}temporal health (.*)\n\nUsage: /
        .exec(stdout)
        ?.slice(1, 3);
      expect(found).toHaveLength(2);
      for (const line of found ?? []) {
        const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
        const ran = await run(args);
        // Any verdict will do, and "no": the examples' run was stopped, and nobody serves its queue.
        const verdicts: readonly number[] = [EXIT.done, EXIT.stuck, EXIT.falseSuccess, EXIT.uncertain];
        expect([line, ran.stderr.replace(/^crawl-.*\n.*\n$/, '')]).toEqual([line, '']);
        expect(['doctor', 'wait-for'].includes(args[0] ?? '') ? [...verdicts, EXIT.failure] : verdicts).toContain(
          ran.code,
        );
      }
    },
  );
});

describe('exit codes', () => {
  it('4: a database role that may not read', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const role = `stranger_${process.pid}`;
    await client.query(`create role ${role} login password 'stranger'`);
    try {
      const url = new URL(database.url);
      url.username = role;
      url.password = 'stranger';
      const ran = await run(['report'], { TEMPORAL_HEALTH_DATABASE_URL: url.toString() });
      expect(ran).toMatchObject({ code: 4, stdout: '' });
      expect(ran.stderr).toMatch(/\(NOT_ALLOWED\)\n {2}Grant this role/);
    } finally {
      await client.query(`drop role ${role}`);
      await client.end();
    }
  });

  it('6: two clusters in one place, which no command of today can reach', () => {
    expect(exitCodeOf(new HealthError('CLUSTER_MISMATCH', ''))).toBe(EXIT.conflict);
  });

  it('--env is refused with the remedy: only the Temporal CLI reads those environments', async () => {
    const ran = await run(['report', '--env', 'prod']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(/--env .*\(USAGE\)\n.*temporal config set --profile/);
  });

  it('a flag wins over a variable, and a variable over the file', async () => {
    const file = join(folder, 'temporal.toml');
    writeFileSync(file, '[profile.p]\naddress = "127.0.0.1:1"\nnamespace = "default"\n');
    const flags = [
      'report',
      '--profile',
      'p',
      '--config-file',
      file,
      '--client-connect-timeout',
      '300ms',
      '-o',
      'none',
    ];
    const ofFile = await healthHere(flags);
    expect(ofFile.stderr).toContain('127.0.0.1:1 ');
    expect((await healthHere(flags, { TEMPORAL_ADDRESS: testTemporal().address })).code).toBe(0);
    const ofFlag = await healthHere([...flags, '--address', '127.0.0.1:2'], {
      TEMPORAL_ADDRESS: testTemporal().address,
    });
    expect(ofFlag.stderr).toContain('127.0.0.1:2 ');
  });
});
