import { describe, expect, it } from 'vitest';
import { MonotoneCounts } from '../../../receipts/counts.ts';
import type { ProgressBody } from '../../../receipts/receipt.ts';
import { refusal } from './bodies.ts';

const at = (attempt: number, fence = 1000 * attempt): { fence: number; attempt: number } => ({ fence, attempt });
const body = (done: number | undefined, milestone = 'links', unit?: string): ProgressBody => ({
  milestone,
  digest: `d${done ?? ''}`,
  ...(done === undefined ? {} : { delta: { done, ...(unit === undefined ? {} : { unit }) } }),
});

describe('B7 counts of one emitter', () => {
  it('may grow and stay, and may not fall', () => {
    const counts = new MonotoneCounts();
    for (const done of [1, 5, 5, 9]) counts.accept(at(1), body(done));
    expect(
      refusal(() => {
        counts.accept(at(1), body(8));
      }),
    ).toMatchObject({
      code: 'RECEIPT_NOT_MONOTONE',
      field: 'delta.done',
    });
    // What was refused is not remembered.
    counts.accept(at(1), body(9));
  });

  it('fall with a reason, once', () => {
    const counts = new MonotoneCounts();
    counts.accept(at(1), body(9));
    counts.accept(at(1), body(2), 'source-replaced');
    expect(
      refusal(() => {
        counts.accept(at(1), body(1));
      }),
    ).toMatchObject({ code: 'RECEIPT_NOT_MONOTONE' });
    expect(
      refusal(() => {
        counts.accept(at(1), body(1), ' ');
      }),
    ).toMatchObject({ code: 'RECEIPT_NOT_MONOTONE' });
  });

  it('start again with a new attempt and with a new fence', () => {
    const counts = new MonotoneCounts();
    counts.accept(at(1), body(9));
    counts.accept(at(2), body(1));
    counts.accept(at(1, 5000), body(0));
    expect(
      refusal(() => {
        counts.accept(at(1, 5000), body(-1));
      }),
    ).toMatchObject({ code: 'RECEIPT_NOT_MONOTONE' });
  });

  it('are apart for each milestone and unit', () => {
    const counts = new MonotoneCounts();
    counts.accept(at(1), body(9));
    counts.accept(at(1), body(1, 'pages'));
    counts.accept(at(1), body(1, 'links', 'kB'));
    counts.accept(at(1), body(undefined));
    expect(
      refusal(() => {
        counts.accept(at(1), body(0, 'pages'));
      }),
    ).toMatchObject({ code: 'RECEIPT_NOT_MONOTONE' });
  });

  it('of endlessly many names do not fill memory: the oldest are forgotten', () => {
    const counts = new MonotoneCounts();
    for (let name = 0; name < 2000; name++) counts.accept(at(1), body(5, `m${name}`));
    counts.accept(at(1), body(1, 'm0'));
    expect(
      refusal(() => {
        counts.accept(at(1), body(1, 'm1999'));
      }),
    ).toMatchObject({ code: 'RECEIPT_NOT_MONOTONE' });
  });
});
