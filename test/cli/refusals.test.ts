/** Bad input of the command: each has a stable code, one exit code, nothing on stdout, and never a stack or a secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { execa } from 'execa';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { evidenceOf } from '../support/evidence.ts';
import { freshDatabase, testTemporal } from '../support/servers.ts';
import type { FreshDatabase } from '../support/servers.ts';
import { cleanEnvironment, health, LAUNCHER } from './support/command.ts';
import type { Ran } from './support/command.ts';
import { healthHere } from './support/in-process.ts';

const DEAD = '127.0.0.1:1';
const fast = ['--client-connect-timeout', '300ms'];
let folder: string;
let database: FreshDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'health-refusals-'));
  database = await freshDatabase();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

function expectRefusal(ran: Ran, code: number, error: string): void {
  expect(ran.stderr).toContain(`(${error})`);
  expect(ran.stderr).toMatch(/^Error: /);
  expect(ran.stderr).not.toMatch(/\n\s+at /);
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
}

describe('what the command refuses before it asks anybody', () => {
  const refusals: readonly (readonly [string, readonly string[], number, string, RegExp])[] = [
    ['no database where one is needed', ['migrate'], 2, 'CONFIG_MISSING', /TEMPORAL_HEALTH_DATABASE_URL/],
    ['an id with a line feed', ['explain', '-w', 'a\nb'], 2, 'INVALID_ID', /--workflow-id/],
    ['an id that leads out of its path', ['explain', '-w', '../etc'], 2, 'INVALID_ID', /--workflow-id/],
    ['an id that is too long', ['explain', '-w', 'x'.repeat(1001)], 2, 'INVALID_ID', /1000/],
    ['a run id with an escape', ['explain', '-w', 'a', '-r', '\u001b[0m'], 2, 'INVALID_ID', /--run-id/],
    ['a run id that is none', ['explain', '-w', 'a', '-r', 'newest'], 2, 'INVALID_ID', /--run-id.*\n.*--workflow-id/],
    ['a missing id', ['explain'], 2, 'USAGE', /--workflow-id/],
    ['a misspelt command', ['reprot'], 2, 'USAGE', /Did you mean report\?/],
    ['a misspelt flag', ['report', '--exit-staus'], 2, 'USAGE', /Did you mean --exit-status\?/],
    ['an unknown form of output', ['report', '-o', 'xml'], 2, 'USAGE', /text, json, jsonl, none, nagios\. \(USAGE\)/],
    ['a word too many', ['report', 'now'], 2, 'USAGE', /but got 1\. \(USAGE\)/],
    ['an unknown verdict', ['report', '--verdict', 'sick'], 2, 'USAGE', /working, waiting, stuck/],
    ['a contradiction', ['report', '--needs-attention', '--all'], 2, 'USAGE', /--needs-attention.*--all/],
    [
      'another',
      ['--config-file', 'x', 'report', '--disable-config-file'],
      2,
      'USAGE',
      /--disable-config-file.*--config/,
    ],
    ['a third', ['report', '--verdict', 'stuck', '--needs-attention'], 2, 'USAGE', /--verdict.*--needs-attention/],
    ['an absurd limit', ['report', '--limit', '100000'], 2, 'LIMIT_REQUIRED', /10000/],
    ['a limit that is none', ['report', '--limit', '-1'], 2, 'USAGE', /--limit/],
    ['a time in words', ['classify', 'f', '--at', 'tomorrow'], 2, 'INVALID_TIME', /2026-06-01T12:00:00Z/],
    ['a month that is none', ['classify', 'f', '--at', '2026-13-40T00:00:00Z'], 2, 'INVALID_TIME', /example/],
    ['a time without its zone', ['classify', 'f', '--at', '2026-06-01T12:00:00'], 2, 'INVALID_TIME', /zone/],
    ['a file that is not there', ['classify', '/nowhere/evidence.json'], 3, 'NOT_FOUND', /evidence\.json/],
    ['a schema that is none', ['schema', 'moon'], 3, 'NOT_FOUND', /evidence/],
    [
      'a configuration file that is not there',
      ['report', '--config-file', '/nowhere.toml'],
      2,
      'USAGE',
      /--config-file/,
    ],
  ];
  it.each(refusals)('%s', async (_name, args, code, error, says) => {
    const ran = await healthHere(args);
    expectRefusal(ran, code, error);
    expect(ran.stderr).toMatch(says);
  });

  it('a configuration module that is not there: which, and nothing of this program', async () => {
    const ran = await healthHere(['report', '--address', testTemporal().address], {
      TEMPORAL_HEALTH_CONFIG: '/nowhere/health.mjs',
    });
    expectRefusal(ran, 2, 'USAGE');
    expect(ran.stderr).toContain('/nowhere/health.mjs');
    expect(ran.stderr).not.toContain('config-module');
  });

  it('a configuration file that cannot be read is not quoted: it may hold a key', async () => {
    const file = join(folder, 'temporal.toml');
    writeFileSync(file, '[profile.default]\naddress = "a:1"\napi_key = s3cret\n');
    const ran = await healthHere(['report', '--config-file', file]);
    expectRefusal(ran, 2, 'USAGE');
    expect(ran.stderr).not.toContain('s3cret');
  });

  it("an application's DATABASE_URL is never used", async () => {
    const ran = await healthHere(['migrate'], { DATABASE_URL: database.url });
    expectRefusal(ran, 2, 'CONFIG_MISSING');
  });

  it('errors are JSON on stderr where JSON was asked for, also when the flags could not be read', async () => {
    const ran = await healthHere(['-o', 'json', 'report', '--lmit', '3']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(ran.stderr)).toEqual({
      error: { code: 'USAGE', message: "Unknown option '--lmit'.", hint: '(Did you mean --limit?)' },
    });
  });

  it('no value of a flag that may hold a secret is repeated', async () => {
    const url = 'postgres://ann:s3cret@127.0.0.1:1/health';
    const { address } = testTemporal();
    for (const args of [
      ['migrate', '--database-url', url],
      ['report', '--database-url', url, '--address', address],
    ]) {
      const ran = await healthHere(args);
      expect(ran.code).toBe(5);
      expect(ran.stderr).toContain('DB_UNREACHABLE');
      expect(ran.stderr).toContain('127.0.0.1:1');
      expect(ran.stderr + ran.stdout).not.toContain('s3cret');
    }
    const key = await healthHere(['report', '--api-key', 'tok-s3cret', '--address', DEAD, ...fast]);
    expect(key.code).toBe(5);
    expect(key.stderr).not.toContain('s3cret');
  });
});

describe('sources that do not answer', () => {
  it('Temporal down and nothing else: unreachable, with the remedy', async () => {
    const ran = await healthHere(['report', '--address', DEAD, ...fast]);
    expectRefusal(ran, 5, 'TEMPORAL_UNREACHABLE');
    expect(ran.stderr).toMatch(/127\.0\.0\.1:1.*\n.*--address/);
  });

  it('a database without our schema, and one of a later version', async () => {
    const args = ['report', '--database-url', database.url, '--address', testTemporal().address];
    expectRefusal(await healthHere(args), 1, 'SCHEMA_VERSION');
    const status = await healthHere(['migrate', 'status', '--database-url', database.url, '-o', 'json']);
    expect(status.code).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: 'missing', have: 0 });
    const up = await healthHere(['migrate', '--database-url', database.url]);
    expect(up).toMatchObject({ code: 0, stderr: '' });
    expect((await healthHere(['migrate', 'up', '--database-url', database.url])).stdout).toContain('Nothing to do');
    expect((await healthHere(args)).code).toBe(0);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`insert into temporal_health.migrations (name, run_on) values ('000999_later', now())`);
    await client.end();
    const newer = await healthHere(args);
    expectRefusal(newer, 1, 'SCHEMA_VERSION');
    expect(newer.stderr).toMatch(/found 999/);
    expect((await healthHere(['migrate', 'status', '--database-url', database.url])).stdout).toContain('newer');
  });
});

describe('classify', () => {
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it('gives the same bytes twice, one judgement for one file, an array or lines for several', async () => {
    const stuck = write('stuck.json', JSON.stringify(evidenceOf({ activities: [{ id: 'a1', heartbeat: '-1s' }] })));
    const working = write('working.json', JSON.stringify(evidenceOf({ started: '-1m' })));
    const one = await healthHere(['classify', stuck]);
    expect(one).toMatchObject({ code: 0, stderr: '' });
    const screen = (await healthHere(['classify', stuck, working, '-o', 'text'])).stdout;
    expect(screen).toMatch(/^■ stuck: [^]*Safe action:[^]*\n\n▶ working: /);
    expect(JSON.parse(one.stdout)).toMatchObject({ schemaVersion: 1, verdict: 'stuck' });
    const both = await healthHere(['classify', stuck, working]);
    expect(JSON.parse(both.stdout)).toMatchObject([{ verdict: 'stuck' }, { verdict: 'working' }]);
    const lines = await healthHere(['-o', 'jsonl', 'classify', stuck, working, '--exit-status']);
    expect(lines.code).toBe(10);
    expect(lines.stdout.trim().split('\n')).toHaveLength(2);
    // The launcher, in another folder and another time zone, prints the very same.
    const elsewhere = await health(['classify', stuck], { env: { TZ: 'Asia/Tokyo', LANG: 'C' } });
    expect(elsewhere.stdout).toBe(one.stdout);
  });

  it('judges as of another moment where one is given', async () => {
    const file = write('young.json', JSON.stringify(evidenceOf({ started: '-1m' })));
    const later = await healthHere(['classify', file, '--at', '2026-06-01T13:00:00Z']);
    expect(JSON.parse(later.stdout)).toMatchObject({
      verdict: 'stuck',
      judgedAtMs: Date.parse('2026-06-01T13:00:00Z'),
    });
  });

  it.each([
    ['text that is no JSON', '{"run": ', 'BODY_NOT_JSON'],
    ['a key twice', '{"run": 1, "run": 2}', 'BODY_NOT_JSON'],
    ['JSON that is no evidence', '{}', 'EVIDENCE_INVALID'],
    ['an unknown field', JSON.stringify({ ...evidenceOf({}), extra: 1 }), 'EVIDENCE_INVALID'],
  ])('refuses %s and names the file', async (name, text, error) => {
    const file = write(`${name.replaceAll(' ', '-')}.json`, text);
    const ran = await healthHere(['classify', file]);
    expectRefusal(ran, 1, error);
    expect(ran.stderr).toContain(file);
  });
});

describe('the launcher', () => {
  it('says which Node it needs before it loads anything', async () => {
    const ran = await health(['report'], { env: { TEMPORAL_HEALTH_PRETEND_NODE: '18.20.4' } });
    expectRefusal(ran, 1, 'NODE_VERSION');
    expect(ran.stderr).toContain('20.19');
  });

  it('ends with 130 when it is interrupted while it waits', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const met = once(silent, 'connection');
    const args = [LAUNCHER, 'report', '--address', `127.0.0.1:${port}`, '--client-connect-timeout', '60s'];
    const command = execa(process.execPath, args, { env: cleanEnvironment(), extendEnv: false, reject: false });
    await met;
    command.kill('SIGINT');
    expect(await command).toMatchObject({ exitCode: 130, stdout: '', stderr: '' });
    silent.close();
  });

  it('prints help on stdout and is content', async () => {
    const ran = await healthHere(['help', 'report']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('--needs-attention');
    expect((await healthHere(['version', '-o', 'json'])).stdout).toMatch(/"version":"\d+\.\d+\.\d+"/);
    const schema = await healthHere(['schema', 'evidence']);
    expect(JSON.parse(schema.stdout)).toMatchObject({ type: 'object' });
  });
});
