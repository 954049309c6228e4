/**
 * From links to sources: what each link means from where the document lies, and every source once. Pure.
 *
 * The list and its order depend on nothing but the text and its place, so that each activity, the report and the check
 * that recounts it make the same list by themselves and only numbers have to travel.
 */
import { posix } from 'node:path';
import { readDocument } from './links.ts';
import type { Link, ReadDocument } from './links.ts';
import type { Place } from '../../../workflows/agents/source-check-messages.ts';

export type Target =
  | { readonly kind: 'address'; readonly url: string; readonly fragment: string | null }
  /** A file below the document root. */
  | { readonly kind: 'file'; readonly path: string; readonly fragment: string | null }
  | { readonly kind: 'anchor'; readonly fragment: string }
  | { readonly kind: 'footnote'; readonly label: string }
  /** `mailto:` and the like: nothing that can be asked. */
  | { readonly kind: 'skipped'; readonly cause: string }
  | { readonly kind: 'refused'; readonly cause: string }
  | { readonly kind: 'broken'; readonly cause: string };

/** One source, however often it is linked. */
export interface Source {
  /** Its identity: equal keys are one source. */
  readonly key: string;
  readonly target: Target;
  readonly occurrences: readonly Link[];
}

export interface Inventory {
  readonly sources: readonly Source[];
  /** Places in the text; more than sources where one is linked twice. */
  readonly links: number;
  readonly document: ReadDocument;
}

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

export function takeInventory(text: string, place: Place): Inventory {
  const document = readDocument(text);
  const sources = new Map<string, { target: Target; occurrences: Link[] }>();
  for (const link of document.links) {
    const { key, target } = resolveLink(link, place);
    const known = sources.get(key);
    if (known === undefined) sources.set(key, { target, occurrences: [link] });
    else known.occurrences.push(link);
  }
  return {
    sources: [...sources].map(([key, source]) => ({ key, ...source })),
    links: document.links.length,
    document,
  };
}

function resolveLink(link: Link, place: Place): { key: string; target: Target } {
  const { kind, url } = link;
  if (kind === 'footnote') return { key: url, target: { kind: 'footnote', label: url.slice(2, -1) } };
  if (url === '') return { key: '', target: { kind: 'broken', cause: 'empty-link' } };
  if (url.startsWith('#')) {
    return { key: url, target: { kind: 'anchor', fragment: decoded(url.slice(1)) } };
  }
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    return scheme === 'file'
      ? { key: url, target: { kind: 'refused', cause: 'scheme' } }
      : { key: url, target: { kind: 'skipped', cause: `scheme-${scheme}`.slice(0, 40) } };
  }
  if (scheme === undefined && place.kind === 'file' && !url.startsWith('//')) return inRoot(url, place.path);
  const from = place.kind === 'address' ? place.url : 'https://host.invalid/';
  if (!URL.canParse(url, from)) return { key: url, target: { kind: 'broken', cause: 'bad-address' } };
  const address = new URL(url, from);
  const fragment = address.hash === '' ? null : decoded(address.hash.slice(1));
  const key = address.href;
  address.hash = '';
  return { key, target: { kind: 'address', url: address.href, fragment } };
}

/** A relative link of a document that is a file: another file below the same root. */
function inRoot(url: string, documentPath: string): { key: string; target: Target } {
  const [beforeHash = '', ...hash] = url.split('#');
  const fragment = hash.length === 0 ? null : decoded(hash.join('#'));
  const [path = ''] = beforeHash.split('?');
  const joined = path.startsWith('/')
    ? posix.normalize(`.${decoded(path)}`)
    : posix.join(posix.dirname(documentPath), decoded(path));
  const key = `./${joined}${fragment === null ? '' : `#${fragment}`}`;
  // The root is where the operator said; what lies outside is refused whether it exists or not.
  if (joined === '..' || joined.startsWith('../')) return { key, target: { kind: 'refused', cause: 'outside-root' } };
  return { key, target: { kind: 'file', path: joined, fragment } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray percent sign: browsers take it as it stands.
  }
}

/** Whether a page's anchors hold a fragment; null where a page cannot be asked for it. */
export function findFragment(fragment: string, anchors: ReadonlySet<string>): boolean | null {
  const [plain = ''] = fragment.split(':~:'); // What follows is text for the browser to look for.
  if (plain === '' || plain === 'top') return true;
  if (anchors.has(plain) || anchors.has(plain.toLowerCase())) return true;
  // Routes of pages made by script, and line numbers of source views: no element has them as its id.
  if (/^[/!]/.test(plain) || /^L\d+(?:-L?\d+)?$/.test(plain)) return null;
  return false;
}
