/**
 * One HTTP request with bounds: time, size, redirects, and addresses that may be asked. Nothing is thrown for what a
 * destination does; each way it can end is a value.
 */
import { createHash } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import { vetUrl } from './addresses.ts';
import type { AddressPolicy, VettedAddress } from './addresses.ts';
import type { Sha256 } from '../digest.ts';

export interface RequestBounds {
  /** For each hop, from connecting to the last byte, in ms. */
  readonly timeoutMs: number;
  /** The body is read up to here and no further. */
  readonly maximumBytes: number;
  /** How many redirects are followed; 0 gives the redirect itself back. */
  readonly redirects: number;
}

export interface BoundedRequest extends RequestBounds {
  readonly method: 'GET' | 'HEAD';
  readonly addresses: AddressPolicy;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  /** Where the answer came from, after redirects; without a fragment. */
  readonly finalUrl: string;
  readonly redirects: number;
  readonly contentType: string;
  /** The body is compressed although that was not asked for: its digest holds, its text cannot be read. */
  readonly encoded: boolean;
  /** As the destination states it; null where it does not. */
  readonly contentLength: number | null;
  /** Of the bytes as they came, up to `maximumBytes`. */
  readonly body: Buffer;
  /** Of the whole body; null where it is longer than `maximumBytes`. */
  readonly digest: Sha256 | null;
  /** The body goes on after `maximumBytes`. */
  readonly longer: boolean;
}

export type RequestOutcome =
  | Answered
  /** Not asked, because it may not be. */
  | {
      readonly kind: 'not-allowed';
      readonly cause: 'internal-address' | 'scheme' | 'credentials';
      readonly url: string;
    }
  | { readonly kind: 'too-many-redirects'; readonly url: string }
  /** No whole answer came: it says nothing about what is there. */
  | { readonly kind: 'no-answer'; readonly cause: NoAnswerCause; readonly url: string };

export type NoAnswerCause =
  'name-not-found' | 'connection-refused' | 'connection-lost' | 'certificate' | 'timeout' | 'truncated' | 'stopped';

const USER_AGENT = 'temporal-health/0.1';

const withoutFragment = (url: URL): string => {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
};

/** Asks, following redirects within the bounds; each hop is vetted anew. */
export async function boundedRequest(address: string, request: BoundedRequest): Promise<RequestOutcome> {
  if (!URL.canParse(address)) return { kind: 'not-allowed', cause: 'scheme', url: address };
  let url = new URL(address);
  for (let redirects = 0; ; redirects += 1) {
    const vetted = await vetUrl(url, request.addresses);
    if (vetted.allowed === false) return { kind: 'not-allowed', cause: vetted.cause, url: url.href };
    if (vetted.allowed === 'unknown') return { kind: 'no-answer', cause: vetted.cause, url: url.href };
    const hop = await oneHop(url, vetted.addresses, request);
    if (hop.kind !== 'hop') return hop;
    const next = hop.location !== null && URL.canParse(hop.location, url.href) ? new URL(hop.location, url) : null;
    if (next === null || request.redirects === 0) {
      return { ...hop.answer, finalUrl: withoutFragment(url), redirects };
    }
    if (redirects >= request.redirects) return { kind: 'too-many-redirects', url: url.href };
    url = next;
  }
}

interface Hop {
  readonly kind: 'hop';
  readonly location: string | null;
  readonly answer: Omit<Answered, 'finalUrl' | 'redirects'>;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The resolver of one request: it knows the vetted addresses only, so that nobody can answer otherwise in between. */
function pinnedLookup(addresses: readonly VettedAddress[]): LookupFunction {
  return (_hostname, options, answer) => {
    const first = addresses[0];
    if (options.all === true) answer(null, [...addresses]);
    else if (first !== undefined) answer(null, first.address, first.family);
  };
}

type NoAnswer = Extract<RequestOutcome, { kind: 'no-answer' }>;

function oneHop(url: URL, addresses: readonly VettedAddress[], request: BoundedRequest): Promise<Hop | NoAnswer> {
  const deadline = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
  const { request: send } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const lost = (error: unknown): void => {
      const cause = request.signal?.aborted === true ? 'stopped' : deadline.aborted ? 'timeout' : causeOf(error);
      resolve({ kind: 'no-answer', cause, url: url.href });
    };
    const outgoing = send(url, {
      method: request.method,
      agent: false,
      lookup: pinnedLookup(addresses),
      signal,
      // A digest of compressed bytes would differ from one day to the next for the same page.
      headers: { 'user-agent': USER_AGENT, accept: '*/*', 'accept-encoding': 'identity' },
    });
    outgoing.on('error', lost);
    outgoing.on('response', (incoming) => {
      readAnswer(incoming, request, resolve, lost);
    });
    outgoing.end();
  });
}

function readAnswer(
  incoming: http.IncomingMessage,
  request: BoundedRequest,
  resolve: (hop: Hop) => void,
  lost: (error: unknown) => void,
): void {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let size = 0;
  const status = incoming.statusCode ?? 0;
  const length = Number(incoming.headers['content-length'] ?? Number.NaN);
  const finish = (longer: boolean): void => {
    resolve({
      kind: 'hop',
      location: REDIRECTS.has(status) ? (incoming.headers.location ?? null) : null,
      answer: {
        kind: 'answered',
        status,
        encoded: !['', 'identity'].includes(incoming.headers['content-encoding'] ?? ''),
        contentType: incoming.headers['content-type'] ?? '',
        contentLength: Number.isSafeInteger(length) && length >= 0 ? length : null,
        body: Buffer.concat(kept),
        digest: longer ? null : `sha256:${hash.digest('hex')}`,
        longer,
      },
    });
    if (longer) incoming.destroy();
  };
  incoming.on('data', (chunk: Buffer) => {
    const room = request.maximumBytes - size;
    size += chunk.length;
    if (size > request.maximumBytes) {
      kept.push(chunk.subarray(0, room));
      finish(true);
      return;
    }
    hash.update(chunk);
    kept.push(chunk);
  });
  incoming.on('end', () => {
    if (size <= request.maximumBytes) finish(false);
  });
  // A stream that ends early closes without `end`; after an answer was given this changes nothing.
  const cut = (): void => {
    if (!incoming.complete) lost({ code: 'TRUNCATED' });
  };
  incoming.on('error', cut);
  incoming.on('close', cut);
}

function causeOf(error: unknown): NoAnswerCause {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'name-not-found';
  if (code === 'ECONNREFUSED' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'connection-refused';
  if (code === 'TRUNCATED' || code === 'HPE_INVALID_EOF_STATE') return 'truncated';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) return 'certificate';
  if (code === 'ETIMEDOUT') return 'timeout';
  return 'connection-lost';
}
