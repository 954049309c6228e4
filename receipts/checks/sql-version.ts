/** A row in a Postgres table whose version is the promised one, or at least it. */
import type { CheckFinding, CheckRequest, DeliverableCheck } from '../contract.ts';
import { declaredCheck, joinLocation, registeredCheck, splitLocation } from './declared.ts';
import type { CheckKind, OptionReader } from './declared.ts';

export const SQL_VERSION = 'sql-version';

export interface SqlVersionOptions {
  /**
   * Name of the environment variable that holds the database's address (`postgres://…`), on each machine that runs the
   * check. The address itself never stands in a contract or a receipt. A role that may only read is enough.
   */
  readonly connectionVariable: string;
  /** `public` where absent. */
  readonly schema?: string;
  readonly table: string;
  readonly keyColumn: string;
  /** The row; the location's where absent. */
  readonly key?: string | number;
  /** A number, a time or (with `equal`) any text: what grows or changes with each version of the row. */
  readonly versionColumn: string;
  /** The promised version; the location's where absent. */
  readonly version?: string | number;
  /**
   * `at-least` where absent: for whole and decimal numbers, dates, timestamps, `xid8` and `pg_lsn`; a timestamp without
   * time zone is promised without an offset.
   */
  readonly compare?: 'at-least' | 'equal';
  /** For connecting and for asking, in ms; 10 s where absent. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const COMPARISONS = ['at-least', 'equal'] as const;
/** Postgres cuts longer names off, and the cut name may be another table's. */
const LONGEST_NAME_BYTES = 63;
const LONGEST_SHOWN = 200;

/**
 * Location: the row's key, and where only the run knows it `#version=…` (see `rowLocation`). Finding: `subject` has the
 * row's version.
 * @throws HealthError CONTRACT_INVALID for an option that cannot be one
 */
export function sqlVersion(options: SqlVersionOptions): DeliverableCheck {
  return declaredCheck(kind, options);
}

/** The location of a row and the version it must have, for `verify`. */
export function rowLocation(key: string | number, version: string | number): string {
  return joinLocation(String(key), { version: String(version) });
}

const isName = (text: string): boolean => !text.includes('\0') && Buffer.byteLength(text) <= LONGEST_NAME_BYTES;

function read(options: OptionReader) {
  const name = (option: string): string | undefined => options.text(option, 'the name of a table or column', isName);
  return {
    connectionVariable: options.required(
      'connectionVariable',
      options.text('connectionVariable', 'the name of an environment variable', (text) => /^[A-Za-z_]\w*$/.test(text)),
    ),
    schema: name('schema') ?? 'public',
    table: options.required('table', name('table')),
    keyColumn: options.required('keyColumn', name('keyColumn')),
    key: scalar(options, 'key'),
    versionColumn: options.required('versionColumn', name('versionColumn')),
    version: scalar(options, 'version'),
    compare: options.oneOf('compare', COMPARISONS) ?? 'at-least',
    timeoutMs: options.count('timeoutMs', 1) ?? TIMEOUT_MS,
  };
}

function scalar(options: OptionReader, name: string): string | undefined {
  const value = options.value(name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : options.refuse(name, 'a number or text');
}

type ReadOptions = ReturnType<typeof read>;

const kind: CheckKind<ReadOptions> = { name: SQL_VERSION, read, look };
export const registeredSqlVersion = registeredCheck(kind);

async function look(request: CheckRequest, options: ReadOptions): Promise<CheckFinding> {
  const location = splitLocation(request.location, ['version']);
  if (location === null || location.place === '') return { result: 'fail', cause: 'bad-location' };
  const { key = location.place, version = location.named['version'] } = options;
  if (location.place !== key) return { result: 'fail', cause: 'other-destination' };
  if (version === undefined) return { result: 'unread', cause: 'nothing-promised' };
  if ((location.named['version'] ?? version) !== version) return { result: 'fail', cause: 'other-version' };
  const url = process.env[options.connectionVariable] ?? '';
  // Loaded when it is needed: most who use a check have no use for a database client.
  const { readRowVersion } = await import('../postgres/sql-version.ts');
  const { signal } = request;
  const answer = await readRowVersion({ ...options, url, key, version, ...(signal === undefined ? {} : { signal }) });
  switch (answer.kind) {
    case 'unread':
      return { result: 'unread', cause: answer.cause };
    case 'fault':
      return { result: 'fail', cause: answer.cause };
    case 'no-row':
      return { result: 'fail', cause: 'row-missing' };
    case 'row': {
      const shown = answer.version !== null && answer.version.length <= LONGEST_SHOWN ? answer.version : null;
      const subject = shown === null ? {} : { subject: { version: shown } };
      if (answer.holds) return { result: 'pass', ...subject };
      return { result: 'fail', cause: options.compare === 'equal' ? 'version-differs' : 'version-lower', ...subject };
    }
  }
}
