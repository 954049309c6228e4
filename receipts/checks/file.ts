/**
 * Reading one artifact under a root: never outside of it, never half of it, and never a directory, a pipe or a device.
 *
 * The size, the modification time and the identity of the file are compared before and after: a file that changed under
 * our eyes gives no digest of a state that never existed.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { CheckFinding } from '../contract.ts';
import type { Sha256 } from '../digest.ts';

export interface ReadBounds {
  readonly root: string;
  /** More than this is not read. */
  readonly maximumBytes: number;
  /** Keep the content, for a check that looks into it. */
  readonly keepContent?: boolean;
}

export interface ReadArtifact {
  readonly path: string;
  readonly sizeBytes: number;
  readonly digest: Sha256;
  /** Empty unless it was to be kept. */
  readonly content: Buffer;
}

/** The artifact, or the finding that says why there is none. */
export type ArtifactOutcome = { readonly artifact: ReadArtifact } | { readonly finding: CheckFinding };

const TRIES = 3;
const CHUNK_BYTES = 256 * 1024;

const fail = (cause: string): { finding: CheckFinding } => ({ finding: { result: 'fail', cause } });
const unread = (cause: string): { finding: CheckFinding } => ({ finding: { result: 'unread', cause } });

/** True where `path` is `root` or lies below it; both absolute. */
export function isInside(root: string, path: string): boolean {
  const steps = relative(root, path);
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps));
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/** What a failed system call says about the artifact. Only "not there" is the artifact's fault. */
function findingOf(error: unknown): { finding: CheckFinding } {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return fail('missing');
  if (code === 'ELOOP') return fail('link-loop');
  if (code === 'ENAMETOOLONG' || code === 'ERR_INVALID_ARG_VALUE') return fail('bad-location');
  if (code === 'EACCES' || code === 'EPERM') return unread('permission');
  return unread('read-error');
}

/** Reads the artifact at `location`, relative to the root or absolute below it. */
export async function readArtifact(location: string, bounds: ReadBounds): Promise<ArtifactOutcome> {
  let root: string;
  try {
    root = await realpath(bounds.root);
  } catch {
    return unread('root-not-readable');
  }
  // Before any look at the disk: what lies outside must not even be told apart by "missing" and "not allowed".
  const wanted = resolve(root, location);
  if (!isInside(root, wanted) && !isInside(resolve(bounds.root), wanted)) return fail('outside-root');
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      const path = await realpath(wanted);
      if (!isInside(root, path)) return fail('outside-root');
      const outcome = await readOnce(path, bounds);
      if (outcome !== 'changed') return outcome;
    } catch (error) {
      return findingOf(error);
    }
  }
  return unread('changed-while-reading');
}

async function readOnce(path: string, bounds: ReadBounds): Promise<ArtifactOutcome | 'changed'> {
  // Without NONBLOCK a named pipe would hold the check for ever; the path has no links left to follow.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const before = await file.stat({ bigint: true });
    const sizeBytes = Number(before.size);
    if (before.isDirectory()) return fail('directory');
    if (!before.isFile()) return fail('not-a-file');
    if (sizeBytes === 0) return { finding: { result: 'fail', cause: 'size-zero', subject: { sizeBytes } } };
    if (sizeBytes > bounds.maximumBytes) {
      return { finding: { result: 'unread', cause: 'too-large', subject: { sizeBytes } } };
    }
    const { digest, content, readBytes } = await readAll(file, sizeBytes, bounds.keepContent === true);
    const looks = [await file.stat({ bigint: true }), await stat(path, { bigint: true })];
    const same = looks.every(
      (now) => now.size === before.size && now.mtimeNs === before.mtimeNs && now.ino === before.ino,
    );
    return same && readBytes === sizeBytes ? { artifact: { path, sizeBytes, digest, content } } : 'changed';
  } finally {
    await file.close();
  }
}

async function readAll(
  file: FileHandle,
  sizeBytes: number,
  keepContent: boolean,
): Promise<{ digest: Sha256; content: Buffer; readBytes: number }> {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let readBytes = 0;
  // One byte more than it had is enough to see that it grew; a file that grows without end is not read to its end.
  while (readBytes <= sizeBytes) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, readBytes);
    if (bytesRead === 0) break;
    readBytes += bytesRead;
    hash.update(chunk.subarray(0, bytesRead));
    if (keepContent) kept.push(Buffer.from(chunk.subarray(0, bytesRead)));
  }
  return { digest: `sha256:${hash.digest('hex')}`, content: Buffer.concat(kept), readBytes };
}
