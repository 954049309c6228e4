/**
 * JUnit XML as the test runners write it: `testsuites` or `testsuite` at the root, suites within suites, `testcase` with
 * `failure`, `error` or `skipped` inside.
 *
 * Read as a stream, so that memory does not follow the size. The parser knows the five predefined entities only; a
 * document type, which is where others would be declared, is refused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import type { ReadReport, ReportTally, TestOutcome, TestTotals } from './report-tally.ts';

const CHUNK_BYTES = 64 * 1024;
/** Suites lie in suites a few levels deep; a tower of them would only cost memory. */
const DEEPEST = 64;
const SUITES: ReadonlySet<string> = new Set(['testsuites', 'testsuite']);
const NOT_RUN: ReadonlySet<string> = new Set(['notrun', 'disabled', 'suppressed', 'skipped']);

/** What stops the parser with a word of ours; every other error of it says that the XML is not well-formed. */
class Refused extends Error {
  readonly word: string;

  constructor(word: string) {
    super(word);
    this.word = word;
  }
}

interface Case {
  readonly names: readonly string[];
  outcome: TestOutcome;
}

type Attributes = Readonly<Record<string, string>>;

const WORSE: readonly TestOutcome[] = ['passed', 'skipped', 'failed', 'error'];
const BY_CHILD: ReadonlyMap<string, TestOutcome> = new Map([
  ['failure', 'failed'],
  ['error', 'error'],
  ['skipped', 'skipped'],
]);

class JunitReader {
  readonly #tally: ReportTally;
  readonly #path: string[] = [];
  readonly #suites: string[] = [];
  readonly #stated = { root: { tests: 0, failures: 0, errors: 0 }, below: { tests: 0, failures: 0, errors: 0 } };
  #case: Case | null = null;

  constructor(tally: ReportTally) {
    this.#tally = tally;
  }

  open(name: string, attributes: Attributes): void {
    const parent = this.#path.at(-1);
    if (parent === undefined && !SUITES.has(name)) throw new Refused('not-a-test-report');
    if (this.#path.length >= DEEPEST) throw new Refused('too-deep');
    this.#path.push(name);
    const inSuite = parent === undefined || SUITES.has(parent);
    if (inSuite && SUITES.has(name)) this.#openSuite(attributes);
    else if (inSuite && name === 'testcase') this.#case = openCase(attributes);
    else if (parent === 'testcase' && this.#case !== null) this.#meet(this.#case, BY_CHILD.get(name));
    else if (inSuite && (name === 'error' || name === 'failure')) this.#tally.addError();
  }

  close(): void {
    const name = this.#path.pop();
    const parent = this.#path.at(-1);
    const inSuite = parent === undefined || SUITES.has(parent);
    if (name === 'testcase' && inSuite && this.#case !== null) {
      this.#tally.add(this.#case.outcome, this.#case.names, this.#suites);
      this.#case = null;
    } else if (name !== undefined && inSuite && SUITES.has(name)) this.#suites.pop();
  }

  /** The root's own totals; where it states none, those of the suites right below it. */
  stated(): TestTotals {
    const { root, below } = this.#stated;
    return {
      tests: Math.max(root.tests, below.tests),
      failures: Math.max(root.failures, below.failures),
      errors: Math.max(root.errors, below.errors),
    };
  }

  #openSuite(attributes: Attributes): void {
    this.#suites.push(attributes['name'] ?? '');
    const level = this.#path.length === 1 ? this.#stated.root : this.#path.length === 2 ? this.#stated.below : null;
    if (level === null) return;
    // A root suite with tests of its own and suites below states both in one; only a bare `testsuites` is a sum.
    if (this.#path.length === 2 && this.#path[0] !== 'testsuites') return;
    level.tests += countOf(attributes['tests']);
    level.failures += countOf(attributes['failures']);
    level.errors += countOf(attributes['errors']);
  }

  #meet(test: Case, outcome: TestOutcome | undefined): void {
    if (outcome !== undefined && WORSE.indexOf(outcome) > WORSE.indexOf(test.outcome)) test.outcome = outcome;
  }
}

function openCase(attributes: Attributes): Case {
  const name = attributes['name'] ?? '';
  const owner = attributes['classname'] ?? '';
  const isRun = !NOT_RUN.has(attributes['status'] ?? '') && !NOT_RUN.has(attributes['result'] ?? '');
  return { names: owner === '' ? [name] : [name, `${owner}.${name}`], outcome: isRun ? 'passed' : 'skipped' };
}

/** A total that is no number is no total to trust. */
function countOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\s*\d{1,15}\s*$/.test(text)) throw new Refused('bad-count');
  return Number(text);
}

/** By byte order mark, else as its first line declares it, else UTF-8. Null for an encoding nobody knows. */
function decoderFor(content: Buffer): TextDecoder | null {
  const head = content.subarray(0, 200);
  const declared = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head.toString('latin1'))?.[1];
  const marked =
    head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined;
  try {
    return new TextDecoder(marked ?? declared ?? 'utf-8', { fatal: true });
  } catch {
    return null;
  }
}

/** Gives way to the worker's other work between pieces; `signal` ends it early with the word `stopped`. */
export async function readJunit(content: Buffer, tally: ReportTally, signal?: AbortSignal): Promise<ReadReport> {
  const decoder = decoderFor(content);
  if (decoder === null) return { cause: 'encoding' };
  const reader = new JunitReader(tally);
  const parser = new SaxesParser();
  parser.on('doctype', () => {
    throw new Refused('doctype');
  });
  parser.on('opentag', ({ name, attributes }) => {
    reader.open(name, attributes);
  });
  parser.on('closetag', () => {
    reader.close();
  });
  try {
    for (let from = 0; from < content.length; from += CHUNK_BYTES) {
      if (signal?.aborted === true) return { cause: 'stopped' };
      const text = decode(decoder, content.subarray(from, from + CHUNK_BYTES), from + CHUNK_BYTES < content.length);
      parser.write(text);
      await nextTurn();
    }
    parser.close();
  } catch (error) {
    return { cause: error instanceof Refused ? error.word : 'malformed' };
  }
  return { counts: tally.counts(reader.stated()), tally };
}

function decode(decoder: TextDecoder, bytes: Buffer, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw new Refused('encoding');
  }
}
