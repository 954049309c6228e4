import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkRange } from '../../../activities/agents/source-check/check-range.ts';
import type { RangeRequest } from '../../../activities/agents/source-check/check-range.ts';
import { finding } from '../../../activities/agents/source-check/finding.ts';
import type { Look } from '../../../activities/agents/source-check/finding.ts';
import { takeInventory } from '../../../activities/agents/source-check/sources.ts';
import type { Source } from '../../../activities/agents/source-check/sources.ts';
import { folder } from '../checks/checking.ts';

const inventory = takeInventory(Array.from({ length: 30 }, (_, n) => `[${n}](https://a.example/${n})`).join('\n'), {
  kind: 'file',
  path: 'list.md',
});
const OK: Look = { final: true, finding: finding('ok', null) };
const SILENT: Look = { final: false, finding: finding('unreachable', 'timeout') };

function asking(answer: (source: Source) => Look | Promise<Look>): {
  asked: string[];
  look: (s: Source) => Promise<Look>;
} {
  const asked: string[] = [];
  return {
    asked,
    look: async (source) => {
      asked.push(source.key);
      return answer(source);
    },
  };
}

const requestOf = (
  statePath: string,
  looker: RangeRequest['looker'],
  more: Partial<RangeRequest> = {},
): RangeRequest => ({
  inventory,
  documentDigest: 'sha256:d',
  from: 0,
  to: 30,
  statePath,
  concurrency: 4,
  isLastAttempt: false,
  looker,
  signal: new AbortController().signal,
  onBatch: () => Promise.resolve(),
  ...more,
});

describe('findings are kept as they come', () => {
  test('each source is asked once, and batches only grow', async () => {
    const statePath = join(folder(), 'run', 'range-0.json');
    const looker = asking(() => OK);
    const batches: number[] = [];
    const onBatch: RangeRequest['onBatch'] = (settled) => {
      batches.push(settled.size);
      return Promise.resolve();
    };
    expect(await checkRange(requestOf(statePath, looker, { onBatch }))).toEqual({ settled: 30, open: 0 });
    expect(new Set(looker.asked).size).toBe(30);
    expect(looker.asked).toHaveLength(30);
    expect(batches).toEqual([...batches].sort((a, b) => a - b));
    expect(batches.at(-1)).toBe(30);
  });

  test('a retry asks only what is open', async () => {
    const statePath = join(folder(), 'range-0.json');
    const first = asking(({ key }) => (key.endsWith('/7') ? SILENT : OK));
    expect(await checkRange(requestOf(statePath, first))).toEqual({ settled: 29, open: 1 });
    const second = asking(() => OK);
    expect(await checkRange(requestOf(statePath, second))).toEqual({ settled: 30, open: 0 });
    expect(second.asked).toEqual(['https://a.example/7']);
  });

  test('an attempt that died in the middle is not begun anew', async () => {
    const statePath = join(folder(), 'range-0.json');
    let calls = 0;
    const dying = asking(() => {
      calls += 1;
      if (calls > 15) throw new Error('the worker is gone');
      return OK;
    });
    await expect(checkRange(requestOf(statePath, dying, { concurrency: 1 }))).rejects.toThrow('the worker is gone');
    const second = asking(() => OK);
    expect(await checkRange(requestOf(statePath, second))).toEqual({ settled: 30, open: 0 });
    expect(second.asked).toHaveLength(15);
  });

  test('findings about another document are not taken', async () => {
    const statePath = join(folder(), 'range-0.json');
    await checkRange(
      requestOf(
        statePath,
        asking(() => OK),
      ),
    );
    const again = asking(() => OK);
    await checkRange(requestOf(statePath, again, { documentDigest: 'sha256:other' }));
    expect(again.asked).toHaveLength(30);
  });
});

describe('a source that does not answer', () => {
  test('is unreachable after four tries, with their number', async () => {
    const statePath = join(folder(), 'range-0.json');
    const silent = asking(() => SILENT);
    const opens: number[] = [];
    let last = new Map<number, unknown>();
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const request = requestOf(statePath, silent, {
        to: 2,
        onBatch: (settled) => {
          last = new Map(settled);
          return Promise.resolve();
        },
      });
      opens.push((await checkRange(request)).open);
    }
    expect(opens).toEqual([2, 2, 2, 0]);
    expect(last.get(0)).toMatchObject({ outcome: 'unreachable', cause: 'timeout', tries: 4 });
  });

  test('is unreachable at once where no attempt follows', async () => {
    const statePath = join(folder(), 'range-0.json');
    const request = requestOf(
      statePath,
      asking(() => SILENT),
      { isLastAttempt: true },
    );
    expect(await checkRange(request)).toEqual({ settled: 30, open: 0 });
  });
});

test('a stop in the middle settles nothing that was cut short', async () => {
  const statePath = join(folder(), 'range-0.json');
  const stop = new AbortController();
  const looker = asking(({ key }) => {
    if (key.endsWith('/3')) stop.abort(new Error('stopped'));
    return OK;
  });
  await expect(checkRange(requestOf(statePath, looker, { concurrency: 1, signal: stop.signal }))).rejects.toThrow(
    'stopped',
  );
  const second = asking(() => OK);
  await checkRange(requestOf(statePath, second));
  expect(second.asked).toHaveLength(27);
});
