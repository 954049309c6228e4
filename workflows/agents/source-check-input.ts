/** Reads the start input of sourceCheck before anything is done. Pure, and small enough for the sandbox. */
import type { SourceCheckInput } from './source-check-messages.ts';

export type ReadInput =
  | { readonly valid: true; readonly input: SourceCheckInput }
  /** Which field, and what it should be; never its value. */
  | { readonly valid: false; readonly field: string; readonly message: string };

const KNOWN = ['document', 'base', 'concurrency', 'timeoutSeconds'];
const LONGEST = 2_048;
// Control characters have no place in a name; they would be shown on terminals.
// eslint-disable-next-line no-control-regex -- these are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

const invalid = (field: string, message: string): ReadInput => ({ valid: false, field, message });

export function readSourceCheckInput(given: unknown): ReadInput {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return invalid('input', 'The input must be an object such as {"document": "notes/sources.md"}.');
  }
  const input = given as Record<string, unknown>;
  const unknown = Object.keys(input).find((field) => !KNOWN.includes(field));
  if (unknown !== undefined) {
    return invalid(unknown.slice(0, 64), `The input has a field that is not known; it takes ${KNOWN.join(', ')}.`);
  }
  const { document, base, concurrency, timeoutSeconds } = input;
  if (typeof document !== 'string' || document.trim() === '' || document.length > LONGEST || CONTROL.test(document)) {
    return invalid('document', `document must be a path or an address of at most ${LONGEST} characters.`);
  }
  if (base !== undefined && (typeof base !== 'string' || !/^https?:\/\/\S+$/i.test(base) || base.length > LONGEST)) {
    return invalid('base', 'base must be an http or https address.');
  }
  if (concurrency !== undefined && !isWhole(concurrency, 20)) {
    return invalid('concurrency', 'concurrency must be a whole number from 1 to 20.');
  }
  if (timeoutSeconds !== undefined && !isWhole(timeoutSeconds, 60)) {
    return invalid('timeoutSeconds', 'timeoutSeconds must be a whole number from 1 to 60.');
  }
  return { valid: true, input: input as unknown as SourceCheckInput };
}

const isWhole = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
