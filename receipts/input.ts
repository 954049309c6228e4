/**
 * What code gives when it emits: the bodies of `receipts/receipt.ts` with moments in the forms people write, and the rules
 * that hold at emission only. A stored or foreign receipt may break them; then it excuses or proves nothing (`health/`).
 */
import ms from 'ms';
import type { StringValue } from 'ms';
import { isSha256 } from './digest.ts';
import { HealthError } from './errors.ts';
import type { DeliverableBody, EffectBody, ProgressBody, ReceiptBodies, ReceiptKind, WaitBody } from './receipt.ts';

/** Epoch ms, a Date, ISO 8601 text with a zone, or a length of time from now such as `'2 days'`. */
export type Moment = number | Date | string;

type Without<T, K extends keyof T> = { [P in keyof T as P extends K ? never : P]: T[P] };

export type ProgressInput = Without<ProgressBody, 'expectByMs'> & {
  readonly expectBy?: Moment;
  /** Why a count may fall, e.g. `source-replaced`: lifts RECEIPT_NOT_MONOTONE once. Not part of the receipt. */
  readonly reset?: string;
};

export type WaitInput = Without<WaitBody, 'owner' | 'deadlineMs' | 'resumeToken' | 'state'> & {
  readonly owner: string;
  readonly deadline: Moment;
  readonly resumeToken: string;
  /** `open` where absent. */
  readonly state?: WaitBody['state'];
};

export type EffectInput = Without<EffectBody, 'protectedUntilMs'> & { readonly protectedUntil?: Moment };

export type DeliverableInput = DeliverableBody & {
  /** What the result was made for: refused where it is no longer in force. Not part of the body. */
  readonly missionFingerprint?: string;
  readonly revision?: string;
};

export interface BodyInputs {
  readonly progress: ProgressInput;
  readonly wait: WaitInput;
  readonly effect: EffectInput;
  readonly deliverable: DeliverableInput;
}

/** The name under which a judgement speaks for a deliverable that has no deterministic check; it states its confidence. */
export const JUDGED_CHECK = 'judged';
const JUDGED_BY = `${JUDGED_CHECK}:`;

/** The check of a judgement by this judge: `judged:rubric-3`. */
export function judgedBy(judge: string): string {
  return `${JUDGED_BY}${judge}`;
}

/** Whose judgement this check is; null for one that states no judge, and for a deterministic check. */
export function judgeOf(check: string): string | null {
  return check.startsWith(JUDGED_BY) ? check.slice(JUDGED_BY.length) : null;
}

/** True for a name under which only judgements are recorded. */
export function isJudgedCheck(check: string): boolean {
  return check === JUDGED_CHECK || judgeOf(check) !== null;
}
/** A wait (and a declared silence) may not reach further than this, in ms; the policy may say less. */
export const DEFAULT_WAIT_HORIZON_MS = 90 * 24 * 3_600_000;

/** What must be known to take a body. */
export interface BodyContext {
  /** The store's clock, epoch ms. */
  readonly nowMs: number;
  /** How far ahead a deadline may be, in ms; 90 days where absent. */
  readonly waitHorizonMs?: number;
  /** Names of the deterministic checks that are registered; none where absent. */
  readonly checks?: ReadonlySet<string>;
  /** Of those, the ones whose finding has a digest: a pass without it is refused. */
  readonly digestChecks?: ReadonlySet<string>;
  /** In force now; null where the workflow has no mission. */
  readonly missionFingerprint?: string | null;
  /** Of the plan, in force now. */
  readonly revision?: string | null;
  /** Whether this operation was ever attempted; where nobody can say, `none` needs a verdict. */
  readonly hasAttempt?: (operationId: string) => boolean;
}

/** The input as a body (moments in ms, defaults filled in), and what of it is not part of the body. */
export interface PreparedInput {
  readonly body: unknown;
  readonly aside: Readonly<Record<string, unknown>>;
  /** A moment that could not be read, to be thrown once the schema has agreed with the rest. */
  readonly momentRefusal: HealthError | null;
}

const MOMENTS: Readonly<Record<ReceiptKind, string | null>> = {
  progress: 'expectBy',
  wait: 'deadline',
  effect: 'protectedUntil',
  deliverable: null,
};
const ASIDE: Readonly<Record<ReceiptKind, readonly string[]>> = {
  progress: ['reset'],
  wait: [],
  effect: [],
  deliverable: ['missionFingerprint', 'revision'],
};

/** Anything that is no object is handed on as it is: the schema says what is wrong with it. */
export function prepareInput(kind: ReceiptKind, input: unknown, context: BodyContext): PreparedInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { body: input, aside: {}, momentRefusal: null };
  }
  const given = input as Record<string, unknown>;
  const moment = MOMENTS[kind];
  const leftOut = ASIDE[kind];
  const body: Record<string, unknown> = kind === 'wait' ? { ...NOTHING_SAID_OF_A_WAIT } : {};
  const aside: Record<string, unknown> = {};
  let momentRefusal: HealthError | null = null;
  for (const key of Object.keys(given)) {
    const value = given[key];
    if (value === undefined || (kind === 'wait' && MUST_BE_SAID.includes(key) && isBlank(value))) continue;
    if (leftOut.includes(key)) aside[key] = value;
    // The stored name (`deadlineMs`) is taken too, but not both: then the other one is an unknown field.
    else if (key !== moment || given[`${moment}Ms`] !== undefined) defineMember(body, key, value);
    else if (value !== null) {
      const read = readMoment(value, context.nowMs, moment, kind);
      if (typeof read === 'number') body[`${moment}Ms`] = read;
      else momentRefusal = read;
    }
  }
  return { body, aside, momentRefusal };
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** Blank or absent, they stay as below and are listed as missing. */
const MUST_BE_SAID: readonly string[] = ['owner', 'deadline', 'resumeToken'];
const NOTHING_SAID_OF_A_WAIT = { owner: null, deadlineMs: null, resumeToken: null, state: 'open' };

/** Plain assignment of `__proto__` would change the object's prototype instead of showing an unknown field. */
function defineMember(body: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') body[key] = value;
  else Object.defineProperty(body, key, { value, enumerable: true });
}

/** ISO 8601 with a zone: seconds and their fraction may be left out. */
const ISO_WITH_ZONE = /^(\d{4}-\d{2}-\d{2})[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
/** A number alone would be milliseconds to `ms`; a length of time has its unit. */
const LENGTH_OF_TIME = /^\+?\d{1,9}(?:\.\d{1,3})?\s*[a-z]{1,12}$/i;

function readMoment(moment: unknown, nowMs: number, field: string, kind: ReceiptKind): number | HealthError {
  const ms = epochMs(moment, nowMs);
  if (ms !== null) return ms;
  if (typeof moment === 'number') {
    return new HealthError('RECEIPT_NUMBER', `${field} is not a finite number, or is minus zero.`, { field });
  }
  return new HealthError(kind === 'wait' ? 'WAIT_DEADLINE' : 'RECEIPT_INVALID', `${field} is not a moment.`, {
    field,
    got: moment instanceof Date ? 'invalid Date' : typeof moment,
    hint: "Give epoch milliseconds, a Date, ISO text with its zone ('2026-03-01T12:00:00Z') or a length of time ('2 days').",
  });
}

function epochMs(moment: unknown, nowMs: number): number | null {
  if (typeof moment === 'number') {
    return Number.isFinite(moment) && !Object.is(moment, -0) ? Math.round(moment) : null;
  }
  if (moment instanceof Date) return finite(moment.getTime());
  if (typeof moment !== 'string' || moment.length > 100) return null;
  const text = moment.trim();
  const day = ISO_WITH_ZONE.exec(text)?.[1];
  if (day !== undefined) return isDay(day) ? finite(Date.parse(text.replace(' ', 'T'))) : null;
  if (!LENGTH_OF_TIME.test(text)) return null;
  // `ms` answers undefined for a unit it does not know, although its types say number.
  const length = ms(text.replace('+', '') as StringValue) as number | undefined;
  return length === undefined ? null : finite(Math.round(nowMs + length));
}

/** JavaScript takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`);
  return Number.isFinite(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** The rules of emission, for a body that its schema has taken. */
export const EMISSION_RULES: {
  readonly [K in ReceiptKind]: (
    body: ReceiptBodies[K],
    context: BodyContext,
    aside: PreparedInput['aside'],
    momentRefusal: HealthError | null,
  ) => void;
} = {
  progress: (body, context, _aside, momentRefusal) => {
    if (momentRefusal !== null) throw momentRefusal;
    const horizonMs = context.waitHorizonMs ?? DEFAULT_WAIT_HORIZON_MS;
    if (body.expectByMs !== undefined && body.expectByMs > context.nowMs + horizonMs) {
      throw new HealthError('RECEIPT_INVALID', 'expectBy is further ahead than silence may be declared.', {
        field: 'expectBy',
        limit: horizonMs,
      });
    }
  },
  wait: (body, context, _aside, momentRefusal) => {
    refuseIncomplete(body, momentRefusal);
    if (body.state === 'open') refuseDeadline(body.deadlineMs, context);
  },
  effect: (body, context, _aside, momentRefusal) => {
    if (momentRefusal !== null) throw momentRefusal;
    refuseWithoutVerdict(body, context);
    if (body.role === 'delivery' && body.deliverable === undefined) {
      throw new HealthError('RECEIPT_INVALID', 'A delivery names the deliverable that it delivers.', {
        field: 'deliverable',
      });
    }
  },
  deliverable: (body, context, aside) => {
    refuseStale('missionFingerprint', aside['missionFingerprint'], context.missionFingerprint);
    refuseStale('revision', aside['revision'], context.revision);
    refuseUnchecked(body, context);
  },
};

function refuseIncomplete(body: WaitBody, momentRefusal: HealthError | null): void {
  const missing = [
    ...(body.owner === null ? ['owner'] : []),
    ...(body.deadlineMs === null && momentRefusal === null ? ['deadline'] : []),
    ...(body.resumeToken === null ? ['resumeToken'] : []),
  ];
  if (missing.length > 0) {
    const field = missing.join(', ');
    throw new HealthError('WAIT_INCOMPLETE', `This wait lacks ${field}: without all three nobody can end it.`, {
      field,
      hint: 'Say who must act (owner), until when (deadline) and what resumes this same work (resumeToken).',
    });
  }
  if (momentRefusal !== null) throw momentRefusal;
}

function refuseDeadline(deadlineMs: number | null, context: BodyContext): void {
  const horizonMs = context.waitHorizonMs ?? DEFAULT_WAIT_HORIZON_MS;
  const leftMs = (deadlineMs ?? 0) - context.nowMs;
  if (leftMs > 0 && leftMs <= horizonMs) return;
  const why = leftMs <= 0 ? 'is not ahead of now' : `is more than ${horizonMs} ms ahead`;
  throw new HealthError('WAIT_DEADLINE', `The deadline ${why}.`, {
    field: 'deadline',
    ...(leftMs > 0 ? { limit: horizonMs } : {}),
    hint: 'Give a moment by which somebody must have acted; renew the wait when it is reached.',
  });
}

function refuseWithoutVerdict(body: EffectBody, context: BodyContext): void {
  if (body.verdict !== undefined || body.state === 'attempted' || body.state === 'unknown') return;
  // Before any attempt "none" is plain fact; afterwards only the destination (or a person) can say it.
  if (body.state === 'none' && context.hasAttempt !== undefined && !context.hasAttempt(body.operationId)) return;
  throw new HealthError('EFFECT_VERDICT_REQUIRED', `An effect is ${body.state} only by a verdict on it.`, {
    field: 'verdict',
    hint: 'Ask the destination and give its verdict; where it cannot be asked the state is unknown.',
  });
}

function refuseStale(field: string, given: unknown, inForce: string | null | undefined): void {
  if (given === undefined || given === (inForce ?? null)) return;
  throw new HealthError('DELIVERABLE_STALE', `This result was made for another ${field} than the one in force.`, {
    field,
    hint: 'Make and check the result again for what is in force now.',
  });
}

function refuseUnchecked(body: DeliverableBody, context: BodyContext): void {
  const isJudged = isJudgedCheck(body.check);
  if (!isJudged && context.checks?.has(body.check) !== true) {
    throw new HealthError('DELIVERABLE_CHECK_REQUIRED', 'A deliverable needs a registered deterministic check.', {
      field: 'check',
      hint: `Name a check of the contract; where none exists give '${JUDGED_CHECK}' and its confidence.`,
    });
  }
  if (isJudged && body.confidence === undefined) {
    throw new HealthError('DELIVERABLE_CHECK_REQUIRED', 'A judgement states its confidence, from 0 to 1.', {
      field: 'confidence',
    });
  }
  if (!isJudged && body.confidence !== undefined) {
    throw new HealthError('RECEIPT_INVALID', 'A deterministic check has no confidence: leave it out.', {
      field: 'confidence',
    });
  }
  const needsDigest = body.result === 'pass' && context.digestChecks?.has(body.check) === true;
  if (needsDigest && body.subject?.digest === undefined) throw digestRefusal('subject.digest', 'undefined');
}

/** Whatever is given as a digest of a result is `sha256:` and 64 hexadecimal digits. */
export function refuseDigest(subject: unknown, path: string): void {
  if (typeof subject !== 'object' || subject === null || !('digest' in subject)) return;
  const { digest } = subject;
  if (digest === undefined || (typeof digest === 'string' && isSha256(digest))) return;
  throw digestRefusal(`${path}subject.digest`, typeof digest);
}

function digestRefusal(field: string, got: string): HealthError {
  return new HealthError('DELIVERABLE_DIGEST', `${field} must be sha256: and 64 hexadecimal digits.`, {
    field,
    got,
    hint: 'Digest the bytes that are at the destination with SHA-256; MD5 and shortened digests are not taken.',
  });
}
