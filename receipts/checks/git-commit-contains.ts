/**
 * What a git repository holds under a ref: a promised commit in its history, promised files with their digests, or both.
 *
 * It fetches into a folder of its own, as little as the question needs (a history without files, one commit without
 * history), and asks nothing of a repository but what any reader may: hooks, filters and configuration of either side do
 * not run.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import { isSha256 } from '../digest.ts';
import type { Sha256 } from '../digest.ts';
import { declaredCheck, joinLocation, registeredCheck, splitLocation } from './declared.ts';
import type { CheckKind, OptionReader } from './declared.ts';
import { causeOfComplaint, git } from './git-command.ts';
import type { GitBounds, GitOutcome } from './git-command.ts';
import { locateRepository } from './git-location.ts';
import type { Repository } from './git-location.ts';
import { outputRoot } from './options.ts';

export const GIT_COMMIT_CONTAINS = 'git-commit-contains';

export interface GitCommitContainsOptions {
  /** The folder that holds repositories given as paths; the machine's TEMPORAL_HEALTH_OUTPUT_ROOT where absent. */
  readonly root?: string;
  /**
   * Repositories where the result may lie, exactly as the location gives them: absolute paths or any address that git
   * reads without a prompt. Without any: paths below the root and public HTTP addresses.
   */
  readonly repositories?: readonly string[];
  /** `HEAD`, a full name such as `refs/tags/v1`, or the name of a branch. `HEAD` where neither this nor the location names one. */
  readonly ref?: string;
  /** The promised commit, as a full object id; the location's where absent. */
  readonly commit?: string;
  /** Files that the promised commit must hold (the ref's newest where no commit is promised), not empty. */
  readonly paths?: readonly (string | { readonly path: string; readonly digest: Sha256 })[];
  /** A file larger than this is not read, in bytes; 64 MiB where absent. */
  readonly maximumBytes?: number;
  /** More than this is not fetched, in bytes; 1 GiB where absent. */
  readonly maximumFetchBytes?: number;
  /** For everything together, in ms; 30 s where absent. */
  readonly timeoutMs?: number;
}

const MAXIMUM_BYTES = 64 * 1024 ** 2;
const MAXIMUM_FETCH_BYTES = 1024 ** 3;
const TIMEOUT_MS = 30_000;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const TIP = 'refs/check/tip';

/**
 * Location: the repository, and where only the run knows them `#ref=…&commit=…` (see `commitLocation`). Finding: `subject`
 * has the commit as its version, the bytes of all promised files, their number, and the digest where it is one file.
 * @throws HealthError CONTRACT_INVALID for an option that cannot be one
 */
export function gitCommitContains(options: GitCommitContainsOptions = {}): DeliverableCheck {
  return declaredCheck(kind, options);
}

/** The location of a commit in a repository, for `verify`. */
export function commitLocation(repository: string, at: { readonly ref?: string; readonly commit?: string }): string {
  return joinLocation(repository, { ref: at.ref, commit: at.commit });
}

interface PromisedFile {
  readonly path: string;
  readonly digest: string | null;
}

function read(options: OptionReader) {
  return {
    root: options.text('root'),
    repositories: options.texts('repositories'),
    ref: options.text('ref', 'HEAD, a full name of a ref or a branch', isRef),
    commit: options.text('commit', 'a full object id', (text) => OBJECT_ID.test(text)),
    paths: readPaths(options),
    maximumBytes: options.count('maximumBytes', 1) ?? MAXIMUM_BYTES,
    maximumFetchBytes: options.count('maximumFetchBytes', 1) ?? MAXIMUM_FETCH_BYTES,
    timeoutMs: options.count('timeoutMs', 1) ?? TIMEOUT_MS,
  };
}

type ReadOptions = ReturnType<typeof read>;

const kind: CheckKind<ReadOptions> = { name: GIT_COMMIT_CONTAINS, read, look };
export const registeredGitCommitContains = registeredCheck(kind);

function readPaths(options: OptionReader): readonly PromisedFile[] {
  const given: unknown = options.value('paths') ?? [];
  const wanted = 'a list of relative paths, or of { path, digest } with a sha256 digest';
  if (!Array.isArray(given)) return options.refuse('paths', wanted);
  return given.map((entry: unknown) => {
    const named = (typeof entry === 'object' && entry !== null ? entry : { path: entry }) as Record<string, unknown>;
    const { path, digest, ...more } = named;
    if (!isPath(path) || Object.keys(more).length > 0) return options.refuse('paths', wanted);
    if (digest === undefined) return { path, digest: null };
    return typeof digest === 'string' && isSha256(digest) ? { path, digest } : options.refuse('paths', wanted);
  });
}

function isPath(path: unknown): path is string {
  return (
    typeof path === 'string' &&
    !path.includes('\0') &&
    path.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
  );
}

/** As `git check-ref-format` has it, and never anything that could be an option or a pattern. */
function isRef(ref: string): boolean {
  if (ref === 'HEAD') return true;
  if (/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(ref) || ref.startsWith('-') || ref.endsWith('.') || ref === '@')
    return false;
  return ref.split('/').every((step) => step !== '' && !step.startsWith('.') && !step.endsWith('.lock'));
}

const fullName = (ref: string): string => (ref === 'HEAD' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`);

interface Promised {
  readonly ref: string;
  readonly commit: string | null;
  readonly files: readonly PromisedFile[];
  readonly maximumBytes: number;
  readonly minimumBytes: number;
}

/** A step's value, or the finding that ends the check. */
type Step<T> = { readonly value: T } | { readonly finding: CheckFinding };

const fail = (cause: string): { finding: CheckFinding } => ({ finding: { result: 'fail', cause } });
const unread = (cause: string): { finding: CheckFinding } => ({ finding: { result: 'unread', cause } });

/** What is promised: the contract's word, and only where it says nothing the location's. */
function promisedBy(
  named: Readonly<Record<string, string>>,
  request: CheckRequest,
  options: ReadOptions,
): Step<Promised> {
  const { ref, commit } = named;
  if (ref !== undefined && !isRef(ref)) return fail('bad-ref');
  if (commit !== undefined && !OBJECT_ID.test(commit)) return fail('bad-commit');
  if (options.ref !== undefined && ref !== undefined && fullName(ref) !== fullName(options.ref)) {
    return fail('other-destination');
  }
  if (options.commit !== undefined && commit !== undefined && commit !== options.commit) return fail('other-commit');
  const wanted = options.commit ?? commit ?? null;
  if (wanted === null && options.paths.length === 0) return unread('nothing-promised');
  const { paths: files, maximumBytes } = options;
  const { minimumBytes } = request;
  return { value: { ref: fullName(options.ref ?? ref ?? 'HEAD'), commit: wanted, files, maximumBytes, minimumBytes } };
}

async function look(request: CheckRequest, options: ReadOptions): Promise<CheckFinding> {
  const location = splitLocation(request.location, ['ref', 'commit']);
  if (location === null) return { result: 'fail', cause: 'bad-location' };
  const promised = promisedBy(location.named, request, options);
  if ('finding' in promised) return promised.finding;
  const root = outputRoot(options.root === undefined ? {} : { root: options.root });
  const { timeoutMs, maximumFetchBytes, repositories } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
  const located = await locateRepository(location.place, { root, repositories, timeoutMs, signal });
  if ('finding' in located) return located.finding;
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'temporal-health-git-'));
  try {
    const step = await new Look(located.repository, folder, { signal, maximumFetchBytes }).at(promised.value);
    if (!('finding' in step)) return { result: 'pass', subject: step.value };
    // The time limit is ours or the caller's: only the first is a word about the repository.
    return step.finding.cause === 'stopped' && deadline.aborted ? { result: 'unread', cause: 'timeout' } : step.finding;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** One look at one repository, in a folder that is gone afterwards. */
class Look {
  readonly #bounds: Omit<GitBounds, 'folder'>;
  readonly #folder: string;
  readonly #isServed: boolean;

  constructor(
    { address, transport, settings, isServed }: Repository,
    folder: string,
    bounds: Pick<GitBounds, 'signal' | 'maximumFetchBytes'>,
  ) {
    this.#bounds = { ...bounds, transport, settings: [...settings, ['remote.origin.url', address]] };
    this.#folder = folder;
    this.#isServed = isServed;
  }

  async at(promised: Promised): Promise<Step<NonNullable<CheckFinding['subject']>>> {
    const tip = await this.#tip(promised.ref);
    if ('finding' in tip) return tip;
    const commit = promised.commit ?? tip.value;
    if (commit !== tip.value) {
      const contained = await this.#isContained(promised.ref, commit);
      if ('finding' in contained) return contained;
      if (!contained.value) return fail('commit-missing');
    }
    if (promised.files.length === 0) return { value: { version: commit } };
    return this.#files(commit, promised);
  }

  async #tip(ref: string): Promise<Step<string>> {
    const answer = await git(['ls-remote', '--quiet', 'origin', ref, `${ref}^{}`], this.#in(this.#folder));
    if (!hasSucceeded(answer)) return refusal(answer);
    const ids = new Map(
      answer.output
        .toString('utf8')
        .split('\n')
        .flatMap((line): [string, string][] => {
          const [id = '', name = ''] = line.split('\t');
          return OBJECT_ID.test(id) ? [[name, id]] : [];
        }),
    );
    // A signed or annotated tag is an object of its own; what it points to comes as `name^{}`.
    const id = ids.get(`${ref}^{}`) ?? ids.get(ref);
    return id === undefined ? fail('ref-missing') : { value: id };
  }

  /** Fetches the history alone and walks it: nothing is asked for by the id that is looked for. */
  async #isContained(ref: string, commit: string): Promise<Step<boolean>> {
    const folder = await this.#empty('history', commit);
    if ('finding' in folder) return folder;
    const part = this.#isServed ? ['--filter=tree:0'] : [];
    const args = ['fetch', ...QUIET, ...part, 'origin', `+${ref}:${TIP}`];
    const fetched = await git(args, this.#in(folder.value));
    if (!hasSucceeded(fetched)) return refusal(fetched);
    let rest = '';
    let found = false;
    const walked = await git(['rev-list', TIP, '--'], this.#in(folder.value), (piece) => {
      const lines = (rest + piece.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      found ||= lines.includes(commit);
      return found ? 'enough' : 'more';
    });
    return hasSucceeded(walked) ? { value: found } : refusal(walked);
  }

  async #files(commit: string, promised: Promised): Promise<Step<NonNullable<CheckFinding['subject']>>> {
    const folder = await this.#empty('files', commit);
    if ('finding' in folder) return folder;
    const bounds = this.#in(folder.value);
    const one = ['fetch', ...QUIET, '--depth=1', '--filter=blob:none', 'origin', commit];
    const fetched = this.#isServed ? await git(one, bounds) : null;
    if (fetched?.ended === false) return unread(fetched.cause);
    if (fetched?.code !== 0) {
      // An old server gives out whole refs only, as plain files do.
      const whole = await git(['fetch', ...QUIET, 'origin', `+${promised.ref}:${TIP}`], bounds);
      if (!hasSucceeded(whole)) return refusal(whole);
    }
    let sizeBytes = 0;
    let digest: Sha256 | undefined;
    for (const file of promised.files) {
      const found = await this.#file(commit, file, promised.maximumBytes, bounds);
      if ('finding' in found) return found;
      sizeBytes += found.value.sizeBytes;
      digest = found.value.digest;
    }
    if (sizeBytes < promised.minimumBytes) return fail('too-small');
    const count = promised.files.length;
    return { value: { version: commit, sizeBytes, count, ...(count === 1 && digest !== undefined ? { digest } : {}) } };
  }

  async #file(
    commit: string,
    { path, digest: wanted }: PromisedFile,
    maximumBytes: number,
    bounds: GitBounds,
  ): Promise<Step<{ readonly digest: Sha256; readonly sizeBytes: number }>> {
    const listed = await git(['ls-tree', '-z', '--full-tree', commit, '--', path], bounds);
    if (!hasSucceeded(listed)) return refusal(listed);
    const entry = /^(\d+) (\w+) ([0-9a-f]+)\t([^\0]*)\0$/.exec(listed.output.toString('utf8'));
    if (entry?.[4] !== path) return fail('path-missing');
    const [, mode = '', type = '', id = ''] = entry;
    if (type !== 'blob' || mode === '120000') return fail('not-a-file');
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const content = await git(['cat-file', 'blob', id], bounds, (piece) => {
      sizeBytes += piece.length;
      hash.update(piece);
      return sizeBytes > maximumBytes ? 'enough' : 'more';
    });
    if (!hasSucceeded(content)) return refusal(content);
    if (sizeBytes > maximumBytes) return unread('too-large');
    if (sizeBytes === 0) return fail('size-zero');
    const digest: Sha256 = `sha256:${hash.digest('hex')}`;
    return wanted !== null && wanted !== digest ? fail('digest-differs') : { value: { digest, sizeBytes } };
  }

  async #empty(name: string, objectId: string): Promise<Step<string>> {
    const folder = join(this.#folder, name);
    await mkdir(folder);
    const format = objectId.length === 64 ? 'sha256' : 'sha1';
    const made = await git(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`], this.#in(folder));
    return hasSucceeded(made) ? { value: folder } : refusal(made);
  }

  #in(folder: string): GitBounds {
    return { ...this.#bounds, folder };
  }
}

const QUIET = ['--quiet', '--no-tags', '--no-write-fetch-head'];

function hasSucceeded(outcome: GitOutcome): outcome is Extract<GitOutcome, { ended: true }> {
  return outcome.ended && outcome.code === 0;
}

function refusal(outcome: GitOutcome): { finding: CheckFinding } {
  return unread(outcome.ended ? causeOfComplaint(outcome.complaint) : outcome.cause);
}
