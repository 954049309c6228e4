/**
 * Looks at one source. What a destination does is a finding; nothing is thrown for it.
 *
 * HEAD first, so that a large file is not fetched only to find it too large to digest. Servers answer HEAD in many wrong
 * ways: only a good answer to it counts, everything else is decided by GET.
 */
import { readArtifact } from '../../../receipts/checks/file.ts';
import { boundedRequest } from '../../../receipts/checks/request.ts';
import type { Answered, RequestOutcome } from '../../../receipts/checks/request.ts';
import { finding } from './finding.ts';
import type { Look, SourceFinding } from './finding.ts';
import { htmlAnchors, readDocument } from './links.ts';
import type { ReadDocument } from './links.ts';
import { findFragment } from './sources.ts';
import type { Source, Target } from './sources.ts';

export interface LookBounds {
  readonly documentRoot: string | null;
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  /** Larger content is not read to its end and has no digest. */
  readonly maximumBytes: number;
  readonly signal: AbortSignal;
}

export const MAXIMUM_REDIRECTS = 5;

/** One page, asked once however many of its fragments are linked. */
interface Page {
  readonly look: Look;
  readonly anchors: ReadonlySet<string> | null;
}

/** Looks at sources of one document; pages are kept for its own life only. */
export class Looker {
  readonly #bounds: LookBounds;
  readonly #document: ReadDocument;
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(document: ReadDocument, bounds: LookBounds) {
    this.#document = document;
    this.#bounds = bounds;
  }

  async look({ target }: Source): Promise<Look> {
    switch (target.kind) {
      case 'skipped':
      case 'refused':
      case 'broken':
        return { final: true, finding: finding(target.kind, target.cause) };
      case 'footnote':
        return ended(this.#document.footnotes.has(target.label) ? finding('ok', null) : broken('footnote-missing'));
      case 'anchor':
        return ended(withFragment(finding('ok', null), target.fragment, this.#document.anchors));
      case 'file':
      case 'address':
        return this.#lookAtPage(target);
    }
  }

  async #lookAtPage(target: Extract<Target, { kind: 'file' | 'address' }>): Promise<Look> {
    const key = target.kind === 'file' ? `file ${target.path}` : target.url;
    let page = this.#pages.get(key);
    if (page === undefined) {
      page = target.kind === 'file' ? this.#readFile(target.path) : this.#ask(target.url);
      this.#pages.set(key, page);
    }
    const { look, anchors } = await page;
    if (target.fragment === null || look.finding.outcome !== 'ok') return look;
    return ended(withFragment(look.finding, target.fragment, anchors));
  }

  async #readFile(path: string): Promise<Page> {
    const { documentRoot, maximumBytes } = this.#bounds;
    const only = (it: SourceFinding): Page => ({ look: ended(it), anchors: null });
    if (documentRoot === null) return only(finding('refused', 'outside-root'));
    const read = await readArtifact(path === '.' ? '' : path, {
      root: documentRoot,
      maximumBytes,
      keepContent: true,
    });
    if ('artifact' in read) {
      const { digest, sizeBytes, content } = read.artifact;
      return {
        look: ended(finding('ok', null, { digest, sizeBytes })),
        anchors: anchorsOf(content, path.toLowerCase().replace(/^.*\./, '')),
      };
    }
    const { cause = 'read-error', result, subject } = read.finding;
    // A folder and an empty file are there: a reader who follows the link finds them.
    if (cause === 'directory' || cause === 'size-zero') return only(finding('ok', null));
    if (cause === 'too-large') return only(finding('ok', null, { sizeBytes: subject?.sizeBytes ?? null }));
    if (cause === 'outside-root') return only(finding('refused', cause));
    if (cause === 'permission') return only(finding('restricted', cause));
    return result === 'fail'
      ? only(broken(cause === 'missing' ? 'file-missing' : cause))
      : { look: { final: false, finding: finding('unreachable', cause) }, anchors: null };
  }

  async #ask(url: string): Promise<Page> {
    const { allowedHosts, timeoutMs, maximumBytes, signal } = this.#bounds;
    const bounds = { timeoutMs, maximumBytes, redirects: MAXIMUM_REDIRECTS, addresses: { allowedHosts }, signal };
    const head = await boundedRequest(url, { ...bounds, method: 'HEAD' });
    if (head.kind === 'answered' && isGood(head.status) && (head.contentLength ?? 0) > maximumBytes) {
      return { look: lookAt(url, { ...head, longer: true, digest: null }), anchors: null };
    }
    // Not asked again where asking is refused: a second request would find the same address.
    const answer = head.kind === 'not-allowed' ? head : await boundedRequest(url, { ...bounds, method: 'GET' });
    const anchors =
      answer.kind === 'answered' && isGood(answer.status) && !answer.longer && !answer.encoded
        ? anchorsOf(answer.body, answer.contentType)
        : null;
    return { look: lookAt(url, answer), anchors };
  }
}

const ended = (it: SourceFinding): Look => ({ final: true, finding: it });
const broken = (cause: string, more: Partial<SourceFinding> = {}): SourceFinding => finding('broken', cause, more);
const isGood = (status: number): boolean => status >= 200 && status < 300;

function lookAt(url: string, outcome: RequestOutcome): Look {
  switch (outcome.kind) {
    case 'not-allowed':
      return ended(finding('refused', outcome.cause, outcome.url === url ? {} : { finalUrl: outcome.url }));
    case 'too-many-redirects':
      return ended(broken('too-many-redirects', { redirects: MAXIMUM_REDIRECTS }));
    case 'no-answer': {
      // A bad certificate will be as bad in a minute; everything else may be a moment's weakness.
      const final = outcome.cause === 'certificate';
      return { final, finding: finding('unreachable', outcome.cause) };
    }
    case 'answered':
      return ofStatus(url, outcome);
  }
}

function ofStatus(url: string, answer: Answered): Look {
  const { status, finalUrl, redirects, digest, longer, body, contentLength } = answer;
  const more = { status, redirects, finalUrl: finalUrl === url ? null : finalUrl };
  if (isGood(status)) {
    return ended(finding('ok', null, { ...more, digest, sizeBytes: longer ? contentLength : body.length }));
  }
  if (status === 401 || status === 403) return ended(finding('restricted', `status-${status}`, more));
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    return { final: false, finding: finding('unreachable', `status-${status}`, more) };
  }
  return ended(broken(`status-${status}`, more));
}

/** The anchors of what can have some, by its content type or the ending of its name; null for everything else. */
function anchorsOf(content: Buffer, type: string): ReadonlySet<string> | null {
  if (/^(?:text\/html|application\/xhtml\+xml|html?)\b/i.test(type)) return htmlAnchors(content.toString('utf8'));
  if (/^(?:text\/(?:x-)?markdown|md|markdown)\b/i.test(type)) return readDocument(content.toString('utf8')).anchors;
  return null;
}

function withFragment(it: SourceFinding, fragment: string, anchors: ReadonlySet<string> | null): SourceFinding {
  const found = anchors === null ? null : findFragment(fragment, anchors);
  if (found === null) return { ...it, fragment: 'not-checked' };
  return found
    ? { ...it, fragment: 'found' }
    : { ...it, outcome: 'broken', cause: 'fragment-missing', fragment: 'missing' };
}
