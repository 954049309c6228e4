/** A page for each receipt: its fields with types and limits from the JSON Schema, an example, what it proves. */
import { z } from 'zod';
import { BODY_FIELDS, ENVELOPE_FIELDS } from '../../../health/reference/receipt-fields.ts';
import { RECEIPT_EXAMPLES, RECEIPT_TEXTS } from '../../../health/reference/receipts.ts';
import { receiptSchemas } from '../../../receipts/schemas.ts';
import { RECEIPT_LIMITS } from '../../../receipts/parse.ts';
import { RECEIPT_KINDS } from '../../../receipts/receipt.ts';
import type { ReceiptKind } from '../../../receipts/receipt.ts';
import { code, fenced, link, list, page, section, table } from './markdown.ts';
import type { Pages } from './markdown.ts';

/** What of JSON Schema the receipts use. */
interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

export function addReceipts(pages: Pages): void {
  for (const kind of RECEIPT_KINDS) pages.set(`receipts/${kind}.md`, receiptPage(kind));
  pages.set('receipts/README.md', indexPage());
}

function shapeOf(kind: ReceiptKind): Shape {
  return z.toJSONSchema(receiptSchemas[kind], { target: 'draft-2020-12' }) as Shape;
}

function receiptPage(kind: ReceiptKind): string {
  const { says, call, proves, doesNotProve, rules, refusals, reasons } = RECEIPT_TEXTS[kind];
  const body = shapeOf(kind).properties?.['body'] ?? {};
  return page(
    code(kind),
    says,
    fenced('ts', call),
    section('Fields of the body', fieldTable(body, BODY_FIELDS[kind]), limitsText()),
    section('Rules beside the shape', list(rules)),
    section(
      'Example',
      `With its envelope, as it is sent to the store. The schema is ${link('schemas/receipt.v1.json', '../../../schemas/receipt.v1.json')}.`,
      fenced('json', JSON.stringify(RECEIPT_EXAMPLES[kind], null, 2)),
    ),
    section('What it proves', list(proves)),
    section('What it does not prove', list(doesNotProve)),
    section(
      'What it bears on',
      `Reasons: ${reasons.map((reason) => link(code(reason), `../reasons/${reason}.md`)).join(', ')}.`,
      `Refusals: ${refusals.map((refusal) => link(code(refusal), `../errors/${refusal}.md`)).join(', ')}.`,
    ),
  );
}

function limitsText(): string {
  const { bytes, nesting, keys } = RECEIPT_LIMITS;
  return `A body is at most ${String(bytes)} bytes as JSON, ${String(nesting)} levels deep, with at most ${String(keys)} keys. Unknown fields are refused, and so are values that look like secrets.`;
}

function fieldTable(shape: Shape, texts: Readonly<Record<string, string>>, without: readonly string[] = []): string {
  return table(
    ['Field', 'Type', 'Needed', 'Means'],
    fieldsOf(shape, '')
      .filter(({ path }) => !without.includes(path))
      .map(({ path, shape: own, needed }) => [code(path), typeOf(own), needed ? 'yes' : 'no', texts[path] ?? '']),
  );
}

interface Field {
  readonly path: string;
  readonly shape: Shape;
  readonly needed: boolean;
}

function fieldsOf({ properties = {}, required = [] }: Shape, prefix: string): readonly Field[] {
  return Object.entries(properties).flatMap(([name, shape]) => {
    const path = `${prefix}${name}`;
    return [{ path, shape, needed: required.includes(name) }, ...fieldsOf(shape, `${path}.`)];
  });
}

function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum !== undefined) return shape.enum.map((word) => code(word)).join(', ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(' or ');
  if (shape.type === 'string') return textType(shape);
  if (shape.type === 'integer' || shape.type === 'number') return numberType(shape);
  if (shape.type === 'array') return `list of at most ${String(shape.maxItems)}: ${typeOf(shape.items ?? {})}`;
  return shape.type ?? '';
}

function textType({ minLength, maxLength, pattern = '' }: Shape): string {
  if (pattern.includes('sha256')) return 'text: `sha256:` and 64 hexadecimal digits';
  if (maxLength === undefined) return 'text: a UUID of version 7';
  return `text, ${minLength === undefined ? 'at most' : 'not blank, at most'} ${String(maxLength)} characters`;
}

function numberType({ type, minimum, maximum }: Shape): string {
  const name = type === 'integer' ? 'whole number' : 'number';
  const from = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? '' : ` from ${String(minimum)}`;
  const to = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${String(maximum)}`;
  return `${name}${from}${to}`;
}

function indexPage(): string {
  return page(
    'Receipts',
    'Four kinds and no fifth. A receipt is a small statement by an activity or a workflow: identities, counts, digests and times, never content.',
    table(
      ['Receipt', 'Says'],
      RECEIPT_KINDS.map((kind) => [link(code(kind), `${kind}.md`), RECEIPT_TEXTS[kind].says]),
    ),
    section(
      'The envelope',
      'Every receipt has it. Code does not write it: the plugin does. Order is (`fence`, `attempt`, `sequence`) for each emitter, never arrival and never a wall clock.',
      fieldTable(shapeOf('progress'), ENVELOPE_FIELDS, ['kind', 'body', ...bodyPaths()]),
    ),
  );
}

function bodyPaths(): readonly string[] {
  return fieldsOf(shapeOf('progress').properties?.['body'] ?? {}, 'body.').map(({ path }) => path);
}
