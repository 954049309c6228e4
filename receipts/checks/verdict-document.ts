/**
 * The acceptance verdict of another party, as a JSON document at its destination:
 *
 *     {"schemaVersion": 1, "workflowId": "…", "runId": "…", "verdict": "accepted", "by": "qa@example.org"}
 *
 * `missionFingerprint` may stand in place of `runId`, for a verdict about what was asked and not about one run.
 */
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import type { Sha256 } from '../digest.ts';
import { readArtifact } from './file.ts';
import { fetchResource, isAddress } from './http-resource.ts';
import { given, outputRoot, textOption } from './options.ts';
import type { Options } from './options.ts';

export const VERDICT_DOCUMENT = 'verdict-document';

export interface VerdictDocumentOptions {
  /** The folder that holds verdicts given as files; the machine's TEMPORAL_HEALTH_OUTPUT_ROOT where absent. */
  readonly root?: string;
  /** Origins where a verdict given by address may lie; see `httpResource`. */
  readonly origins?: readonly string[];
  /** The one value that passes; `accepted` where absent. */
  readonly passing?: string;
  /** Who must have given it; anybody who can write to the destination where absent. */
  readonly by?: string;
  /** The mission it must be about; then a verdict of another run of the same mission passes. */
  readonly missionFingerprint?: string;
  /** For each request, in ms; 10 s where absent. */
  readonly timeoutMs?: number;
}

const MAXIMUM_BYTES = 64 * 1024;
const SCHEMA_VERSION = 1;
const REQUIRED = ['workflowId', 'verdict', 'by'] as const;
const OPTIONAL = ['runId', 'missionFingerprint', 'subjectDigest', 'decidedAt', 'reason'] as const;

type Verdict = Partial<Record<(typeof REQUIRED)[number] | (typeof OPTIONAL)[number], string>>;

/** Passes only on a well-formed verdict about this run (or mission) with the declared passing value. */
export function verdictDocument(options: VerdictDocumentOptions = {}): DeliverableCheck {
  const own = given(options);
  return {
    name: VERDICT_DOCUMENT,
    options: own,
    findsDigest: true,
    run: (request) => run(request, { ...own, ...request.options }),
  };
}

async function run(request: CheckRequest, options: Options): Promise<CheckFinding> {
  const found = isAddress(request.location) ? await byAddress(request, options) : await byPath(request, options);
  if ('finding' in found) return found.finding;
  const subject = { digest: found.digest, sizeBytes: found.content.length };
  if (found.content.length < request.minimumBytes) return { result: 'fail', cause: 'too-small', subject };
  return { ...judge(found.content, request, options), subject };
}

type Found = { content: Buffer; digest: Sha256 } | { finding: CheckFinding };

async function byPath(request: CheckRequest, options: Options): Promise<Found> {
  const root = outputRoot(options);
  if (root === undefined) return { finding: { result: 'unread', cause: 'root-not-configured' } };
  const outcome = await readArtifact(request.location, { root, maximumBytes: MAXIMUM_BYTES, keepContent: true });
  return 'finding' in outcome ? outcome : outcome.artifact;
}

async function byAddress(request: CheckRequest, options: Options): Promise<Found> {
  const found = await fetchResource(request, { ...options, maximumBytes: MAXIMUM_BYTES });
  if ('finding' in found) return found;
  const { body, digest } = found.answer;
  if (body.length === 0 || digest === null) return { finding: { result: 'fail', cause: 'size-zero' } };
  return { content: body, digest };
}

function judge(content: Buffer, request: CheckRequest, options: Options): CheckFinding {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch {
    return { result: 'fail', cause: 'not-json' };
  }
  const verdict = readVerdict(parsed);
  if (verdict === null) return { result: 'fail', cause: 'schema' };
  if (verdict.workflowId !== request.workflowId) return { result: 'fail', cause: 'other-run' };
  const mission = textOption(options, 'missionFingerprint');
  if (mission === undefined ? verdict.runId !== request.runId : verdict.missionFingerprint !== mission) {
    return { result: 'fail', cause: mission === undefined ? 'other-run' : 'other-mission' };
  }
  const by = textOption(options, 'by');
  if (by !== undefined && verdict.by !== by) return { result: 'fail', cause: 'other-party' };
  // The one declared word and nothing like it: "Accepted?" is not a verdict that somebody promised to give.
  return verdict.verdict === (textOption(options, 'passing') ?? 'accepted')
    ? { result: 'pass' }
    : { result: 'fail', cause: 'not-accepted' };
}

/** The document, or null where it is not one: a member too many may hold what would have changed its meaning. */
function readVerdict(parsed: unknown): Verdict | null {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const { schemaVersion, ...members } = parsed as Record<string, unknown>;
  const known: readonly string[] = [...REQUIRED, ...OPTIONAL];
  const whole =
    schemaVersion === SCHEMA_VERSION &&
    Object.entries(members).every(([name, value]) => known.includes(name) && typeof value === 'string') &&
    REQUIRED.every((name) => typeof members[name] === 'string' && members[name] !== '') &&
    (members['runId'] !== undefined || members['missionFingerprint'] !== undefined);
  return whole ? members : null;
}
