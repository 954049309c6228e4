import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { checks, commitLocation, gitCommitContains } from '../../../receipts/checks/index.ts';
import type { GitCommitContainsOptions } from '../../../receipts/checks/index.ts';
import { folder, look, site } from './checking.ts';

const sha256 = (text: string): `sha256:${string}` => `sha256:${createHash('sha256').update(text).digest('hex')}`;

function run(at: string, ...args: string[]): string {
  const env = {
    ...{ PATH: process.env['PATH'], HOME: at, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'a' },
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  return execFileSync('git', args, { cwd: at, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function commit(at: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), text);
  }
  run(at, 'add', '--all');
  run(at, 'commit', '--quiet', '--allow-empty', '-m', 'work');
  return run(at, 'rev-parse', 'HEAD');
}

interface Project {
  readonly root: string;
  readonly path: string;
  readonly first: string;
  readonly second: string;
  /** A commit of another branch. */
  readonly aside: string;
}

function project(format = 'sha1'): Project {
  const root = folder();
  const path = join(root, 'project');
  mkdirSync(path);
  run(path, 'init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
  const first = commit(path, { 'CHANGELOG.md': 'one', 'docs/guide.md': 'guide' });
  run(path, 'checkout', '--quiet', '-b', 'aside');
  const aside = commit(path, { 'aside.txt': 'aside' });
  run(path, 'checkout', '--quiet', 'main');
  const second = commit(path, { 'CHANGELOG.md': 'one\ntwo' });
  return { root, path, first, second, aside };
}

const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('temporal-health-git-'));

describe('a commit that a repository must contain', () => {
  test.each(['sha1', 'sha256'])(
    'the newest and an earlier one pass (%s); of another branch it is missing',
    async (format) => {
      const { root, first, second, aside } = project(format);
      const check = gitCommitContains({ root, ref: 'main' });
      for (const one of [first, second]) {
        expect(await look(check, commitLocation('project', { commit: one }))).toEqual({
          result: 'pass',
          subject: { version: one },
        });
      }
      expect(await look(check, commitLocation('project', { commit: aside }))).toEqual({
        result: 'fail',
        cause: 'commit-missing',
      });
      const none = '0'.repeat(first.length);
      expect(await look(check, commitLocation('project', { commit: none }))).toMatchObject({ cause: 'commit-missing' });
    },
  );

  test('a commit that only lies in the object store, and an object that is no commit, are missing', async () => {
    const { root, path } = project();
    const loose = run(path, 'commit-tree', 'HEAD^{tree}', '-m', 'never pushed to a branch');
    const tree = run(path, 'rev-parse', 'HEAD^{tree}');
    for (const one of [loose, tree]) {
      const finding = await look(gitCommitContains({ root }), commitLocation('project', { commit: one }));
      expect(finding).toEqual({ result: 'fail', cause: 'commit-missing' });
    }
  });

  test('by branch, by full name, by annotated tag; a ref that is not there is missing', async () => {
    const { root, path, first, second } = project();
    run(path, 'tag', '-a', 'v1', '-m', 'one', first);
    const at = (ref: string, id: string) =>
      look(gitCommitContains({ root }), commitLocation('project', { ref, commit: id }));
    expect(await at('refs/tags/v1', first)).toMatchObject({ result: 'pass', subject: { version: first } });
    expect(await at('refs/tags/v1', second)).toMatchObject({ cause: 'commit-missing' });
    expect(await at('refs/heads/aside', first)).toMatchObject({ result: 'pass' });
    // A name alone is a branch: a tag `main` does not stand in for the branch of the same name.
    expect(await at('v1', first)).toEqual({ result: 'fail', cause: 'ref-missing' });
    run(path, 'branch', 'deep/main', first);
    expect(await at('main', second)).toMatchObject({ result: 'pass' });
    expect(await at('gone', first)).toEqual({ result: 'fail', cause: 'ref-missing' });
  });

  test('a repository without a commit', async () => {
    const root = folder();
    run(root, 'init', '--quiet', '--bare', 'empty');
    const finding = await look(gitCommitContains({ root }), commitLocation('empty', { commit: '1'.repeat(40) }));
    expect(finding).toEqual({ result: 'fail', cause: 'ref-missing' });
  });
});

describe('files that a commit must hold', () => {
  test('at the newest commit, and at the promised one when the branch has moved on', async () => {
    const { root, first, second } = project();
    const at = (text: string) => gitCommitContains({ root, paths: [{ path: 'CHANGELOG.md', digest: sha256(text) }] });
    expect(await look(at('one\ntwo'), 'project')).toEqual({
      result: 'pass',
      subject: { version: second, sizeBytes: 7, count: 1, digest: sha256('one\ntwo') },
    });
    expect(await look(at('one'), 'project')).toMatchObject({ result: 'fail', cause: 'digest-differs' });
    expect(await look(at('one'), commitLocation('project', { commit: first }))).toMatchObject({
      result: 'pass',
      subject: { version: first },
    });
    const both = gitCommitContains({ root, paths: ['CHANGELOG.md', 'docs/guide.md'] });
    expect(await look(both, 'project')).toMatchObject({ result: 'pass', subject: { sizeBytes: 12, count: 2 } });
    expect(await look(both, 'project', { minimumBytes: 13 })).toMatchObject({ result: 'fail', cause: 'too-small' });
  });

  test('missing, a folder, a link, empty, too large', async () => {
    const { root, path } = project();
    symlinkSync('/etc/passwd', join(path, 'link'));
    commit(path, { empty: '', large: 'x'.repeat(3_000_000) });
    const at = (file: string, more: GitCommitContainsOptions = {}) =>
      look(gitCommitContains({ root, paths: [file], ...more }), 'project');
    expect(await at('gone.md')).toEqual({ result: 'fail', cause: 'path-missing' });
    expect(await at('docs')).toEqual({ result: 'fail', cause: 'not-a-file' });
    expect(await at('link')).toEqual({ result: 'fail', cause: 'not-a-file' });
    expect(await at('empty')).toEqual({ result: 'fail', cause: 'size-zero' });
    expect(await at('large', { maximumBytes: 1_000_000 })).toEqual({ result: 'unread', cause: 'too-large' });
    expect(await at('*.md')).toEqual({ result: 'fail', cause: 'path-missing' });
  });
});

describe('a repository that cannot be read says nothing', () => {
  const somewhere = commitLocation('http://127.0.0.1:1/r.git', { commit: '1'.repeat(40) });

  test('nobody there, an address that may not be asked, a server that says no', async () => {
    const { origin } = await site((request, response) => {
      response.writeHead(request.url?.startsWith('/closed') === true ? 401 : 404).end();
    });
    const at = (place: string) =>
      look(gitCommitContains({ repositories: [place] }), commitLocation(place, { commit: '1'.repeat(40) }));
    expect(await at('http://127.0.0.1:1/r.git')).toEqual({ result: 'unread', cause: 'connection-refused' });
    expect(await at(`${origin}/gone.git`)).toEqual({ result: 'unread', cause: 'repository-not-found' });
    expect(await at(`${origin}/closed.git`)).toEqual({ result: 'unread', cause: 'permission' });
    expect(await look(gitCommitContains(), somewhere)).toEqual({ result: 'unread', cause: 'not-allowed' });
    expect(await at('git://127.0.0.1:1/r.git')).toEqual({ result: 'unread', cause: 'connection-refused' });
  });

  test('a redirect is not followed', async () => {
    const { origin, asked } = await site((request, response) => {
      response.writeHead(302, { location: `/elsewhere${request.url ?? ''}` }).end();
    });
    const place = `${origin}/r.git`;
    const finding = await look(
      gitCommitContains({ repositories: [place] }),
      commitLocation(place, { commit: '1'.repeat(40) }),
    );
    expect(finding).toMatchObject({ result: 'unread' });
    expect(asked.filter((line) => line.includes('elsewhere'))).toEqual([]);
  });

  test('a server that never answers is left after the time limit, with nothing left behind', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
    onTestFinished(() => void silent.close());
    const place = `git://127.0.0.1:${(silent.address() as AddressInfo).port}/r.git`;
    const before = left();
    const options = { repositories: [place], timeoutMs: 700 };
    const location = commitLocation(place, { commit: '1'.repeat(40) });
    expect(await look(gitCommitContains(options), location)).toEqual({ result: 'unread', cause: 'timeout' });
    const stop = new AbortController();
    const looking = look(gitCommitContains({ repositories: [place] }), location, { signal: stop.signal });
    stop.abort();
    expect(await looking).toEqual({ result: 'unread', cause: 'stopped' });
    expect(left().filter((name) => !before.includes(name))).toEqual([]);
  });

  test('more than may be fetched', async () => {
    const { root, path } = project();
    writeFileSync(join(path, 'noise'), randomBytes(8_000_000));
    commit(path, {});
    const check = gitCommitContains({ root, paths: ['noise'], maximumFetchBytes: 1_000_000 });
    expect(await look(check, 'project')).toEqual({ result: 'unread', cause: 'too-large' });
  });

  test('git is not installed', async () => {
    const { root, second } = project();
    vi.stubEnv('PATH', folder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const finding = await look(gitCommitContains({ root }), commitLocation('project', { commit: second }));
    expect(finding).toEqual({ result: 'unread', cause: 'git-not-found' });
  });
});

describe('where a repository may lie', () => {
  test('below the root; missing, not one, a file, outside', async () => {
    const { root, path, second } = project();
    mkdirSync(join(root, 'plain'));
    // A folder inside a repository is not one, although git would look for it further up.
    const at = (place: string) => look(gitCommitContains({ root }), commitLocation(place, { commit: second }));
    expect(await at(path)).toMatchObject({ result: 'pass' });
    expect(await at(`file://${path}`)).toMatchObject({ result: 'pass' });
    expect(await at('gone')).toEqual({ result: 'fail', cause: 'missing' });
    expect(await at('plain')).toEqual({ result: 'unread', cause: 'repository-not-found' });
    expect(await at('project/docs')).toEqual({ result: 'unread', cause: 'repository-not-found' });
    expect(await at('project/CHANGELOG.md')).toEqual({ result: 'fail', cause: 'not-a-repository' });
    expect(await at('..')).toEqual({ result: 'fail', cause: 'outside-root' });
    expect(await look(gitCommitContains(), commitLocation('project', { commit: second }))).toMatchObject({
      cause: 'root-not-configured',
    });
  });

  test('only where the contract says so, once it says so', async () => {
    const { path, second } = project();
    const other = project();
    const check = gitCommitContains({ repositories: [path] });
    expect(await look(check, commitLocation(path, { commit: second }))).toMatchObject({ result: 'pass' });
    expect(await look(check, commitLocation(other.path, { commit: other.second }))).toEqual({
      result: 'fail',
      cause: 'other-destination',
    });
  });

  test('a location cannot lower what the contract asks', async () => {
    const { root, first, aside } = project();
    const at = (options: GitCommitContainsOptions, ref?: string, id?: string) =>
      look(
        gitCommitContains({ root, ...options }),
        commitLocation('project', { ...(ref && { ref }), ...(id && { commit: id }) }),
      );
    expect(await at({ ref: 'main' }, 'aside', aside)).toEqual({ result: 'fail', cause: 'other-destination' });
    expect(await at({ ref: 'main', commit: first }, 'refs/heads/main', aside)).toEqual({
      result: 'fail',
      cause: 'other-commit',
    });
    expect(await at({ ref: 'main', commit: first }, 'refs/heads/main')).toMatchObject({ result: 'pass' });
    expect(await at({})).toEqual({ result: 'unread', cause: 'nothing-promised' });
  });
});

describe('a location or a repository that would like to run something', () => {
  test('options, transports that run programs, refs that are none', async () => {
    const { root, second } = project();
    const mark = join(root, 'ran');
    const at = (location: string, options: GitCommitContainsOptions = {}) =>
      look(gitCommitContains({ root, ...options }), location);
    const id = `commit=${second}`;
    expect(await at(`--upload-pack=touch ${mark}#${id}`)).toEqual({ result: 'fail', cause: 'bad-location' });
    expect(await at(`ext::sh -c "touch ${mark}"#${id}`)).toEqual({ result: 'unread', cause: 'not-allowed' });
    expect(await at(`ext://sh -c touch ${mark}#${id}`)).toEqual({ result: 'unread', cause: 'not-allowed' });
    expect(await at(`ssh://-oProxyCommand=touch ${mark}/r#${id}`)).toEqual({ result: 'unread', cause: 'not-allowed' });
    expect(await at(`host:r.git#${id}`)).toEqual({ result: 'unread', cause: 'not-allowed' });
    const named = `ssh://-oProxyCommand=touch%20${mark}/r`;
    expect(await at(`${named}#${id}`, { repositories: [named] })).toMatchObject({ result: 'unread' });
    const ext = `ext::sh -c "touch ${mark}"`;
    expect(await at(`${ext}#${id}`, { repositories: [ext] })).toMatchObject({ result: 'unread' });
    for (const ref of ['--upload-pack=x', '-b', 'a..b', 'refs/heads/*', 'a b', 'a^{}', '@{u}', 'a.lock', 'a//b']) {
      expect(await at(commitLocation('project', { ref, commit: second })), ref).toEqual({
        result: 'fail',
        cause: 'bad-ref',
      });
    }
    for (const one of ['HEAD', second.slice(0, 12), second.toUpperCase(), '--all']) {
      expect(await at(commitLocation('project', { commit: one })), one).toEqual({
        result: 'fail',
        cause: 'bad-commit',
      });
    }
    expect(await at(`project#commit=${second}&commit=${second}`)).toMatchObject({ cause: 'bad-location' });
    expect(await at(`project#commit=${second}&depth=1`)).toMatchObject({ cause: 'bad-location' });
    expect(existsSync(mark)).toBe(false);
  });

  test("neither the repository's configuration and hooks nor the user's run a program", async () => {
    const { root, path, second, first } = project();
    const mark = join(root, 'ran');
    const script = join(root, 'script');
    writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${mark}\nexec "$@"\n`);
    chmodSync(script, 0o755);
    const programs = ['core.fsmonitor', 'core.sshCommand', 'core.alternateRefsCommand', 'uploadpack.packObjectsHook'];
    for (const name of [...programs, 'credential.helper', 'core.gitProxy', 'diff.external'])
      run(path, 'config', name, script);
    const home = join(root, 'home');
    const hooks = join(home, 'hooks');
    mkdirSync(hooks, { recursive: true });
    for (const at of [hooks, join(path, '.git', 'hooks')]) {
      for (const hook of ['reference-transaction', 'post-checkout', 'pre-auto-gc']) symlinkSync(script, join(at, hook));
    }
    const template = join(home, 'template');
    mkdirSync(join(template, 'hooks'), { recursive: true });
    symlinkSync(script, join(template, 'hooks', 'reference-transaction'));
    const config = `[core]\n hooksPath = ${hooks}\n fsmonitor = ${script}\n[uploadpack]\n packObjectsHook = ${script}\n[init]\n templateDir = ${template}\n[url "ext::${script} "]\n insteadOf = /\n[protocol]\n allow = always\n`;
    writeFileSync(join(home, '.gitconfig'), config);
    vi.stubEnv('HOME', home);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, '.gitconfig'));
    vi.stubEnv('GIT_TEMPLATE_DIR', template);
    vi.stubEnv('GIT_SSH_COMMAND', script);
    vi.stubEnv('GIT_EXTERNAL_DIFF', script);
    vi.stubEnv('GIT_DIR', path);
    onTestFinished(() => void vi.unstubAllEnvs());
    const check = gitCommitContains({ root, paths: ['CHANGELOG.md'] });
    expect(await look(check, commitLocation('project', { commit: first }))).toMatchObject({ result: 'pass' });
    expect(await look(check, commitLocation('project', { commit: second }))).toMatchObject({ result: 'pass' });
    expect(existsSync(mark) ? readFileSync(mark, 'utf8') : '').toBe('');
  });

  test.each([
    [{ ref: '-x' }, 'ref'],
    [{ ref: 'refs/heads/*' }, 'ref'],
    [{ commit: 'abc123' }, 'commit'],
    [{ paths: 'CHANGELOG.md' }, 'paths'],
    [{ paths: ['../secret'] }, 'paths'],
    [{ paths: ['/etc/passwd'] }, 'paths'],
    [{ paths: [{ path: 'a', digest: 'md5:1' }] }, 'paths'],
    [{ paths: [{ path: 'a', size: 1 }] }, 'paths'],
    [{ repositories: [''] }, 'repositories'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ branch: 'main' }, 'branch'],
  ])('the options %j are refused', async (options, field) => {
    expect(() => gitCommitContains(options as GitCommitContainsOptions)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_INVALID', field }) as Error,
    );
    const finding = await look(checks['git-commit-contains']!, 'project', { options });
    expect(finding).toEqual({ result: 'unread', cause: 'bad-options' });
  });
});

test('over a real git daemon: a commit, an earlier one, files, and a repository that is not exported', async () => {
  const { root, path, first, second } = project();
  run(root, 'clone', '--quiet', '--bare', path, 'served.git');
  run(root, 'init', '--quiet', '--bare', 'private.git');
  writeFileSync(join(root, 'served.git', 'git-daemon-export-ok'), '');
  const port = await freePort();
  const programs = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  const daemon = spawn(
    join(programs, 'git-daemon'),
    ['--listen=127.0.0.1', `--port=${port}`, `--base-path=${root}`, '--reuseaddr', root],
    { stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: root } },
  );
  onTestFinished(() => void daemon.kill('SIGKILL'));
  const base = `git://127.0.0.1:${port}`;
  const at = (place: string, id: string) =>
    look(
      gitCommitContains({ repositories: [place], ref: 'main', paths: ['CHANGELOG.md'] }),
      commitLocation(place, { commit: id }),
    );
  await vi.waitFor(async () => {
    expect(await at(`${base}/served.git`, second)).toMatchObject({ result: 'pass', subject: { sizeBytes: 7 } });
  }, 20_000);
  expect(await at(`${base}/served.git`, first)).toMatchObject({ result: 'pass', subject: { sizeBytes: 3 } });
  expect(await at(`${base}/served.git`, '1'.repeat(40))).toEqual({ result: 'fail', cause: 'commit-missing' });
  expect(await at(`${base}/private.git`, second)).toEqual({ result: 'unread', cause: 'repository-not-found' });
});

test('over plain HTTP, from a server that knows nothing of git: whole refs, and the files in them', async () => {
  const { root, path, first, second } = project();
  run(root, 'clone', '--quiet', '--bare', path, 'served.git');
  run(join(root, 'served.git'), 'update-server-info');
  const { origin, host } = await site((request, response) => {
    const file = join(root, new URL(request.url ?? '', 'http://x').pathname);
    if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  });
  // Not named by the contract: allowed by the operator, and held to the address that was looked at.
  vi.stubEnv('TEMPORAL_HEALTH_ALLOWED_HOSTS', host);
  onTestFinished(() => void vi.unstubAllEnvs());
  const at = (id: string, more: GitCommitContainsOptions = {}) =>
    look(gitCommitContains({ ref: 'main', ...more }), commitLocation(`${origin}/served.git`, { commit: id }));
  expect(await at(second)).toMatchObject({ result: 'pass' });
  expect(await at(first)).toMatchObject({ result: 'pass' });
  expect(await at('1'.repeat(40))).toEqual({ result: 'fail', cause: 'commit-missing' });
  expect(await at(first, { paths: [{ path: 'CHANGELOG.md', digest: sha256('one') }] })).toMatchObject({
    result: 'pass',
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
