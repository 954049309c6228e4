/**
 * One pass over a value from outside, before any schema: size, nesting, keys, numbers, text and secrets.
 *
 * Limits and numbers throw at once. Bad text in an identity and secret-like values are only noted (`refusal`), because what
 * a field is allowed to be is known when the schema has seen it: an unknown field is told before what stands in it.
 */
import { HealthError } from './errors.ts';
import { secretRule } from './secrets.ts';
import type { TextRole } from './secrets.ts';
import { badIdentityAt, cleanLabel, utf8Length } from './text.ts';

export interface Limits {
  /** Of the JSON text, in UTF-8 bytes. */
  readonly bytes: number;
  /** Objects and arrays inside each other, the value itself being the first. */
  readonly nesting: number;
  /** Of all objects together. */
  readonly keys: number;
}

export interface Inspection {
  /** The value with bad text in labels replaced and `undefined` members left out; the same one where there were none. */
  readonly value: unknown;
  readonly sanitised: boolean;
  readonly keys: number;
  /** RECEIPT_TEXT, RECEIPT_SECRET or a reserved word as an identity; to be thrown once the schema has agreed. */
  readonly refusal: HealthError | null;
}

export interface InspectionOptions {
  readonly limits: Limits;
  /** Where the value stands in what the caller gave; [] for all of it. */
  readonly path: readonly string[];
  /** Names of fields whose text is for people: replaced, not refused. */
  readonly labels: ReadonlySet<string>;
  /** Keys already counted. */
  readonly keys?: number;
}

interface Walk {
  readonly root: unknown;
  readonly limits: Limits;
  readonly labels: ReadonlySet<string>;
  readonly path: (string | number)[];
  bytes: number;
  keys: number;
  sanitised: boolean;
  refusal: HealthError | null;
}

/** @throws HealthError RECEIPT_TOO_LARGE, RECEIPT_TOO_DEEP, RECEIPT_NUMBER or RECEIPT_UNKNOWN_FIELD (`__proto__`). */
export function inspect(value: unknown, options: InspectionOptions): Inspection {
  const { limits, labels, path, keys = 0 } = options;
  const walk: Walk = { root: value, limits, labels, path: [...path], bytes: 0, keys, sanitised: false, refusal: null };
  const cleaned = visit(walk, value, path.length);
  // The walk counts strings without their escapes: only a text that is near the limit can hide more than it may.
  if (walk.bytes * 6 > limits.bytes && jsonBytes(value) > limits.bytes) throw tooLarge(walk);
  return { value: cleaned, sanitised: walk.sanitised, keys: walk.keys, refusal: walk.refusal };
}

function visit(walk: Walk, value: unknown, nesting: number): unknown {
  switch (typeof value) {
    case 'string':
      return visitText(walk, value);
    case 'number':
      walk.bytes += 1;
      if (!Number.isFinite(value) || Object.is(value, -0)) throw badNumber(walk);
      return value;
    case 'object':
      if (value === null) break;
      if (nesting >= walk.limits.nesting) throw tooDeep(walk, `nests deeper than ${walk.limits.nesting} levels`);
      return Array.isArray(value) ? visitArray(walk, value, nesting + 1) : visitObject(walk, value, nesting + 1);
    default:
      break;
  }
  walk.bytes += 1;
  return value;
}

function spend(walk: Walk, bytes: number): void {
  walk.bytes += bytes;
  if (walk.bytes > walk.limits.bytes) throw tooLarge(walk);
}

function visitArray(walk: Walk, values: readonly unknown[], nesting: number): unknown {
  let copy: unknown[] | null = null;
  for (let at = 0; at < values.length; at++) {
    spend(walk, 1);
    walk.path.push(at);
    const before = values[at];
    const after = visit(walk, before, nesting);
    walk.path.pop();
    if (after !== before) copy = [...(copy ?? values)];
    if (copy !== null) copy[at] = after;
  }
  return copy ?? values;
}

function visitObject(walk: Walk, value: object, nesting: number): unknown {
  let copy: Record<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key];
    walk.keys += 1;
    if (walk.keys > walk.limits.keys) throw tooDeep(walk, `has more than ${walk.limits.keys} keys`);
    walk.path.push(key);
    if (RESERVED.has(key)) throw unknownField(walk.path);
    spend(walk, key.length + 3);
    const after = visit(walk, before, nesting);
    walk.path.pop();
    if (after === before && before !== undefined) continue;
    copy ??= { ...value };
    if (after === undefined) Reflect.deleteProperty(copy, key);
    else copy[key] = after;
  }
  return copy ?? value;
}

/** The member that a path ends in; elements of a list count as the list. */
function memberName(path: readonly (string | number)[]): string {
  for (let at = path.length - 1; at >= 0; at--) {
    const part = path[at];
    if (typeof part === 'string') return part;
  }
  return '';
}

function visitText(walk: Walk, text: string): string {
  // A longer text is refused whatever stands in it: not worth searching.
  spend(walk, text.length + 2 > walk.limits.bytes ? text.length : utf8Length(text) + 2);
  const name = memberName(walk.path);
  const role: TextRole = walk.labels.has(name) ? 'label' : 'identity';
  if (walk.refusal === null) walk.refusal = refusalOf(walk, text, role);
  if (role === 'identity') return text;
  const cleaned = cleanLabel(text);
  if (cleaned !== text) walk.sanitised = true;
  return cleaned;
}

function refusalOf(walk: Walk, text: string, role: TextRole): HealthError | null {
  const rule = secretRule(text, role);
  if (rule !== null) {
    const field = fieldName(walk.path);
    return new HealthError('RECEIPT_SECRET', `${field} looks like a secret (rule ${rule}): receipts never hold one.`, {
      field,
      hint: 'Leave it out, or give its digest if equality matters.',
    });
  }
  if (role === 'label') return null;
  const position = badIdentityAt(text);
  if (position >= 0) {
    const field = fieldName(walk.path);
    const what = 'a control character, half a surrogate pair or a bidirectional mark';
    return new HealthError('RECEIPT_TEXT', `${field} holds ${what} at position ${position}: identities hold none.`, {
      field,
      position,
    });
  }
  if (!RESERVED.has(text)) return null;
  const field = fieldName(walk.path);
  return new HealthError('RECEIPT_INVALID', `${field} is a word that JavaScript reserves for objects: take another.`, {
    field,
  });
}

/** Names that every object has: as a key or an identity they would be found where nothing was stored. */
const RESERVED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

function badNumber(walk: Walk): HealthError {
  const field = fieldName(walk.path);
  return new HealthError('RECEIPT_NUMBER', `${field} is not a finite number, or is minus zero.`, { field });
}

function tooDeep(walk: Walk, what: string): HealthError {
  const field = fieldName(walk.path);
  return new HealthError('RECEIPT_TOO_DEEP', `${field} ${what}: receipts are flat and small.`, {
    field,
    limit: what.startsWith('nests') ? walk.limits.nesting : walk.limits.keys,
  });
}

function tooLarge(walk: Walk): HealthError {
  const { bytes } = walk.limits;
  const size = Math.max(jsonBytes(walk.root), walk.bytes);
  return new HealthError('RECEIPT_TOO_LARGE', `This is ${size} bytes as JSON and at most ${bytes} are taken.`, {
    ...(walk.path.length === 0 ? {} : { field: fieldName(walk.path) }),
    got: `${size} bytes`,
    limit: bytes,
    hint: 'Receipts hold counts and digests: store the content elsewhere and give its digest.',
  });
}

/** 0 for what is no JSON (a cycle, a bigint): the schema or the nesting refuses that. */
function jsonBytes(value: unknown): number {
  try {
    const json: unknown = JSON.stringify(value);
    return typeof json === 'string' ? utf8Length(json) : 0;
  } catch {
    return 0;
  }
}

/** An unknown field by its path. */
export function unknownField(path: readonly PropertyKey[]): HealthError {
  const field = fieldName(path);
  return new HealthError('RECEIPT_UNKNOWN_FIELD', `${field} is not a field that is taken here.`, {
    field,
    hint: 'Receipts have a fixed list of fields and hold no content.',
  });
}

const PLAIN_NAME = /^[A-Za-z_$][\w$-]{0,63}$/;

/** A path as text. A key that is no plain name may itself be content or a secret and is not repeated. */
export function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else {
      const text = String(part);
      const shown = PLAIN_NAME.test(text) && secretRule(text, 'label') === null ? text : '(unnamed)';
      name += name === '' ? shown : `.${shown}`;
    }
  }
  return name === '' ? '(all of it)' : name;
}
