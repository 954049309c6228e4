/** Reads the document of a source check, from below the document root or from an address. */
import { relative, resolve, sep } from 'node:path';
import { readArtifact } from '../../../receipts/checks/file.ts';
import { boundedRequest } from '../../../receipts/checks/request.ts';
import { HealthError } from '../../../receipts/errors.ts';
import type { Place, SourceCheckInput } from '../../../workflows/agents/source-check-messages.ts';
import { MAXIMUM_REDIRECTS } from './look.ts';

export interface DocumentBounds {
  readonly documentRoot: string | null;
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface DocumentContent {
  readonly name: string;
  readonly readFrom: 'file' | 'address';
  readonly place: Place;
  readonly text: string;
  /** Byte for byte as it was read. */
  readonly content: Buffer;
  readonly digest: string;
  readonly sizeBytes: number;
}

/** A document above this is no document that somebody wrote. */
const MAXIMUM_DOCUMENT_BYTES = 2 * 1024 * 1024;

/** What cannot be cured by asking again has a code of ours; the rest is `retry`. */
export type OpenOutcome = { readonly document: DocumentContent } | { readonly retry: string };

const isAddressOf = (document: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(document);

/** @throws HealthError INPUT_INVALID, SOURCE_NOT_ALLOWED */
export async function openDocument(input: SourceCheckInput, bounds: DocumentBounds): Promise<OpenOutcome> {
  return isAddressOf(input.document) ? openAddress(input, bounds) : openFile(input, bounds);
}

const refuse = (message: string, hint: string): HealthError =>
  new HealthError('INPUT_INVALID', message, { field: 'document', hint });

async function openFile({ document, base }: SourceCheckInput, bounds: DocumentBounds): Promise<OpenOutcome> {
  const { documentRoot: root } = bounds;
  if (root === null) {
    throw new HealthError(
      'SOURCE_NOT_ALLOWED',
      'This worker has no document root: it reads documents by address only.',
      {
        field: 'document',
        hint: 'Set TEMPORAL_HEALTH_DOCUMENT_ROOT for the worker, or give an address.',
      },
    );
  }
  const read = await readArtifact(document, { root, maximumBytes: MAXIMUM_DOCUMENT_BYTES, keepContent: true });
  if ('artifact' in read) {
    const { content, digest, sizeBytes } = read.artifact;
    const path = relative(resolve(root), resolve(root, document)).split(sep).join('/');
    const place = base === undefined ? ({ kind: 'file', path } as const) : ({ kind: 'address', url: base } as const);
    return { document: { name: path, readFrom: 'file', place, text: decode(content), content, digest, sizeBytes } };
  }
  const { cause = '', result } = read.finding;
  if (cause === 'outside-root') {
    throw new HealthError('SOURCE_NOT_ALLOWED', 'The document lies outside of the document root.', {
      field: 'document',
    });
  }
  if (cause === 'too-large') {
    throw refuse(`The document has more than ${MAXIMUM_DOCUMENT_BYTES} bytes.`, 'Split it, and check its parts.');
  }
  if (result === 'fail') {
    throw refuse(`The document cannot be read: ${cause}.`, 'Give the path of a Markdown file below the document root.');
  }
  return { retry: cause };
}

async function openAddress({ document, base }: SourceCheckInput, bounds: DocumentBounds): Promise<OpenOutcome> {
  const { allowedHosts, timeoutMs, signal } = bounds;
  const answer = await boundedRequest(document, {
    method: 'GET',
    timeoutMs,
    maximumBytes: MAXIMUM_DOCUMENT_BYTES,
    redirects: MAXIMUM_REDIRECTS,
    addresses: { allowedHosts },
    signal,
  });
  switch (answer.kind) {
    case 'not-allowed':
      throw new HealthError('SOURCE_NOT_ALLOWED', `The document may not be asked for: ${answer.cause}.`, {
        field: 'document',
        hint: 'Internal addresses are asked only where TEMPORAL_HEALTH_ALLOWED_HOSTS of the worker lists the host.',
      });
    case 'too-many-redirects':
      throw refuse('The document’s address leads in a ring.', 'Give the address where the document is.');
    case 'no-answer':
      return { retry: answer.cause };
    case 'answered':
  }
  const { status, contentType, body, digest, longer, finalUrl } = answer;
  if (status >= 500 || status === 408 || status === 425 || status === 429) return { retry: `status-${status}` };
  if (status !== 200) throw refuse(`The document’s address answers ${status}.`, 'Give the address of a Markdown text.');
  if (longer || digest === null) {
    throw refuse(`The document has more than ${MAXIMUM_DOCUMENT_BYTES} bytes.`, 'Split it, and check its parts.');
  }
  if (/\bhtml\b/i.test(contentType)) {
    throw refuse('The document is a web page and no Markdown.', 'Give the address of the raw Markdown text.');
  }
  const place = { kind: 'address', url: base ?? finalUrl } as const;
  return {
    document: {
      name: document,
      readFrom: 'address',
      place,
      text: decode(body),
      content: body,
      digest,
      sizeBytes: body.length,
    },
  };
}

function decode(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (cause) {
    throw new HealthError('INPUT_INVALID', 'The document is not UTF-8 text.', { field: 'document', cause });
  }
}
