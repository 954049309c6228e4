import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checks, testReport } from '../../../receipts/checks/index.ts';
import type { TestReportOptions } from '../../../receipts/checks/index.ts';
import type { CheckFinding } from '../../../receipts/contract.ts';
import { folder, look, site } from './checking.ts';

function found(content: string | Buffer, options: TestReportOptions = {}): Promise<CheckFinding> {
  const root = folder();
  writeFileSync(join(root, 'report'), content);
  return look(testReport({ root, ...options }), 'report');
}

const PASSED = '<testcase classname="pay.Refund" name="pays once"/>';
const FAILED = '<testcase name="b"><failure message="no"/></testcase>';
const BROKEN = '<testcase name="c"><error/></testcase>';
const SKIPPED = '<testcase name="d"><skipped/></testcase>';
const junit = (cases: string, attributes = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes}><testsuite name="pay">${cases}</testsuite></testsuites>`;

interface JsonTest {
  title: string;
  status: string;
}
const json = (tests: JsonTest[], more: object = {}): string =>
  JSON.stringify({
    numTotalTests: tests.length,
    numFailedTests: tests.filter(({ status }) => status === 'failed').length,
    success: tests.every(({ status }) => status !== 'failed'),
    testResults: [
      {
        name: '/src/pay.test.ts',
        status: 'passed',
        assertionResults: tests.map(({ title, status }) => ({
          ...{ title, status, ancestorTitles: ['refunds'], fullName: `refunds ${title}` },
        })),
      },
    ],
    ...more,
  });

describe('a JUnit report', () => {
  test('passes with its counts, its digest and its size', async () => {
    const text = junit(PASSED + PASSED + SKIPPED, ' tests="3" failures="0" errors="0"');
    expect(await found(text)).toEqual({
      result: 'pass',
      subject: { digest: expect.stringMatching(/^sha256:/) as unknown, sizeBytes: text.length, count: 2 },
      coverage: { expected: 3, accepted: 2, excluded: 1, excludedBy: 'report' },
    });
  });

  test.each([
    ['a failure', junit(PASSED + FAILED), 'tests-failed'],
    ['an error', junit(PASSED + BROKEN), 'tests-failed'],
    ['a suite that could not run', junit(`${PASSED}<error message="import"/>`), 'tests-failed'],
    ['a failure beside a skip', junit('<testcase name="x"><skipped/><failure/></testcase>' + PASSED), 'tests-failed'],
    ['failures that only the totals admit', junit(PASSED, ' tests="1" failures="1"'), 'tests-failed'],
    ['errors that only a suite admits', `<testsuite tests="1" errors="2">${PASSED}</testsuite>`, 'tests-failed'],
    ['fewer tests than it says it holds', junit(PASSED, ' tests="40"'), 'incomplete'],
    ['no test', junit(''), 'no-tests'],
    ['nothing but skipped tests', junit(SKIPPED), 'nothing-ran'],
    ['tests that were listed and not run', junit('<testcase name="x" status="notrun"/>'), 'nothing-ran'],
    ['a total that is no number', junit(PASSED, ' tests="many"'), 'bad-count'],
    ['another root', '<assemblies><testcase name="a"/></assemblies>', 'not-a-test-report'],
    ['a page of a proxy', '<!DOCTYPE html><html></html>', 'doctype'],
    ['neither XML nor JSON', 'All 40 tests passed.', 'not-a-test-report'],
    ['a tower of suites', '<testsuite>'.repeat(500), 'too-deep'],
    ['two roots', junit(PASSED) + junit(PASSED), 'malformed'],
    [
      'bytes that are no text',
      Buffer.concat([Buffer.from('<testsuite name="'), Buffer.from([0xff, 0xfe, 0x41])]),
      'encoding',
    ],
    ['an encoding that nobody knows', `<?xml version="1.0" encoding="x-none"?><testsuite/>`, 'encoding'],
  ])('fails on %s', async (_what, content, cause) => {
    expect(await found(content)).toMatchObject({ result: 'fail', cause });
  });

  test('wherever it is cut off, it does not pass', async () => {
    const text = junit(PASSED + PASSED, ' tests="2"');
    const root = folder();
    const path = join(root, 'report');
    for (let length = text.length - 1; length > 0; length -= 7) {
      writeFileSync(path, text);
      truncateSync(path, length);
      expect(await look(testReport({ root }), path), `cut at ${length}`).toMatchObject({ result: 'fail' });
    }
  });

  test('entities are neither expanded nor fetched', async () => {
    const declared = `<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>`;
    expect(await found(`${declared}<testsuite name="&b;&c;">${PASSED}</testsuite>`)).toMatchObject({
      cause: 'doctype',
    });
    expect(await found(`<testsuite name="&c;">${PASSED}</testsuite>`)).toMatchObject({ cause: 'malformed' });
  });

  test('may be in UTF-16 or in the encoding that it declares', async () => {
    const text = `<?xml version="1.0" encoding="iso-8859-1"?><testsuite name="caf\u00e9">${PASSED}</testsuite>`;
    const suites = ['caf\u00e9'];
    expect(await found(Buffer.from(text, 'latin1'), { suites })).toMatchObject({ result: 'pass' });
    expect(await found(Buffer.from(`\ufeff${text}`, 'utf16le'), { suites })).toMatchObject({ result: 'pass' });
  });

  test('of 200,000 tests is counted whole, and gives way to other work', async () => {
    const cases = Array.from({ length: 200_000 }, (_, index) => `<testcase classname="x" name="t${index}"/>`).join(
      '\n',
    );
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const finding = await found(junit(cases, ' tests="200000"'), { tests: ['t199999'] });
    clearInterval(timer);
    expect(finding).toMatchObject({ result: 'pass', coverage: { expected: 200_000, accepted: 200_000 } });
    expect(turns).toBeGreaterThan(10);
  });
});

describe('a JSON report of vitest or jest', () => {
  const two = [
    { title: 'pays once', status: 'passed' },
    { title: 'never twice', status: 'passed' },
  ];

  test('passes with its counts', async () => {
    expect(await found(json([...two, { title: 'later', status: 'todo' }]))).toMatchObject({
      result: 'pass',
      subject: { count: 2 },
      coverage: { expected: 3, accepted: 2, excluded: 1 },
    });
  });

  test.each([
    ['a failure', json([...two, { title: 'x', status: 'failed' }]), 'tests-failed'],
    ['a status that nobody knows', json([...two, { title: 'x', status: 'constructor' }]), 'tests-failed'],
    ['success: false without a failed test', json(two, { success: false }), 'tests-failed'],
    ['success left out', json(two, { success: undefined }), 'tests-failed'],
    ['suites that could not be loaded', json(two, { numRuntimeErrorTestSuites: 1 }), 'tests-failed'],
    [
      'a file that failed to load',
      json(two, { testResults: [{ status: 'failed', assertionResults: [] }] }),
      'tests-failed',
    ],
    ['a run that was interrupted', json(two, { wasInterrupted: true }), 'interrupted'],
    ['fewer tests than it says', json(two, { numTotalTests: 3 }), 'incomplete'],
    ['no tests', json([]), 'no-tests'],
    ['a count that is none', json(two, { numFailedTests: '0' }), 'bad-count'],
    ['another document', '{"tests":40,"failures":0}', 'not-a-test-report'],
    ['half a document', json(two).slice(0, -20), 'malformed'],
    ['files that are no list of tests', json(two, { testResults: ['ok'] }), 'not-a-test-report'],
  ])('fails on %s', async (_what, content, cause) => {
    expect(await found(content)).toMatchObject({ result: 'fail', cause });
  });
});

test('what vitest itself writes: passing, failing, and a file that cannot be loaded', async () => {
  const root = folder();
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  mkdirSync(join(root, 'src'));
  const write = (name: string, body: string): void => {
    writeFileSync(join(root, 'src', name), `import { describe, expect, test } from 'vitest';\n${body}`);
  };
  const options = { root, suites: ['src/good.test.mjs'] };
  const runTests = (): void => {
    const reporters = ['--reporter=junit', '--reporter=json', '--outputFile.junit=r.xml', '--outputFile.json=r.json'];
    const { status } = spawnSync(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), 'run', ...reporters], {
      cwd: root,
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect(status).not.toBeNull();
  };
  write(
    'good.test.mjs',
    `describe('sum', () => { test('adds', () => expect(1 + 1).toBe(2)); test.skip('later', () => {}); });`,
  );
  runTests();
  expect(await look(testReport(options), 'r.xml')).toMatchObject({
    result: 'pass',
    coverage: { expected: 2, accepted: 1, excluded: 1 },
  });
  const asJson = testReport({ root, suites: ['sum', join(root, 'src/good.test.mjs')], tests: ['sum adds'] });
  expect(await look(asJson, 'r.json')).toMatchObject({ result: 'pass', coverage: { expected: 2, accepted: 1 } });

  write('bad.test.mjs', `test('fails', () => expect(1).toBe(2));`);
  runTests();
  for (const report of ['r.xml', 'r.json']) {
    expect(await look(testReport({ root }), report)).toMatchObject({ result: 'fail', cause: 'tests-failed' });
  }
  write('bad.test.mjs', `import './gone.mjs';`);
  runTests();
  for (const report of ['r.xml', 'r.json']) {
    expect(await look(testReport({ root }), report)).toMatchObject({ result: 'fail', cause: 'tests-failed' });
  }
}, 120_000);

describe('what a contract may ask of a report', () => {
  const text = junit(PASSED + SKIPPED);
  test.each<[TestReportOptions, string | undefined]>([
    [{ minimumTests: 1, maximumSkipped: 1, suites: ['pay'], tests: ['pays once'] }, undefined],
    [{ tests: ['pay.Refund.pays once'] }, undefined],
    [{ minimumTests: 2 }, 'too-few-tests'],
    [{ maximumSkipped: 0 }, 'too-many-skipped'],
    [{ suites: ['pay', 'ship'] }, 'suite-missing'],
    [{ tests: ['pays'] }, 'test-missing'],
    [{ tests: ['d'] }, 'test-missing'],
  ])('%j gives %s', async (options, cause) => {
    const finding = await found(text, options);
    expect(finding.cause).toBe(cause);
    expect(finding.result).toBe(cause === undefined ? 'pass' : 'fail');
  });

  test('what is missing of a stated number of tests shows as coverage', async () => {
    expect(await found(text, { minimumTests: 10 })).toMatchObject({ coverage: { expected: 10, accepted: 1 } });
  });

  test.each([
    [{ minimumTests: 0 }, 'minimumTests'],
    [{ minimumTests: 1.5 }, 'minimumTests'],
    [{ maximumSkipped: -1 }, 'maximumSkipped'],
    [{ suites: 'pay' }, 'suites'],
    [{ tests: [''] }, 'tests'],
    [{ root: ' ' }, 'root'],
    [{ minimumTest: 5 }, 'minimumTest'],
  ])('%j is refused where it is declared, and unread where a contract holds it', async (options, field) => {
    expect(() => testReport(options as TestReportOptions)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_INVALID', field }) as Error,
    );
    const finding = await look(checks['test-report']!, 'report', { options });
    expect(finding).toEqual({ result: 'unread', cause: 'bad-options' });
  });
});

describe('a report that is not there, or not to be read', () => {
  test('missing and empty fail; no root, no permission and too large are unread', async () => {
    const root = folder();
    expect(await look(testReport({ root }), 'none.xml')).toEqual({ result: 'fail', cause: 'missing' });
    expect(await found('')).toMatchObject({ result: 'fail', cause: 'size-zero' });
    expect(await found('  \n ')).toMatchObject({ result: 'fail', cause: 'not-a-test-report' });
    expect(await found(junit(PASSED), { maximumBytes: 20 })).toMatchObject({ result: 'unread', cause: 'too-large' });
    expect(await look(testReport({ root: join(root, 'gone') }), 'r.xml')).toMatchObject({ result: 'unread' });
    expect(await look(testReport({ root }), '../r.xml')).toMatchObject({ result: 'fail', cause: 'outside-root' });
    execFileSync('/usr/bin/mkfifo', [join(root, 'pipe')]);
    expect(await look(testReport({ root }), 'pipe')).toMatchObject({ result: 'fail', cause: 'not-a-file' });
  });

  test('smaller than the contract says', async () => {
    const root = folder();
    writeFileSync(join(root, 'r.xml'), junit(PASSED));
    expect(await look(testReport({ root }), 'r.xml', { minimumBytes: 9000 })).toMatchObject({ cause: 'too-small' });
  });

  test('by address: read where its origin is named, unread where nothing answers', async () => {
    const { origin } = await site((request, response) => {
      if (request.url === '/r.xml') response.end(junit(PASSED));
      else response.writeHead(500).end();
    });
    const check = testReport({ origins: [origin] });
    expect(await look(check, `${origin}/r.xml`)).toMatchObject({ result: 'pass', coverage: { accepted: 1 } });
    expect(await look(check, `${origin}/other`)).toMatchObject({ result: 'unread', cause: 'status-500' });
    expect(await look(testReport(), `${origin}/r.xml`)).toMatchObject({ result: 'unread', cause: 'not-allowed' });
  });

  test('a check that was stopped has read nothing', async () => {
    const root = folder();
    writeFileSync(join(root, 'r.xml'), junit(PASSED));
    const finding = await look(testReport({ root }), 'r.xml', { signal: AbortSignal.abort() });
    expect(finding).toMatchObject({ result: 'unread', cause: 'stopped' });
  });
});

test('the command finds it by name and by the options that the contract holds', async () => {
  const root = folder();
  writeFileSync(join(root, 'r.xml'), junit(PASSED));
  const { name, options } = testReport({ root, minimumTests: 2 });
  const registered = checks[name]!;
  expect(await look(registered, 'r.xml', { options })).toMatchObject({ result: 'fail', cause: 'too-few-tests' });
  expect(await look(registered, 'r.xml', { options: { root } })).toMatchObject({ result: 'pass' });
});
