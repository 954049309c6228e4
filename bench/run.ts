/**
 * `npm run bench -- NAME [--rounds N] [--quick] [--floors]`: see README.md beside this file.
 *
 * Exit code 0, or 1 when counts do not agree (or, with --floors, a figure is under its floor), or 2 for wrong usage.
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchOptions, BenchReport } from './report.ts';
import { failuresOf, jsonLine, reportText } from './report.ts';
import { figure } from './spread.ts';

const BENCHES: Readonly<Record<string, () => Promise<(options: BenchOptions) => Promise<BenchReport>>>> = {
  ingest: async () => (await import('./ingest.ts')).ingest,
  classify: async () => (await import('./classify.ts')).classify,
  overhead: async () => (await import('./overhead.ts')).overhead,
};
const USAGE = `usage: npm run bench -- ${Object.keys(BENCHES).join('|')} [--rounds N] [--quick] [--floors]`;
const LEAST_ROUNDS = 5;

interface Command {
  readonly name: string;
  readonly rounds: number;
  readonly quick: boolean;
  readonly floors: boolean;
}

function readCommand(): Command | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { rounds: { type: 'string' }, quick: { type: 'boolean' }, floors: { type: 'boolean' } },
    });
    const [name = '', ...rest] = positionals;
    const rounds = Number(values.rounds ?? LEAST_ROUNDS);
    if (!(name in BENCHES) || rest.length > 0 || !Number.isInteger(rounds) || rounds < 1) return undefined;
    return { name, rounds, quick: values.quick === true, floors: values.floors === true };
  } catch {
    return undefined;
  }
}

const machine = (): string => {
  const load = loadavg().map(figure).join(' ');
  return `${availableParallelism()} cores, load ${load}, Node ${process.versions.node}`;
};

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function main(): Promise<number> {
  const command = readCommand();
  const load = command === undefined ? undefined : BENCHES[command.name];
  if (command === undefined || load === undefined) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const { name, rounds, quick, floors } = command;
  const note = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  print(`${name}, ${rounds} rounds${quick ? ' (quick: for scale only)' : ''}; before: ${machine()}`);
  const bench = await load();
  const report = await bench({ rounds, quick, note });
  print(`after: ${machine()}\n`);
  print(reportText(report));
  const failures = failuresOf(report, floors);
  for (const failure of failures) process.stderr.write(`FAILED ${failure}\n`);
  print(`\n${jsonLine(name, report)}`);
  return failures.length === 0 ? 0 : 1;
}

process.exitCode = await main();
