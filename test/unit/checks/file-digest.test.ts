import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { checks, fileDigest, registerCounter } from '../../../receipts/checks/index.ts';
import { folder, look } from './checking.ts';

const sha256 = (text: string): `sha256:${string}` => `sha256:${createHash('sha256').update(text).digest('hex')}`;

function promised(text: string): { root: string; path: string } {
  const root = folder();
  const path = join(root, 'report.json');
  writeFileSync(path, text);
  return { root, path };
}

describe('a file at its promised destination', () => {
  test('passes with the digest and size that it has, by absolute and by relative path', async () => {
    const { root, path } = promised('the report');
    const whole = { result: 'pass', subject: { digest: sha256('the report'), sizeBytes: 10 } };
    expect(await look(fileDigest({ root }), path)).toEqual(whole);
    expect(await look(fileDigest({ root }), 'report.json')).toEqual(whole);
  });

  test('missing, and a path through something that is no folder', async () => {
    const { root } = promised('x');
    expect(await look(fileDigest({ root }), 'other.json')).toEqual({ result: 'fail', cause: 'missing' });
    expect(await look(fileDigest({ root }), 'report.json/inner')).toEqual({ result: 'fail', cause: 'missing' });
  });

  test('empty', async () => {
    const { root } = promised('');
    expect(await look(fileDigest({ root }), 'report.json')).toMatchObject({ result: 'fail', cause: 'size-zero' });
  });

  test('truncated below the smallest size that it can have', async () => {
    const { root, path } = promised('a whole report of some length');
    truncateSync(path, 7);
    expect(await look(fileDigest({ root }), path, { minimumBytes: 20 })).toMatchObject({
      result: 'fail',
      cause: 'too-small',
      subject: { sizeBytes: 7 },
    });
    expect(await look(fileDigest({ root, minimumBytes: 20 }), path)).toMatchObject({ cause: 'too-small' });
  });

  test('another file than the one that was promised', async () => {
    const { root } = promised('changed by somebody');
    const check = fileDigest({ root, expectedDigest: sha256('the original') });
    expect(await look(check, 'report.json')).toMatchObject({ result: 'fail', cause: 'digest-differs' });
    const same = fileDigest({ root, expectedDigest: sha256('changed by somebody') });
    expect(await look(same, 'report.json')).toMatchObject({ result: 'pass' });
  });

  test('a directory, and a named pipe that would never end', async () => {
    const { root } = promised('x');
    mkdirSync(join(root, 'folder'));
    execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')]);
    expect(await look(fileDigest({ root }), 'folder')).toEqual({ result: 'fail', cause: 'directory' });
    expect(await look(fileDigest({ root }), 'pipe')).toEqual({ result: 'fail', cause: 'not-a-file' });
  });

  test('a file that this account may not read says nothing about the result', async () => {
    const { root, path } = promised('secret');
    chmodSync(root, 0o755);
    chmodSync(path, 0o000);
    // Root may read everything: the check is made as an ordinary account.
    const asNobody = process.getuid?.() === 0;
    if (asNobody) process.seteuid?.(65534);
    try {
      expect(await look(fileDigest({ root }), path)).toEqual({ result: 'unread', cause: 'permission' });
    } finally {
      if (asNobody) process.seteuid?.(0);
    }
  });

  test('a file that goes on growing gives no digest of a state that never was', async () => {
    const { root, path } = promised('line\n'.repeat(200_000));
    const writer = await open(path, 'a');
    const writing = new AbortController();
    const grow = (async () => {
      while (!writing.signal.aborted) await writer.appendFile('more\n');
    })();
    const found = await look(fileDigest({ root }), path);
    writing.abort();
    await grow;
    await writer.close();
    expect(found).toEqual({ result: 'unread', cause: 'changed-while-reading' });
    expect(await look(fileDigest({ root }), path)).toMatchObject({ result: 'pass' });
  });

  test('a file that is larger than may be read', async () => {
    const { root } = promised('0123456789');
    expect(await look(fileDigest({ root, maximumBytes: 5 }), 'report.json')).toEqual({
      result: 'unread',
      cause: 'too-large',
      subject: { sizeBytes: 10 },
    });
  });
});

describe('ways out of the root', () => {
  test('dots, absolute paths and a neighbour whose name begins alike', async () => {
    const { root, path } = promised('outside');
    const inner = join(root, 'out');
    mkdirSync(inner);
    mkdirSync(`${inner}-other`);
    writeFileSync(join(`${inner}-other`, 'f'), 'x');
    for (const location of ['../report.json', path, '/etc/hostname', `${inner}-other/f`, 'a/../../report.json']) {
      expect(await look(fileDigest({ root: inner }), location), location).toEqual({
        result: 'fail',
        cause: 'outside-root',
      });
    }
  });

  test('symbolic links, of the file and of a folder on the way; a link inside is followed', async () => {
    const { root, path } = promised('outside');
    const inner = join(root, 'out');
    mkdirSync(inner);
    symlinkSync(path, join(inner, 'file-out'));
    symlinkSync(root, join(inner, 'folder-out'));
    symlinkSync('loop', join(inner, 'loop'));
    writeFileSync(join(inner, 'real'), 'inside');
    symlinkSync('real', join(inner, 'alias'));
    const check = fileDigest({ root: inner });
    expect(await look(check, 'file-out')).toEqual({ result: 'fail', cause: 'outside-root' });
    expect(await look(check, 'folder-out/report.json')).toEqual({ result: 'fail', cause: 'outside-root' });
    expect(await look(check, 'loop')).toEqual({ result: 'fail', cause: 'link-loop' });
    expect(await look(check, 'alias')).toMatchObject({ result: 'pass' });
  });

  test('a NUL byte and a name that is too long', async () => {
    const { root } = promised('x');
    expect(await look(fileDigest({ root }), 'report.json\0.txt')).toEqual({ result: 'fail', cause: 'bad-location' });
    expect(await look(fileDigest({ root }), 'x'.repeat(300))).toEqual({ result: 'fail', cause: 'bad-location' });
  });

  test('no root at all, or one that is gone, says nothing about the result', async () => {
    vi.stubEnv('TEMPORAL_HEALTH_OUTPUT_ROOT', '');
    expect(await look(fileDigest(), '/etc/hostname')).toEqual({ result: 'unread', cause: 'root-not-configured' });
    const { root } = promised('x');
    renameSync(root, `${root}-gone`);
    expect(await look(fileDigest({ root }), 'report.json')).toEqual({ result: 'unread', cause: 'root-not-readable' });
    rmSync(`${root}-gone`, { recursive: true });
  });

  test('the machine’s root is used where the contract names none', async () => {
    const { root } = promised('the report');
    vi.stubEnv('TEMPORAL_HEALTH_OUTPUT_ROOT', root);
    expect(await look(fileDigest(), 'report.json')).toMatchObject({ result: 'pass' });
    const registered = checks['file-digest']!;
    expect(await look(registered, 'report.json', { options: { minimumBytes: 11 } })).toMatchObject({
      result: 'fail',
      cause: 'too-small',
    });
    vi.unstubAllEnvs();
  });
});

describe('coverage is counted by the check', () => {
  const lines = (content: Buffer): number => content.toString().split('\n').filter(Boolean).length;

  test('whole, incomplete, of another run, and a counter that throws', async () => {
    const { root } = promised('one\ntwo\nthree\n');
    registerCounter('three-lines', ({ content }) =>
      Promise.resolve({ counted: true, expected: 3, accepted: lines(content) }),
    );
    registerCounter('four-lines', ({ content }) =>
      Promise.resolve({ counted: true, expected: 4, accepted: lines(content) }),
    );
    registerCounter('of-run', ({ runId }) =>
      Promise.resolve({ counted: false, result: 'fail', cause: `not-${runId}` }),
    );
    registerCounter('broken', () => Promise.reject(new Error('no')));
    const withCounter = (counter: string) => look(fileDigest({ root, coverage: true, counter }), 'report.json');
    expect(await withCounter('three-lines')).toMatchObject({
      result: 'pass',
      coverage: { expected: 3, accepted: 3 },
      subject: { count: 3 },
    });
    expect(await withCounter('four-lines')).toMatchObject({
      result: 'fail',
      cause: 'incomplete',
      coverage: { expected: 4, accepted: 3 },
    });
    expect(await withCounter('of-run')).toMatchObject({ result: 'fail', cause: 'not-run-1' });
    expect(await withCounter('broken')).toMatchObject({ result: 'unread', cause: 'counter-failed' });
    expect(await withCounter('nobody-registered-it')).toMatchObject({
      result: 'unread',
      cause: 'counter-not-registered',
    });
  });
});
