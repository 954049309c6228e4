/**
 * Which addresses a check may ask: public ones, and the hosts that the operator lists.
 *
 * A link or a location is written by somebody else. Followed blindly, it makes the worker ask machines that only the
 * worker can reach: its own ports, the private network, a cloud's metadata address. So every address is looked at after
 * name resolution and after each redirect, and the connection goes to exactly the addresses that were looked at.
 *
 * The URL parser has already turned odd notations (`0x7f.1`, `2130706433`, full-width digits) into plain ones.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Hosts that may be asked although they are internal, as `host` (any port) or `host:port`. */
export interface AddressPolicy {
  readonly allowedHosts: readonly string[];
}

/** One address of a host, as the resolver of `node:net` wants it. */
export interface VettedAddress {
  readonly address: string;
  readonly family: number;
}

export type Vetted =
  | { readonly allowed: true; readonly addresses: readonly VettedAddress[] }
  | { readonly allowed: false; readonly cause: 'internal-address' | 'scheme' | 'credentials' }
  /** The name could not be resolved: that says nothing about the address. */
  | { readonly allowed: 'unknown'; readonly cause: 'name-not-found' };

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** True for an address that the whole internet may use; false for everything else and for what is no address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text); // An IPv4 address in IPv6 clothes (`::ffff:10.0.0.1`) is judged as IPv4.
  if (address.range() !== 'unicast') return false;
  // Of IPv6 only 2000::/3 is in public use; the rest holds local, embedded and future forms that the table may not know.
  return !(address instanceof ipaddr.IPv6) || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/** True where the operator lists the URL's host, with its port or for any port. */
export function isListedHost(url: URL, policy: AddressPolicy): boolean {
  const host = bare(url.hostname).toLowerCase();
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? '') : url.port;
  return policy.allowedHosts.some((listed) => {
    const wanted = listed.trim().toLowerCase();
    return wanted !== '' && (wanted === host || wanted === `${host}:${port}` || wanted === `[${host}]:${port}`);
  });
}

type Resolve = (hostname: string) => Promise<readonly VettedAddress[]>;

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/** Decides about one URL. The request must then be made to the addresses given back and to no others. */
export async function vetUrl(url: URL, policy: AddressPolicy, resolve: Resolve = resolveBySystem): Promise<Vetted> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { allowed: false, cause: 'scheme' };
  if (url.username !== '' || url.password !== '') return { allowed: false, cause: 'credentials' };
  const hostname = bare(url.hostname);
  const family = isIP(hostname);
  let addresses: readonly VettedAddress[];
  if (family !== 0) {
    addresses = [{ address: hostname, family }];
  } else {
    try {
      addresses = await resolve(hostname);
    } catch {
      return { allowed: 'unknown', cause: 'name-not-found' };
    }
    if (addresses.length === 0) return { allowed: 'unknown', cause: 'name-not-found' };
  }
  if (isListedHost(url, policy)) return { allowed: true, addresses };
  // A name that answers with a public and an internal address at once is how a rebinding attack looks: all or nothing.
  if (!addresses.every(({ address }) => isPublicAddress(address))) return { allowed: false, cause: 'internal-address' };
  return { allowed: true, addresses };
}
