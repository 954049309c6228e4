import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import { allowedHosts, countOption, given, listOption, textOption } from './options.ts';
import type { Options } from './options.ts';
import { boundedRequest } from './request.ts';
import type { Answered } from './request.ts';

export const HTTP_RESOURCE = 'http-resource';

export interface HttpResourceOptions {
  /**
   * Origins where the result may lie, e.g. `https://reports.example.org`; one that is named may be internal. Without any,
   * every public address may, and the hosts of TEMPORAL_HEALTH_ALLOWED_HOSTS.
   */
  readonly origins?: readonly string[];
  /** The status it must have; 200 where absent. */
  readonly status?: number;
  readonly minimumBytes?: number;
  /** More than this is not read; 16 MiB where absent. */
  readonly maximumBytes?: number;
  /** `sha256:…` that the body must have, where it is known beforehand. */
  readonly expectedDigest?: string;
  /** For each request, in ms; 10 s where absent. */
  readonly timeoutMs?: number;
  /** How many redirects may be followed; none where absent: the promised address itself must answer. */
  readonly redirects?: number;
}

const MAXIMUM_BYTES = 16 * 1024 ** 2;
const TIMEOUT_MS = 10_000;

/** A resource at an address: its status, size and digest. Unreachable says nothing; 404 and 410 say that it is missing. */
export function httpResource(options: HttpResourceOptions = {}): DeliverableCheck {
  const own = given(options);
  return { name: HTTP_RESOURCE, options: own, run: (request) => run(request, { ...own, ...request.options }) };
}

async function run(request: CheckRequest, options: Options): Promise<CheckFinding> {
  const found = await fetchResource(request, options);
  if ('finding' in found) return found.finding;
  const { answer } = found;
  const sizeBytes = answer.body.length;
  const subject = { ...(answer.digest === null ? {} : { digest: answer.digest }), sizeBytes };
  if (sizeBytes === 0) return { result: 'fail', cause: 'size-zero', subject: { sizeBytes } };
  const minimumBytes = Math.max(1, request.minimumBytes, countOption(options, 'minimumBytes') ?? 0);
  if (sizeBytes < minimumBytes) return { result: 'fail', cause: 'too-small', subject };
  const expectedDigest = textOption(options, 'expectedDigest');
  if (expectedDigest !== undefined && expectedDigest !== answer.digest) {
    return { result: 'fail', cause: 'digest-differs', subject };
  }
  return { result: 'pass', subject };
}

export const isAddress = (location: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(location);

/** A whole answer with the wanted status, or the finding that says why there is none. */
export async function fetchResource(
  request: CheckRequest,
  options: Options,
): Promise<{ answer: Answered } | { finding: CheckFinding }> {
  if (!URL.canParse(request.location)) return { finding: { result: 'fail', cause: 'bad-location' } };
  const origins = listOption(options, 'origins');
  const url = new URL(request.location);
  if (
    origins !== undefined &&
    !origins.some((origin) => URL.canParse(origin) && new URL(origin).origin === url.origin)
  ) {
    return { finding: { result: 'fail', cause: 'other-destination' } };
  }
  // An origin that the contract names is allowed wherever it is; a redirect from there is looked at like any address.
  const named = (origins ?? []).filter((origin) => URL.canParse(origin)).map((origin) => hostAndPort(new URL(origin)));
  const outcome = await boundedRequest(url.href, {
    method: 'GET',
    timeoutMs: countOption(options, 'timeoutMs') ?? TIMEOUT_MS,
    maximumBytes: countOption(options, 'maximumBytes') ?? MAXIMUM_BYTES,
    redirects: countOption(options, 'redirects') ?? 0,
    addresses: { allowedHosts: [...named, ...allowedHosts()] },
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  switch (outcome.kind) {
    case 'not-allowed':
      return { finding: { result: 'unread', cause: 'not-allowed' } };
    case 'no-answer':
      return { finding: { result: 'unread', cause: outcome.cause } };
    case 'too-many-redirects':
      return { finding: { result: 'fail', cause: 'redirected' } };
    case 'answered':
      return judgeStatus(outcome, countOption(options, 'status') ?? 200);
  }
}

const hostAndPort = (url: URL): string =>
  `${url.hostname}:${url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port}`;

function judgeStatus(answer: Answered, wanted: number): { answer: Answered } | { finding: CheckFinding } {
  const { status } = answer;
  if (status === wanted) {
    return answer.longer ? { finding: { result: 'unread', cause: 'too-large' } } : { answer };
  }
  if (status === 404 || status === 410) return { finding: { result: 'fail', cause: 'missing' } };
  if (status === 401 || status === 403) return { finding: { result: 'unread', cause: 'permission' } };
  // Too early, too many or broken over there: ask again later, it says nothing about the result.
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    return { finding: { result: 'unread', cause: `status-${status}` } };
  }
  if (status >= 300 && status < 400) return { finding: { result: 'fail', cause: 'redirected' } };
  return { finding: { result: 'fail', cause: `status-${status}` } };
}
