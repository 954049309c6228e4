import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import { countWith } from './counters.ts';
import type { Counted } from './counters.ts';
import { readArtifact } from './file.ts';
import type { ReadArtifact } from './file.ts';
import { countOption, given, outputRoot, textOption } from './options.ts';
import type { Options } from './options.ts';

export const FILE_DIGEST = 'file-digest';

export interface FileDigestOptions {
  /** The folder that holds promised files; the machine's TEMPORAL_HEALTH_OUTPUT_ROOT where absent. */
  readonly root?: string;
  /** Smallest size that can be the promised result, in bytes; the contract's where absent. */
  readonly minimumBytes?: number;
  /** More than this is not read: 1 GiB, or 64 MiB with a counter. */
  readonly maximumBytes?: number;
  /** `sha256:…` that the file must have, where it is known beforehand. */
  readonly expectedDigest?: string;
  /** The check counts what the result has to hold and how much of it is there; needs `counter`. */
  readonly coverage?: boolean;
  /** Name of the registered counter. */
  readonly counter?: string;
}

const MAXIMUM_BYTES = 1024 ** 3;
const MAXIMUM_COUNTED_BYTES = 64 * 1024 ** 2;

/** A file below a configured root: there, whole, not empty, with its digest and, where asked, its coverage. */
export function fileDigest(options: FileDigestOptions = {}): DeliverableCheck {
  const own = given(options);
  return {
    name: FILE_DIGEST,
    options: own,
    findsDigest: true,
    run: (request) => run(request, { ...own, ...request.options }),
  };
}

async function run(request: CheckRequest, options: Options): Promise<CheckFinding> {
  const root = outputRoot(options);
  if (root === undefined) return { result: 'unread', cause: 'root-not-configured' };
  const counter = options['coverage'] === true ? (textOption(options, 'counter') ?? '') : null;
  const outcome = await readArtifact(request.location, {
    root,
    maximumBytes: countOption(options, 'maximumBytes') ?? (counter === null ? MAXIMUM_BYTES : MAXIMUM_COUNTED_BYTES),
    keepContent: counter !== null,
  });
  if ('finding' in outcome) return outcome.finding;
  const { artifact } = outcome;
  const subject = { digest: artifact.digest, sizeBytes: artifact.sizeBytes };
  const minimumBytes = Math.max(1, request.minimumBytes, countOption(options, 'minimumBytes') ?? 0);
  if (artifact.sizeBytes < minimumBytes) return { result: 'fail', cause: 'too-small', subject };
  const expectedDigest = textOption(options, 'expectedDigest');
  if (expectedDigest !== undefined && expectedDigest !== artifact.digest) {
    return { result: 'fail', cause: 'digest-differs', subject };
  }
  if (counter === null) return { result: 'pass', subject };
  return covered(await countWith(counter, request, artifact.content), artifact);
}

function covered(counted: Counted, { digest, sizeBytes }: ReadArtifact): CheckFinding {
  if (!counted.counted) return { result: counted.result, cause: counted.cause, subject: { digest, sizeBytes } };
  const { expected, accepted, empty } = counted;
  const coverage = { expected, accepted, ...(empty === undefined ? {} : { empty }) };
  const subject = { digest, sizeBytes, count: accepted };
  return accepted + (empty ?? 0) < expected
    ? { result: 'fail', cause: 'incomplete', subject, coverage }
    : { result: 'pass', subject, coverage };
}
