/**
 * A check whose options are validated: at once where code declares them, and again where they come out of a registered
 * contract, which was written elsewhere and perhaps long ago.
 */
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import { isHealthError, HealthError } from '../errors.ts';
import { given } from './options.ts';
import type { Options } from './options.ts';

/** Reads options one by one and refuses what is wrong, or what nobody asked for, under CONTRACT_INVALID. */
export class OptionReader {
  readonly #check: string;
  readonly #options: Options;
  readonly #asked = new Set<string>();

  constructor(check: string, options: Options) {
    this.#check = check;
    this.#options = options;
  }

  /** @throws HealthError CONTRACT_INVALID with the option's name, never its value */
  refuse(name: string, wanted: string): never {
    throw new HealthError('CONTRACT_INVALID', `The option ${name} of the check ${this.#check} must be ${wanted}.`, {
      field: name,
    });
  }

  value(name: string): unknown {
    this.#asked.add(name);
    return this.#options[name];
  }

  text(name: string, wanted = 'text that is not empty', holds: (text: string) => boolean = () => true) {
    const value = this.value(name);
    if (value === undefined) return undefined;
    return typeof value === 'string' && value.trim() !== '' && holds(value) ? value : this.refuse(name, wanted);
  }

  /** A whole number from `minimum` on. */
  count(name: string, minimum = 0): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value;
    return this.refuse(name, `a whole number, ${minimum} or more`);
  }

  texts(name: string): readonly string[] | undefined {
    const value: unknown = this.value(name);
    if (value === undefined) return undefined;
    const whole = Array.isArray(value) && value.every((entry) => typeof entry === 'string' && entry.trim() !== '');
    return whole ? (value as readonly string[]) : this.refuse(name, 'a list of texts that are not empty');
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    return values.find((one) => one === value) ?? this.refuse(name, `one of ${values.join(', ')}`);
  }

  required<T>(name: string, value: T | undefined): T {
    return value ?? this.refuse(name, 'given');
  }

  /** A misspelt option would otherwise be a bar that nobody holds the result to. */
  end(): void {
    const unknown = Object.keys(this.#options).find((name) => !this.#asked.has(name));
    if (unknown === undefined) return;
    const known = [...this.#asked].join(', ');
    throw new HealthError('CONTRACT_INVALID', `The check ${this.#check} has no option ${unknown}: it takes ${known}.`, {
      field: unknown,
    });
  }
}

export interface CheckKind<Read> {
  readonly name: string;
  /** Every pass of it has the digest of what it found. */
  readonly findsDigest?: boolean;
  readonly read: (reader: OptionReader) => Read;
  readonly look: (request: CheckRequest, read: Read) => Promise<CheckFinding>;
}

function readOptions<Read>(kind: CheckKind<Read>, options: Options): Read {
  const reader = new OptionReader(kind.name, options);
  const read = kind.read(reader);
  reader.end();
  return read;
}

async function run<Read>(kind: CheckKind<Read>, request: CheckRequest, options: Options): Promise<CheckFinding> {
  let read: Read;
  try {
    read = readOptions(kind, options);
  } catch (error) {
    if (isHealthError(error)) return { result: 'unread', cause: 'bad-options' };
    throw error;
  }
  return kind.look(request, read);
}

/** @throws HealthError CONTRACT_INVALID with the option at fault */
export function declaredCheck<Read>(kind: CheckKind<Read>, options: object): DeliverableCheck {
  const own = given(options);
  readOptions(kind, own);
  return { ...shape(kind), options: own, run: (request) => run(kind, request, { ...own, ...request.options }) };
}

/** The check as the registry holds it: all its options come with the request. */
export function registeredCheck<Read>(kind: CheckKind<Read>): DeliverableCheck {
  return { ...shape(kind), options: {}, run: (request) => run(kind, request, request.options) };
}

function shape<Read>({ name, findsDigest }: CheckKind<Read>): Pick<DeliverableCheck, 'name' | 'findsDigest'> {
  return findsDigest === undefined ? { name } : { name, findsDigest };
}

/** A place, and what of the promise only the run can know: `place#name=value&name=value`. */
export interface SplitLocation {
  readonly place: string;
  readonly named: Readonly<Record<string, string>>;
}

/** Null where a name comes twice, is not known or has no value that can be read. */
export function splitLocation(location: string, names: readonly string[]): SplitLocation | null {
  const at = location.lastIndexOf('#');
  if (at === -1 || !names.some((name) => location.startsWith(`${name}=`, at + 1)))
    return { place: location, named: {} };
  const named: Record<string, string> = {};
  for (const pair of location.slice(at + 1).split('&')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals));
    if (!names.includes(name) || named[name] !== undefined) return null;
    try {
      named[name] = decodeURIComponent(pair.slice(equals + 1));
    } catch {
      return null;
    }
    if (named[name] === '') return null;
  }
  return { place: location.slice(0, at), named };
}

/** The other way round. */
export function joinLocation(place: string, named: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? place : `${place}#${pairs.join('&')}`;
}
