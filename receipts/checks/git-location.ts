/** Which repository a location means, and whether this worker may ask it. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckFinding } from '../contract.ts';
import { vetUrl } from './addresses.ts';
import type { AddressPolicy } from './addresses.ts';
import { isInside } from './file.ts';
import { allowedHosts } from './options.ts';
import { boundedRequest } from './request.ts';

export interface Repository {
  /** As git is given it: an absolute path or an address. */
  readonly address: string;
  readonly transport: 'file' | 'http' | 'https' | 'ssh' | 'git';
  /** Configuration that holds an HTTP connection to the addresses that were looked at. */
  readonly settings: readonly (readonly [string, string])[];
  /** False where it can only be fetched whole: files on a web server, without git behind it. */
  readonly isServed: boolean;
}

export interface WhereToLook {
  readonly root: string | undefined;
  readonly repositories: readonly string[] | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

type Located = { readonly repository: Repository } | { readonly finding: CheckFinding };

const fail = (cause: string): Located => ({ finding: { result: 'fail', cause } });
const unread = (cause: string): Located => ({ finding: { result: 'unread', cause } });

/** `user@host:path`, with no slash before the colon. */
const SCP_LIKE = /^(?:[\w.-]+@)?[A-Za-z0-9][\w.-]*:(?!\/\/)[^\s:]/;

/**
 * A repository that the contract names is asked wherever it is. Of others only files below the root and public HTTP
 * addresses are: over ssh the worker would log in with its own keys where a stranger wants it to.
 */
export async function locateRepository(place: string, where: WhereToLook): Promise<Located> {
  const { root, repositories } = where;
  if (place === '' || place.startsWith('-') || /\p{Cc}/u.test(place)) return fail('bad-location');
  if (repositories !== undefined && !repositories.includes(place)) return fail('other-destination');
  const isNamed = repositories !== undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(place)?.[1]?.toLowerCase();
  // `name::rest` would be a transport of its own program.
  if (/^[\w+.-]+::/.test(place)) return unread('not-allowed');
  if (scheme === undefined && !isAbsolute(place) && SCP_LIKE.test(place)) return overSsh(place, isNamed);
  switch (scheme) {
    case undefined:
      return onDisk(place, root, isNamed);
    case 'file':
      return onDisk(pathOf(place), root, isNamed);
    case 'http':
    case 'https':
      return overHttp(place, scheme, isNamed, where);
    case 'ssh':
      return overSsh(place, isNamed);
    case 'git':
      return isNamed
        ? { repository: { address: place, transport: 'git', settings: [], isServed: true } }
        : unread('not-allowed');
    default:
      return unread('not-allowed');
  }
}

function overSsh(address: string, isNamed: boolean): Located {
  return isNamed ? { repository: { address, transport: 'ssh', settings: [], isServed: true } } : unread('not-allowed');
}

function pathOf(address: string): string | null {
  try {
    return fileURLToPath(address);
  } catch {
    return null;
  }
}

async function onDisk(path: string | null, root: string | undefined, isNamed: boolean): Promise<Located> {
  if (path === null || (isNamed && !isAbsolute(path) && root === undefined)) return fail('bad-location');
  if (root === undefined && !isNamed) return unread('root-not-configured');
  let realRoot = '/';
  try {
    if (root !== undefined) realRoot = await realpath(root);
  } catch {
    return unread('root-not-readable');
  }
  const wanted = resolve(realRoot, path);
  const mayBe = (one: string): boolean => isNamed || isInside(realRoot, one) || isInside(resolve(root ?? '/'), one);
  if (!mayBe(wanted)) return fail('outside-root');
  try {
    const real = await realpath(wanted);
    if (!mayBe(real)) return fail('outside-root');
    if (!(await stat(real)).isDirectory()) return fail('not-a-repository');
    return { repository: { address: real, transport: 'file', settings: [], isServed: true } };
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return fail('missing');
    return unread(code === 'EACCES' || code === 'EPERM' ? 'permission' : 'read-error');
  }
}

async function overHttp(
  place: string,
  transport: 'http' | 'https',
  isNamed: boolean,
  where: WhereToLook,
): Promise<Located> {
  if (!URL.canParse(place)) return fail('bad-location');
  const url = new URL(place);
  if (url.username !== '' || url.password !== '') return unread('not-allowed');
  const port = url.port === '' ? (transport === 'https' ? '443' : '80') : url.port;
  const policy = { allowedHosts: [...(isNamed ? [`${url.hostname}:${port}`] : []), ...allowedHosts()] };
  const vetted = await vetUrl(url, policy);
  if (vetted.allowed === 'unknown') return unread(vetted.cause);
  if (!vetted.allowed) return unread('not-allowed');
  const addresses = vetted.addresses.map(({ address, family }) => (family === 6 ? `[${address}]` : address));
  // Between the look and the connection the name could come to mean another address.
  const pin = `${url.hostname}:${port}:${addresses.join(',')}`;
  const isServed = await isServedByGit(url, policy, where);
  return { repository: { address: url.href, transport, settings: [['http.curloptResolve', pin]], isServed } };
}

/**
 * Asked for a part of a repository that is plain files, git asks itself for the rest of it, without end. So it is asked for
 * a part only where no plain file answers.
 */
async function isServedByGit(url: URL, addresses: AddressPolicy, { timeoutMs, signal }: WhereToLook): Promise<boolean> {
  const service = new URL(url);
  service.pathname = `${service.pathname.replace(/\/$/, '')}/info/refs`;
  service.search = '?service=git-upload-pack';
  const bounds = { timeoutMs, maximumBytes: 1024, redirects: 0 };
  const answer = await boundedRequest(service.href, { method: 'GET', ...bounds, addresses, signal });
  if (answer.kind !== 'answered' || answer.status !== 200) return true;
  return answer.contentType.startsWith('application/x-git-upload-pack-advertisement');
}
