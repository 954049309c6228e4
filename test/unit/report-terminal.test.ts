/** Colours, glyphs, times and where to connect: what a terminal and the environment decide. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { configurationOf } from '../../health/cli/configuration.ts';
import { localEnvironment } from '../../health/cli/environment.ts';
import { glyphOf, inColor, terminalOf } from '../../health/cli/output.ts';
import { reportText } from '../../health/cli/report-text.ts';
import { table, wrap, wrapLast } from '../../health/cli/table.ts';
import { lengthText, parseTime, timeText } from '../../health/cli/times.ts';
import { classify } from '../../health/classify.ts';
import { DEFAULT_POLICY } from '../../health/policy.ts';
import { reportRow, Tally } from '../../health/report.ts';
import { VERDICTS } from '../../health/verdict.ts';
import { evidenceOf } from '../support/evidence.ts';

const tty = { isTTY: true, columns: 100 };
const pipe = {};

describe('colour', () => {
  it('--color, then NO_COLOR, then FORCE_COLOR, then the terminal', () => {
    const colors = (wish: 'always' | 'never' | 'auto', env: NodeJS.ProcessEnv, stream: object) =>
      terminalOf(wish, env, stream, stream).colors;
    expect(colors('always', { NO_COLOR: '1' }, pipe)).toBe('basic');
    expect(colors('never', { FORCE_COLOR: '1' }, tty)).toBe('none');
    expect(colors('auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, tty)).toBe('none');
    expect(colors('auto', { FORCE_COLOR: '1' }, pipe)).toBe('basic');
    expect(colors('auto', { FORCE_COLOR: '0' }, pipe)).toBe('none');
    expect(colors('auto', {}, tty)).toBe('basic');
    expect(colors('auto', { COLORTERM: 'truecolor' }, tty)).toBe('full');
    expect(colors('auto', { TERM: 'dumb' }, tty)).toBe('none');
    expect(colors('auto', {}, pipe)).toBe('none');
  });

  it('a verdict is told by word and glyph; without a UTF-8 locale by ASCII, each different', () => {
    const plain = terminalOf('never', { LANG: 'C' }, pipe, pipe);
    const ascii = VERDICTS.map((verdict) => glyphOf(verdict, plain));
    expect(new Set(ascii).size).toBe(VERDICTS.length);
    expect(ascii.join('')).toMatch(/^[!-~]+$/);
    expect(glyphOf('stuck', terminalOf('never', { LANG: 'C.UTF-8' }, pipe, pipe))).toBe('■');
    expect(inColor('stuck', 'stuck', plain)).toBe('stuck');
    const full = terminalOf('always', { COLORTERM: '24bit', COLORFGBG: '0;15' }, pipe, pipe);
    expect(inColor('working', 'x', full)).toBe('\u001b[38;2;38;103;255mx\u001b[0m');
  });

  it('nothing is redrawn off a terminal, in CI or on a dumb one', () => {
    expect(terminalOf('auto', {}, pipe, pipe).progress).toBe(false);
    expect(terminalOf('auto', { CI: 'true' }, tty, tty).progress).toBe(false);
    expect(terminalOf('auto', {}, pipe, tty).progress).toBe(true);
  });
});

describe('times', () => {
  it.each([
    [0, '0s'],
    [250, '250ms'],
    [31 * 60_000, '31m'],
    [3_600_000 + 5 * 60_000, '1h5m'],
    [26 * 3_600_000, '1d2h'],
    [-5, '0s'],
  ])('%d ms is %s', (ms, text) => {
    expect(lengthText(ms)).toBe(text);
  });

  it('relative, ISO and raw', () => {
    expect(timeText(1_000, 61_000, 'relative')).toBe('1m ago');
    expect(timeText(61_000, 1_000, 'relative')).toBe('in 1m');
    expect(timeText(0, 1, 'iso')).toBe('1970-01-01T00:00:00.000Z');
    expect(timeText(5, 1, 'raw')).toBe('5');
    expect(parseTime('2026-06-01T12:00:00+02:00', '--at')).toBe(Date.parse('2026-06-01T10:00:00Z'));
  });
});

describe('tables', () => {
  it('a pipe gets each row in one line', () => {
    const [line] = table([['a', 'a long reason that goes on and on and on', 'z']]);
    expect(line).toBe('a a long reason that goes on and on and on z');
  });

  it('lines break between words, and within a word only where it is wider by itself', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a 0123456789 b', 4)).toEqual(['a', '0123', '4567', '89 b']);
    expect(wrap('as it is', null)).toEqual(['as it is']);
    expect(wrapLast([['name', 'one two three']], 13, 4)).toEqual(['name one two', '     three']);
  });
});

describe('a report on a screen', () => {
  const none: null = null;
  const operation = 'default/payment-2041-of-june/charge/invoice-2041';
  const row = {
    ...reportRow(evidenceOf({}), classify(evidenceOf({}), DEFAULT_POLICY, evidenceOf({}).nowMs)),
    workflowId: 'payment-2041-of-june',
    workflowType: 'settleInvoice',
    verdict: 'uncertain' as const,
    message: `${operation} may have happened; the destination has not said.`,
    next: `reconcile ${operation}`,
    since: '2026-06-01T11:00:00.000Z',
    wait: none,
    retry: none,
    failureText: none,
  };
  const screen = (columns: number | null, filtered = false, rows = [row]) => {
    const tally = new Tally(10);
    for (const one of rows) tally.add(one, true);
    return reportText(
      {
        namespace: 'default',
        rows,
        notShown: 0,
        counts: tally.counts(),
        end: { open: rows.length, closed: 0, notDescribed: 0, leftOut: 0, errors: [] },
        states: { temporal: 'read', store: 'read' },
        startedAtMs: Date.parse('2026-06-01T12:00:00Z'),
        nowMs: Date.parse('2026-06-01T12:00:00Z'),
        discovered: false,
        limit: 500,
        filtered,
      },
      {
        format: 'text',
        terminal: { ...terminalOf('never', { LANG: 'C.UTF-8' }, pipe, pipe), columns },
        timeFormat: 'relative',
        header: true,
        configuration: () => configurationOf({}, {}, () => none),
      },
    );
  };
  const rowsOf = (text: string) => text.split('\n').slice(1, -2);

  it.each([40, 80, 118])('%d columns: no row is wider, and nothing that it says is lost', (columns) => {
    const text = screen(columns);
    for (const line of rowsOf(text)) expect(line.length).toBeLessThanOrEqual(columns);
    const words = text.split(/\s+/);
    for (const word of [row.workflowId, '…/charge/invoice-2041', 'reconcile', 'destination', 'said.', '1h']) {
      expect(words).toContain(word);
    }
    expect(words.filter((word) => word === '…/charge/invoice-2041')).toHaveLength(2);
  });

  it('with room for everything, or in a pipe, each run has one line with its type', () => {
    for (const columns of [null, 250]) {
      const [, line] = rowsOf(screen(columns));
      expect(line).toContain('settleInvoice');
      expect(line).toMatch(/…\/charge\/invoice-2041 may have happened; .* reconcile …\/charge\/invoice-2041 +1h$/);
    }
  });

  it('an empty one says whether a filter left nothing', () => {
    expect(screen(80, true, [])).toContain('matches --query and --type');
    expect(screen(80, false, [])).toMatch(/24 hours\.$/m);
  });
});

describe('where to connect', () => {
  let folder: string;
  const local = { temporalAddress: '127.0.0.1:9', namespace: 'demo', databaseUrl: 'postgres://x', uiAddress: null };
  const none = () => null;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'health-configuration-'));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) vi.stubEnv(name, undefined);
    vi.stubEnv('TEMPORAL_CONFIG_FILE', join(folder, 'temporal.toml'));
    writeFileSync(join(folder, 'temporal.toml'), '');
    return () => {
      vi.unstubAllEnvs();
    };
  });

  it('nothing given: the local environment of this checkout, else the default address and no store', () => {
    expect(configurationOf({}, {}, () => local)).toMatchObject({
      address: '127.0.0.1:9',
      namespace: 'demo',
      databaseUrl: 'postgres://x',
      discovered: true,
    });
    expect(configurationOf({}, {}, none)).toMatchObject({
      address: 'localhost:7233',
      namespace: 'default',
      databaseUrl: null,
      discovered: false,
    });
  });

  it('an address, a profile or a database given anywhere switches discovery off', () => {
    const found = () => local;
    expect(configurationOf({ address: 'h:1' }, {}, found)).toMatchObject({ address: 'h:1', databaseUrl: null });
    expect(configurationOf({ databaseUrl: 'postgres://y' }, {}, found)).toMatchObject({ discovered: false });
    expect(configurationOf({}, { TEMPORAL_HEALTH_DATABASE_URL: 'postgres://z' }, found)).toMatchObject({
      address: 'localhost:7233',
      databaseUrl: 'postgres://z',
    });
    writeFileSync(join(folder, 'temporal.toml'), '[profile.default]\naddress = "file:1"\nnamespace = "n"\n');
    expect(configurationOf({}, {}, found)).toMatchObject({ address: 'file:1', namespace: 'n', discovered: false });
    expect(configurationOf({ namespace: 'mine' }, {}, found)).toMatchObject({ namespace: 'mine' });
  });

  it("an application's DATABASE_URL is not looked at", () => {
    expect(configurationOf({}, { DATABASE_URL: 'postgres://app' }, none).databaseUrl).toBeNull();
  });

  it('an API key turns TLS on, --disable-tls turns it off, and a flag wins over the file', () => {
    writeFileSync(join(folder, 'temporal.toml'), '[profile.default]\naddress = "a:1"\napi_key = "k"\n');
    expect(configurationOf({}, {}, none).connection).toMatchObject({ apiKey: 'k', tls: true });
    expect(configurationOf({ disableTls: true }, {}, none).connection).toMatchObject({ tls: false });
    expect(configurationOf({ grpcMeta: ['a=b=c'] }, {}, none).connection).toMatchObject({ metadata: { a: 'b=c' } });
  });

  it('a running local environment is found, and known by its address when it was given', () => {
    const state = { temporal: { address: 'h:1', uiAddress: 'http://h:2', pid: process.pid }, postgres: { url: 'p' } };
    const write = (text: string): void => {
      writeFileSync(join(folder, 'state.json'), text);
    };
    write(JSON.stringify(state));
    const found = localEnvironment(folder);
    expect(found).toEqual({ temporalAddress: 'h:1', databaseUrl: 'p', namespace: 'default', uiAddress: 'http://h:2' });
    expect(configurationOf({ address: 'h:1' }, {}, () => found)).toMatchObject({ uiAddress: 'http://h:2' });
    expect(configurationOf({ address: 'h:9' }, {}, () => found)).toMatchObject({ uiAddress: null });
  });

  it('one that is half written, or whose server is gone, is none', () => {
    const gone = { temporal: { address: 'h:1', pid: 2 ** 30 }, postgres: { url: 'p' } };
    expect(localEnvironment(join(folder, 'nowhere'))).toBeNull();
    for (const text of ['{', '[]', 'null', '{"temporal":{"address":"h:1"}}', JSON.stringify(gone)]) {
      writeFileSync(join(folder, 'state.json'), text);
      expect(localEnvironment(folder)).toBeNull();
    }
  });
});
