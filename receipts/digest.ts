/** Canonical bytes (RFC 8785) and SHA-256, in pure JavaScript so that the same digest is made in the workflow sandbox. */
import canonicalize from 'canonicalize';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** `sha256:` and 64 hexadecimal digits. */
export type Sha256 = `sha256:${string}`;

const SHA256_PATTERN = /^sha256:[0-9a-f]{64}$/;

export function isSha256(text: string): text is Sha256 {
  return SHA256_PATTERN.test(text);
}

/** Canonical JSON of a value: keys sorted, no white space, `undefined` members left out. */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

export function digestText(text: string): Sha256 {
  return `sha256:${bytesToHex(sha256(utf8ToBytes(text)))}`;
}

/** Digest of a JSON value by its canonical form: equal values give equal digests whatever their key order. */
export function digestJson(value: unknown): Sha256 {
  return digestText(canonicalJson(value));
}

/**
 * The short form under which a chain row remembers a milestone's digest: 16 hexadecimal digits. A collision among the 32
 * that are remembered would hide one milestone (once in 10^16), it could never invent one.
 */
export function digestKey(digest: string): string {
  return digestText(digest).slice('sha256:'.length, 'sha256:'.length + 16);
}
