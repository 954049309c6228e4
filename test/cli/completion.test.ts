/** What shells are offered: by our own lines in a real bash, and through the real Temporal CLI. No server is needed for it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { VERDICTS } from '../../health/verdict.ts';
import { testTemporal } from '../support/servers.ts';
import { health, LAUNCHER } from './support/command.ts';
import { healthHere } from './support/in-process.ts';

// Each test starts several processes; how long that takes is the machine's business.
vi.setConfig({ testTimeout: 240_000 });

let folder: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'health-completion-'));
  symlinkSync(LAUNCHER, join(folder, 'temporal-health'));
  writeFileSync(join(folder, 'evidence.json'), '{}');
  env = { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function offered(...words: string[]): Promise<{ values: string[]; directive: string }> {
  const ran = await healthHere(['__complete', ...words]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const lines = ran.stdout.trimEnd().split('\n');
  return { values: lines.slice(0, -1).map((line) => line.split('\t')[0] ?? ''), directive: lines.at(-1) ?? '' };
}

describe('candidates', () => {
  it('commands with what they do, and the commands of a group', async () => {
    const { stdout } = await healthHere(['__complete', '']);
    expect(stdout).toMatch(/^report\thow the runs of a namespace are, worst first$/m);
    for (const name of ['explain', 'watch', 'wait-for', 'receipts', 'completion']) {
      expect(stdout).toMatch(new RegExp(`^${name}\t`, 'm'));
    }
    expect(stdout).not.toContain('__complete');
    expect((await offered('rep')).values).toEqual(['report']);
    expect(await offered('receipts', '')).toEqual({ values: ['list'], directive: ':4' });
  });

  it('flags of the command and those of all commands', async () => {
    expect((await offered('report', '--verd')).values).toEqual(['--verdict']);
    expect((await offered('report', '--')).values).toEqual(
      expect.arrayContaining(['--columns', '--query', '--profile']),
    );
    expect((await offered('--verd')).values).toEqual([]);
    expect((await offered('-o', 'json', 'wait-for', '-w', 'report', '--f')).values).toEqual(['--for']);
  });

  it('values: verdicts, reasons, columns, forms of output, kinds, shells, schemas', async () => {
    expect(await offered('report', '--verdict', '')).toEqual({ values: [...VERDICTS], directive: ':6' });
    expect((await offered('report', '--verdict=stuck,un')).values).toEqual(['--verdict=stuck,uncertain']);
    expect((await offered('wait-for', '--for', 'healthy,d')).values).toEqual(['healthy,deliverable']);
    expect((await offered('report', '--verdict', 'stuck,st')).values).toEqual([]);
    expect((await offered('report', '--reason', 'mile')).values).toEqual(['milestone-stale', 'milestone-fresh']);
    expect((await offered('report', '--columns', 'workflow,ow')).values).toEqual(['workflow,owner']);
    expect(await offered('report', '-o', 'n')).toEqual({ values: ['none', 'nagios'], directive: ':4' });
    expect((await offered('receipts', 'list', '--kind', 'e')).values).toEqual(['effect']);
    expect((await offered('completion', 'b')).values).toEqual(['bash']);
    expect((await offered('schema', 'evi')).values).toEqual(['evidence']);
  });

  it('files where a file is meant, and nowhere else', async () => {
    expect(await offered('classify', '')).toEqual({ values: [], directive: ':0' });
    expect(await offered('classify', 'a.json', '')).toEqual({ values: [], directive: ':0' });
    expect(await offered('report', '--config-file', '')).toEqual({ values: [], directive: ':0' });
    expect(await offered('explain', '-w', '')).toEqual({ values: [], directive: ':4' });
  });

  it('a flag that the Temporal CLI moved to the front is completed where it stands', async () => {
    expect((await offered('-o', '', 'report')).values).toContain('jsonl');
    expect((await offered('-o', 'js', 'report')).values).toEqual(['json', 'jsonl']);
    expect((await offered('-o', 'json', 'rep')).values).toEqual(['report']);
  });

  it('nothing for words that are none', async () => {
    expect(await offered()).toMatchObject({ directive: ':4' });
    expect(await offered('moon', '')).toMatchObject({ directive: ':4' });
  });
});

describe('through the real Temporal CLI', () => {
  const asked = async (...words: string[]): Promise<string> => {
    const ran = await health(['__complete', 'health', ...words], { program: testTemporal().cli, env });
    return ran.stdout;
  };

  it('offers our commands, flags and values', async () => {
    expect(await asked('')).toMatch(/^wait-for\t.*\n(.*\n)*:4\n/m);
    expect(await asked('report', '--verdict', 'st')).toBe('stuck\n:6\n');
    expect(await asked('report', '-o', '')).toMatch(/^text\njson\njsonl\nnone\nnagios\n:4\n/);
  });
});

const has = (shell: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${shell}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Types a line and asks for candidates, as a TAB does. */
const typed = (line: string): string =>
  `COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; COMPREPLY=(); _temporal_health; printf '%s|' "\${COMPREPLY[@]}"; echo`;

describe('the lines for a shell', () => {
  it.skipIf(!has('bash'))('in bash: commands, flags, values after = and after a comma, and files', async () => {
    const lines = ['temporal-health wa', 'temporal-health report --verdict=stuck,w', 'temporal-health report --needs'];
    const script = [
      'set -eu; source <(temporal-health completion bash)',
      ...[...lines, 'temporal-health classify evi', 'temporal-health explain -w '].map(typed),
    ].join('\n');
    const ran = await health(['-c', script], { program: 'bash', env, cwd: folder });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout.split('\n').slice(0, 5)).toEqual([
      'watch|wait-for|',
      'stuck,working|stuck,waiting|',
      '--needs-attention|',
      'evidence.json|',
      '|',
    ]);
  });

  // Each shell reads its own language; where it is not installed nobody here could say whether the lines are any.
  for (const [shell, args] of [
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ] as const) {
    it.skipIf(!has(shell))(`${shell} understands its lines`, async () => {
      const file = join(folder, `completion.${shell}`);
      writeFileSync(file, (await healthHere(['completion', shell])).stdout);
      expect(await health([...args, file], { program: shell })).toMatchObject({ code: 0, stderr: '' });
    });
  }

  it('an unknown shell is a usage error that lists the known ones', async () => {
    const ran = await healthHere(['completion', 'csh']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(/bash, zsh, fish, powershell/);
    expect((await healthHere(['completion', 'powershell'])).stdout).toContain('Register-ArgumentCompleter');
  });
});
