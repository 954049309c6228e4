/**
 * What a Markdown document links to, cites and offers as anchors. Pure: text in, values out, in the order of the text.
 *
 * Read as GitHub reads it (CommonMark with tables, bare addresses and footnotes), because that is where such documents
 * are read. What stands in code is no link. HTML inside of Markdown counts with its `href`, `src`, `id` and `name`.
 */
import GithubSlugger from 'github-slugger';
import { Parser } from 'htmlparser2';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import footnotePlugin from 'markdown-it-footnote';

export const LINK_KINDS = ['inline', 'reference', 'autolink', 'image', 'definition', 'footnote', 'html'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** One place in the text that points somewhere. */
export interface Link {
  readonly kind: LinkKind;
  /** As it is written; of a footnote `[^label]`. */
  readonly url: string;
  /** What a reader sees, at most 80 characters. */
  readonly label: string;
  /** Counted from 1. */
  readonly line: number;
}

export interface ReadDocument {
  readonly links: readonly Link[];
  /** What `#…` can point to: headings as GitHub names them, ids and names of HTML. */
  readonly anchors: ReadonlySet<string>;
  /** Labels of the footnotes that the document has. */
  readonly footnotes: ReadonlySet<string>;
  readonly headings: number;
}

const LABEL_CHARACTERS = 80;
/** A footnote mark that no definition answers stays text: `[^label]`. */
const DANGLING_FOOTNOTE = /\[\^([^\]\s]{1,100})\]/g;

const markdown = new MarkdownIt({ html: true, linkify: true });
markdown.use(footnotePlugin);
// Which links are harmless is not the reader's question here: what is written is to be seen, exactly as it is written.
markdown.validateLink = () => true;
markdown.normalizeLink = (url) => url;
// Only addresses with their scheme: without it every file name (`README.md`) would be a domain.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** What the parser keeps of a document beside its tokens. */
interface Environment {
  references?: Record<string, { readonly href: string }>;
  footnotes?: { readonly refs?: Record<string, number> };
}

interface Collected {
  readonly links: Link[];
  readonly anchors: Set<string>;
  /** Names of definitions, in the parser's form, that the text uses. */
  readonly used: Set<string>;
}

export function readDocument(text: string): ReadDocument {
  const environment: Environment = {};
  const collected: Collected = { links: [], anchors: new Set(), used: new Set() };
  const slugger = new GithubSlugger();
  const tokens = markdown.parse(text, environment as Record<string, unknown>);
  let headings = 0;
  let line = 1;
  tokens.forEach((token, index) => {
    if (token.map !== null) line = token.map[0] + 1;
    if (token.type === 'html_block') collectHtml(token.content, line, collected);
    if (token.type !== 'inline') return;
    collectInline(token.children ?? [], line, collected);
    if (tokens[index - 1]?.type === 'heading_open') {
      headings += 1;
      collected.anchors.add(slugger.slug(plainText(token.children ?? [])));
    }
  });
  // A source in the list at the end that the text never names is cited all the same.
  const lines = definitionLines(text);
  for (const [name, { href }] of Object.entries(environment.references ?? {})) {
    if (!collected.used.has(name)) add(collected, 'definition', href, name.toLowerCase(), lines.get(name) ?? 1);
  }
  return {
    links: collected.links.sort((a, b) => a.line - b.line),
    anchors: collected.anchors,
    footnotes: new Set(Object.keys(environment.footnotes?.refs ?? {}).map((name) => name.slice(1))),
    headings,
  };
}

function collectInline(tokens: readonly Token[], firstLine: number, into: Collected): void {
  let line = firstLine;
  tokens.forEach((token, index) => {
    const meta = (token.meta ?? {}) as { readonly label?: string };
    switch (token.type) {
      case 'softbreak':
      case 'hardbreak':
        line += 1;
        break;
      case 'link_open': {
        if (meta.label !== undefined) into.used.add(meta.label);
        const kind = token.info === 'auto' ? 'autolink' : meta.label === undefined ? 'inline' : 'reference';
        let end = index;
        while (end < tokens.length && tokens[end]?.type !== 'link_close') end += 1;
        add(into, kind, String(token.attrGet('href') ?? ''), plainText(tokens.slice(index, end)), line);
        break;
      }
      case 'image':
        if (meta.label !== undefined) into.used.add(meta.label);
        add(into, 'image', String(token.attrGet('src') ?? ''), plainText(token.children ?? []), line);
        break;
      case 'footnote_ref':
        add(into, 'footnote', `[^${meta.label ?? ''}]`, meta.label ?? '', line);
        break;
      case 'html_inline':
        collectHtml(token.content, line, into);
        break;
      case 'text':
        for (const [mark, label = ''] of token.content.matchAll(DANGLING_FOOTNOTE)) {
          add(into, 'footnote', mark, label, line);
        }
        break;
      default:
    }
  });
}

const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content, children }) =>
      type === 'image' ? plainText(children ?? []) : type === 'softbreak' ? ' ' : type === 'html_inline' ? '' : content,
    )
    .join('');

/** Where each definition stands, by its name in the parser's form: the parser itself does not tell. */
function definitionLines(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  text.split('\n').forEach((content, index) => {
    const [, label] = /^[ >]{0,12}\[((?:[^\]\\]|\\.){1,999})\]:/.exec(content) ?? [];
    if (label === undefined) return;
    const name = markdown.utils.normalizeReference(label);
    if (!found.has(name)) found.set(name, index + 1);
  });
  return found;
}

function add(into: Collected, kind: LinkKind, url: string, label: string, line: number): void {
  const seen = label.replace(/\s+/g, ' ').trim().slice(0, LABEL_CHARACTERS);
  into.links.push({ kind, url: url.trim(), label: seen, line });
}

function collectHtml(html: string, line: number, into: Collected): void {
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const { id, name: anchor, href, src, alt } = attributes;
      if (id !== undefined) into.anchors.add(id);
      if (name === 'a' && anchor !== undefined) into.anchors.add(anchor);
      if ((name === 'a' || name === 'area') && href !== undefined) add(into, 'html', href, '', line);
      if (name === 'img' && src !== undefined) add(into, 'image', src, alt ?? '', line);
    },
  });
  parser.end(html);
}

/** The anchors of an HTML page: every id, and the name of every `a`. */
export function htmlAnchors(html: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const parser = new Parser({
    onopentag: (name, { id, name: anchor }) => {
      for (const found of [id, name === 'a' ? anchor : undefined]) {
        if (found === undefined || found === '') continue;
        anchors.add(found);
        // GitHub gives the headings of rendered Markdown this prefix and takes it away again by script.
        if (found.startsWith('user-content-')) anchors.add(found.slice('user-content-'.length));
      }
    },
  });
  parser.end(html);
  return anchors;
}
