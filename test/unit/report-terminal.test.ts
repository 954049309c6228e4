/** Colours, glyphs, times and where to connect: what a terminal and the environment decide. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { configurationOf } from '../../health/cli/configuration.ts';
import { localEnvironment } from '../../health/cli/environment.ts';
import { glyphOf, inColor, terminalOf } from '../../health/cli/output.ts';
import { table } from '../../health/cli/table.ts';
import { lengthText, parseTime, timeText } from '../../health/cli/times.ts';
import { VERDICTS } from '../../health/verdict.ts';

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
  it('cut the column that may give way on a terminal, and nothing in a pipe', () => {
    const rows = [['a', 'a long reason that goes on and on and on', 'z']];
    const cut = table(rows, { columns: 20, flexible: 1, least: 10 });
    expect(cut[0]?.length).toBeLessThanOrEqual(20);
    expect(cut[0]).toContain('…');
    expect(table(rows, { columns: null, flexible: 1, least: 10 })[0]).toContain('on and on and on z');
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
