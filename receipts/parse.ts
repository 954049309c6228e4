/**
 * The border: values from outside become receipts, bodies and contracts, or a HealthError that names code and field and
 * never a value. One pass over the value (`inspect.ts`), one strict schema (`schemas.ts`), then the rules of emission
 * (`input.ts`).
 */
import type { z } from 'zod';
import type { Contract } from './contract.ts';
import type { Receipt } from './envelope.ts';
import { HealthError, isHealthError } from './errors.ts';
import type { ErrorCode } from './errors.ts';
import { EMISSION_RULES, prepareInput, refuseDigest } from './input.ts';
import type { BodyContext, PreparedInput } from './input.ts';
import { fieldName, inspect, unknownField } from './inspect.ts';
import type { Inspection, Limits } from './inspect.ts';
import { RECEIPT_KINDS } from './receipt.ts';
import type { ReceiptBodies, ReceiptKind } from './receipt.ts';
import { bodySchemas, contractSchema, NOTE_BYTES, receiptSchemas } from './schemas.ts';
import { cutToBytes } from './text.ts';

export { parseJsonText } from './json-text.ts';
export {
  bodySchemas,
  chainRowSchema,
  contractSchema,
  NOTE_BYTES,
  receiptSchema,
  storedReceiptSchema,
} from './schemas.ts';

/** What a receipt may be: 8 KiB of body, four levels, 64 keys. An envelope holds ids only and has as much again. */
export const RECEIPT_LIMITS: Limits = { bytes: 8192, nesting: 4, keys: 64 };
const CONTRACT_LIMITS: Limits = { bytes: 65_536, nesting: 12, keys: 2048 };

/**
 * Fields that are read by people and decide nothing by being equal: their bad text is replaced (R16). A deliverable's name
 * and destination are among them, because refusing them would lose the report of finished work; a replaced one can satisfy
 * no contract, which refuses such names.
 */
const LABELS: Readonly<Record<ReceiptKind, ReadonlySet<string>>> = {
  progress: new Set(['note', 'step', 'end', 'unit', 'value', 'model', 'currency']),
  wait: new Set(['note', 'condition']),
  effect: new Set(['level', 'reference']),
  deliverable: new Set(['name', 'destination', 'version', 'excludedBy', 'cause']),
};
const NO_LABELS: ReadonlySet<string> = new Set();
const CONTRACT_LABELS: ReadonlySet<string> = new Set(['noDeterministicCheck']);

export interface ParsedBody<K extends ReceiptKind> {
  readonly body: ReceiptBodies[K];
  /** True when text was replaced or a note cut: the receipt is marked with it. */
  readonly sanitised: boolean;
  /** Progress only: why a count may fall, for `MonotoneCounts`. */
  readonly reset?: string;
}

/**
 * What code emits, as the body of a receipt.
 * @param input the shape of `BodyInputs[kind]`
 * @throws HealthError RECEIPT_*, WAIT_INCOMPLETE, WAIT_DEADLINE, EFFECT_VERDICT_REQUIRED or DELIVERABLE_*
 */
export function parseBody<K extends ReceiptKind>(kind: K, input: unknown, context: BodyContext): ParsedBody<K> {
  const prepared = prepareInput(kind, input, context);
  const inspection = inspect(prepared.body, { limits: RECEIPT_LIMITS, path: [], labels: LABELS[kind] });
  const cut = withShortNote(inspection.value);
  if (kind === 'deliverable' && isObject(cut)) refuseDigest(cut['subject'], '');
  const schemas: { readonly [S in ReceiptKind]: z.ZodType<ReceiptBodies[S]> } = bodySchemas;
  const body = read(schemas[kind], cut, []);
  if (inspection.refusal !== null) throw inspection.refusal;
  EMISSION_RULES[kind](body, context, prepared.aside, prepared.momentRefusal);
  return { body, sanitised: inspection.sanitised || cut !== inspection.value, ...resetOf(prepared) };
}

function resetOf(prepared: PreparedInput): { reset?: string } {
  const { reset } = prepared.aside;
  if (reset === undefined) return {};
  if (typeof reset === 'string') return { reset };
  throw new HealthError('RECEIPT_INVALID', 'reset must be a string.', { field: 'reset', got: typeof reset });
}

/**
 * A whole receipt, as another emitter sends it. A wait may lack owner, deadline or token here and a verified effect its
 * verdict: they are then stored as what they are and excuse or prove nothing.
 * @throws HealthError RECEIPT_* or DELIVERABLE_DIGEST
 */
export function parseReceipt(value: unknown): Receipt {
  if (!isObject(value)) throw invalid('RECEIPT_INVALID', [], 'an object', kindOf(value));
  const kind = value['kind'];
  if (!isKind(kind)) throw invalid('RECEIPT_INVALID', ['kind'], oneOf(RECEIPT_KINDS), kindOf(kind));
  const { body, ...rest } = value;
  const inBody = inspect(body, { limits: RECEIPT_LIMITS, path: ['body'], labels: LABELS[kind] });
  const around = inspect(rest, { limits: RECEIPT_LIMITS, path: [], labels: NO_LABELS, keys: inBody.keys });
  const cut = withShortNote(inBody.value);
  if (kind === 'deliverable' && isObject(cut)) refuseDigest(cut['subject'], 'body.');
  const sanitised = inBody.sanitised || cut !== inBody.value;
  const schema: z.ZodType<Receipt> = receiptSchemas[kind];
  const receipt = read(
    schema,
    { ...(around.value as object), body: cut, ...(sanitised ? { sanitised: true } : {}) },
    [],
  );
  const refusal = around.refusal ?? inBody.refusal;
  if (refusal !== null) throw refusal;
  return receipt;
}

/** The note cut to its limit; the same value where nothing had to be cut. */
function withShortNote(body: unknown): unknown {
  if (!isObject(body) || typeof body['note'] !== 'string') return body;
  const note = cutToBytes(body['note'], NOTE_BYTES);
  return note === body['note'] ? body : { ...body, note };
}

/**
 * A contract as data, as a worker registers it or a document holds it.
 * @throws HealthError CONTRACT_INVALID
 */
export function parseContract(value: unknown): Contract {
  const inspection = inspectContract(value);
  const contract = read(contractSchema, inspection.value, [], 'CONTRACT_INVALID', 'CONTRACT_INVALID');
  if (inspection.refusal !== null) throw asContractError(inspection.refusal);
  for (const record of [contract.milestones, contract.effects, contract.deliverables]) refuseBadNames(record);
  for (const [name, due] of Object.entries(contract.deliverables)) {
    if (due.check !== null || (due.noDeterministicCheck ?? '').trim() !== '') continue;
    const field = fieldName(['deliverables', name, 'noDeterministicCheck']);
    throw new HealthError('CONTRACT_INVALID', `${field} must say why no deterministic check exists.`, { field });
  }
  return contract;
}

function inspectContract(value: unknown): Inspection {
  try {
    return inspect(value, { limits: CONTRACT_LIMITS, path: [], labels: CONTRACT_LABELS });
  } catch (error) {
    throw isHealthError(error) ? asContractError(error) : error;
  }
}

/** Names of a contract are keys there and identities in receipts: they are held to the same rules as those. */
function refuseBadNames(record: Readonly<Record<string, unknown>>): void {
  const { refusal } = inspect(Object.keys(record), { limits: CONTRACT_LIMITS, path: ['name'], labels: NO_LABELS });
  if (refusal !== null) throw asContractError(refusal);
}

function asContractError(error: HealthError): HealthError {
  return new HealthError('CONTRACT_INVALID', error.message, {
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.got === undefined ? {} : { got: error.got }),
    ...(error.limit === undefined ? {} : { limit: error.limit }),
    ...(error.position === undefined ? {} : { position: error.position }),
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isKind(kind: unknown): kind is ReceiptKind {
  return RECEIPT_KINDS.some((known) => known === kind);
}

/**
 * The value as its schema reads it.
 * @throws HealthError with `code`, or `unknownCode` for a field that the schema does not have
 */
function read<T>(
  schema: z.ZodType<T>,
  value: unknown,
  path: readonly string[],
  code: ErrorCode = 'RECEIPT_INVALID',
  unknownCode: ErrorCode = 'RECEIPT_UNKNOWN_FIELD',
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusalOfIssues(result.error.issues, value, path, code, unknownCode);
}

/**
 * Zod's issues as one HealthError: an unknown field is told before a wrong one, and no value is told at all.
 * For schemas composed from these (the evidence document) give the code that the border uses.
 */
export function refusalOfIssues(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  path: readonly string[],
  code: ErrorCode,
  unknownCode: ErrorCode = code,
): HealthError {
  const flat = issues.flatMap(innermost);
  const unknown = flat.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') {
    const refusal = unknownField([...path, ...unknown.path, ...unknown.keys.slice(0, 1)]);
    if (unknownCode === 'RECEIPT_UNKNOWN_FIELD') return refusal;
    return new HealthError(unknownCode, refusal.message, { field: refusal.field ?? '' });
  }
  const first = flat[0];
  if (first === undefined) return invalid(code, path, 'another value', kindOf(value));
  const limit = limitOf(first);
  return invalid(code, [...path, ...first.path], expected(first), kindOf(valueAt(value, first.path)), limit);
}

/** The issues of the one member of a union that its tag chose; otherwise the issue itself. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length !== 1) return [issue];
  return (issue.errors[0] ?? []).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : withArticle(issue.expected);
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'too_big':
      return `at most ${issue.maximum} ${unitOf(issue.origin)}`.trimEnd();
    case 'too_small':
      return `at least ${issue.minimum} ${unitOf(issue.origin)}`.trimEnd();
    case 'invalid_format':
      return issue.path.at(-1) === 'receiptId' ? 'a UUID of version 7 in small letters' : 'text that is not blank';
    case 'invalid_union':
      return 'one of the shapes that its schema lists';
    case 'invalid_key':
      return 'a name of 1 to 1000 characters';
    default:
      return 'another value';
  }
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function unitOf(origin: string): string {
  if (origin === 'string') return 'characters';
  return origin === 'array' ? 'elements' : '';
}

function limitOf(issue: z.core.$ZodIssue): number | undefined {
  if (issue.code === 'too_big') return Number(issue.maximum);
  return issue.code === 'too_small' ? Number(issue.minimum) : undefined;
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const part of path) at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[part] : at;
  return at;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function invalid(
  code: ErrorCode,
  path: readonly PropertyKey[],
  wanted: string,
  got: string,
  limit?: number,
): HealthError {
  const field = fieldName(path);
  const message = got === 'nothing' ? `${field} is missing: ${wanted} is needed.` : `${field} must be ${wanted}.`;
  return new HealthError(code, message, { field, got, ...(limit === undefined ? {} : { limit }) });
}
