/** What crosses between the workflow sourceCheck and its activities: names, digests and counts; never the links. */

export const SOURCE_CHECK = 'sourceCheck';
/** Sources of one activity: a few minutes of work at most, and about seven events of history. */
export const RANGE_SOURCES = 100;

/** What starts it: `--input '{"document":"notes/sources.md"}'`. */
export interface SourceCheckInput {
  /** A Markdown document: a path below the worker's document root, or an http(s) address. */
  readonly document: string;
  /** Where relative links of the document start from; where the document lies when absent. */
  readonly base?: string;
  /** How many sources are asked at once, 1 to 20; 10 when absent. */
  readonly concurrency?: number;
  /** For each request, 1 to 60; 10 when absent. */
  readonly timeoutSeconds?: number;
}

/** What relative links of a document start from: a path below the document root, or an address. */
export type Place =
  { readonly kind: 'file'; readonly path: string } | { readonly kind: 'address'; readonly url: string };

/** The document as it was read at the start: everything later speaks of exactly this content. */
export interface OpenedDocument {
  /** The path from the document root, or the address. */
  readonly name: string;
  readonly readFrom: 'file' | 'address';
  readonly place: Place;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly headings: number;
  /** Places in the text. */
  readonly links: number;
  /** Different sources behind them. */
  readonly sources: number;
}

/** Sources `from` (included) to `to` (excluded) of the document's inventory. */
export interface SourceRange {
  readonly input: SourceCheckInput;
  readonly document: OpenedDocument;
  readonly from: number;
  readonly to: number;
}

export interface SourceCheckResult {
  /** File names below the output root. */
  readonly report: { readonly json: string; readonly markdown: string; readonly digest: string };
  readonly links: number;
  readonly sources: number;
  readonly ok: number;
  readonly broken: number;
  readonly unreachable: number;
  readonly refused: number;
  readonly restricted: number;
  readonly skipped: number;
}

export interface SourceCheckActivities {
  openSourceDocument(input: SourceCheckInput): Promise<OpenedDocument>;
  checkSources(range: SourceRange): Promise<{ readonly checked: number }>;
  writeSourceReport(report: Pick<SourceRange, 'input' | 'document'>): Promise<SourceCheckResult>;
}
