/**
 * `npm run chaos -- worlds [--n N] [--seed S]`: prints what the classifier got wrong, then one line of JSON; exit code 1 where
 * it would have called a bad run good or had a good one stopped.
 */
import { parseArgs } from 'node:util';
import { LIES, tallyOf } from './worlds/worlds.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { n: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const [n, seed] = [Number(values.n), Number(values.seed)];
if (positionals.join(' ') !== 'worlds' || !Number.isInteger(n) || n < 1 || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run chaos -- worlds [--n N] [--seed S]\n');
  process.exit(2);
}

const { found, truths } = tallyOf(n, seed);
for (const one of found.slice(0, 20)) process.stdout.write(`${JSON.stringify(one)}\n`);
process.stdout.write(`True were ${JSON.stringify(truths)}\n`);
const counts = Object.fromEntries(LIES.map((lie) => [lie, found.filter((one) => one.lie === lie).length]));
process.stdout.write(`${JSON.stringify({ chaos: 'worlds', n, ...counts })}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
