/**
 * Random worlds with known truth: each run lives one life, somebody looks at one moment of it, and what the classifier says
 * is held against what is true. A lie is counted by what it would do to whoever believes it.
 */
import { classify } from '../../../health/classify.ts';
import type { Verdict } from '../../../health/verdict.ts';
import { seenAt } from './evidence-at.ts';
import type { Lack } from './evidence-at.ts';
import { liveOne } from './lives.ts';
import type { Life } from './lives.ts';
import { randomOf } from './random.ts';
import type { Random } from './random.ts';
import { MINUTE, POLICY } from './story.ts';
import type { Story, Truth } from './story.ts';

export const LIES = ['falseGreen', 'falseKill', 'missed'] as const;
export type Lie = (typeof LIES)[number];

export interface Found {
  readonly lie: Lie;
  readonly seed: number;
  readonly life: string;
  /** Since the run's start. */
  readonly afterMs: number;
  readonly lack: Lack;
  readonly truth: Truth;
  readonly said: Verdict | null;
  readonly reason: string;
}

export interface Tally {
  readonly n: number;
  readonly found: readonly Found[];
  /** How often each verdict was the true one, so that nobody mistakes an empty world for a clean one. */
  readonly truths: Readonly<Record<string, number>>;
}

/** Lives the worlds of the seeds `firstSeed` to `firstSeed + n - 1`. */
export function tallyOf(n: number, firstSeed: number): Tally {
  const found: Found[] = [];
  const truths: Record<string, number> = {};
  for (let seed = firstSeed; seed < firstSeed + n; seed += 1) {
    const random = randomOf(seed);
    const life = liveOne(random);
    const { story } = life;
    const nowMs = momentOf(life, random);
    const { evidence, lack } = seenAt(story, nowMs, random);
    const truth = truthAt(story, nowMs);
    truths[truth.is] = (truths[truth.is] ?? 0) + 1;
    const { verdict: said, reason } = classify(evidence, POLICY, nowMs);
    const lie = lieOf(said, truth, nowMs, lack);
    const afterMs = nowMs - story.startedAtMs;
    if (lie !== null) found.push({ lie, seed, life: life.name, afterMs, lack, truth, said, reason });
  }
  return { n, found, truths };
}

/** Anywhere, or just around a moment at which something changed or a limit passes. */
function momentOf({ story, endsAtMs, goesOn }: Life, random: Random): number {
  const lastMs = goesOn ? endsAtMs : endsAtMs + 90 * MINUTE;
  if (random.chance(0.4)) return random.between(story.startedAtMs, lastMs);
  if (random.chance(0.4)) return random.between(Math.min(endsAtMs, lastMs - MINUTE), lastMs);
  const truth = story.truths[random.between(0, story.truths.length)];
  const edgeMs = random.chance(0.5) ? (truth?.fromMs ?? endsAtMs) : (truth?.knowableMs ?? endsAtMs);
  return Math.min(lastMs, Math.max(story.startedAtMs, edgeMs + random.between(-3, 4)));
}

function truthAt(story: Story, nowMs: number): Truth {
  const passed = story.truths.filter(({ fromMs }) => fromMs <= nowMs);
  const last = passed.at(-1);
  if (last === undefined) throw new Error('A story begins with a truth.');
  return last;
}

const GOOD: readonly (Verdict | null)[] = ['working', 'waiting', 'healthy'];
const INTERVENE: readonly (Verdict | null)[] = ['stuck', 'false-success'];

function lieOf(said: Verdict | null, truth: Truth, nowMs: number, lack: Lack): Lie | null {
  const right: readonly (Verdict | null)[] = nowMs < truth.knowableMs ? [truth.is, ...truth.meanwhile] : [truth.is];
  if (right.includes(said)) return null;
  if (said === 'healthy' || (GOOD.includes(said) && !GOOD.includes(truth.is))) return 'falseGreen';
  if (INTERVENE.includes(said) && !INTERVENE.includes(truth.is)) return 'falseKill';
  return said === 'uncertain' && lack !== 'nothing' ? null : 'missed';
}
