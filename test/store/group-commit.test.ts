import { describe, expect, it, vi } from 'vitest';
import { HealthError } from '../../receipts/errors.ts';
import type { Receipt } from '../../receipts/envelope.ts';
import { createGroupCommit, emitterKey } from '../../receipts/group-commit.ts';
import type { GroupCommit, GroupCommitOptions } from '../../receipts/group-commit.ts';
import type { EmitOutcome } from '../../receipts/store.ts';
import { Emitter, someRun } from './given-receipts.ts';

interface Batch {
  readonly receipts: readonly Receipt[];
  readonly succeed: () => Promise<void>;
  readonly fail: () => Promise<void>;
}

/** A store whose batches the test answers, and the group commit over it. */
function underTest(options: GroupCommitOptions = {}): {
  commit: GroupCommit;
  batches: Batch[];
  turn: () => Promise<void>;
} {
  const batches: Batch[] = [];
  const turn = () => new Promise<void>((done) => setImmediate(() => setImmediate(done)));
  const emit = (receipts: readonly Receipt[]) =>
    new Promise<readonly EmitOutcome[]>((resolve, reject) => {
      batches.push({
        receipts,
        succeed: () => {
          resolve(receipts.map(({ receiptId }) => ({ receiptId, outcome: 'stored' as const })));
          return turn();
        },
        fail: () => {
          reject(new HealthError('STORE_UNAVAILABLE', 'down'));
          return turn();
        },
      });
    });
  return { commit: createGroupCommit({ emit }, options), batches, turn };
}

const run = someRun('c1');
const emitterNamed = (emitter: string): Emitter => new Emitter(run, { emitter });
const awaited = { linger: false } as const;
const lingering = { linger: true } as const;
const sequences = (batch: Batch | undefined): number[] => (batch?.receipts ?? []).map(({ sequence }) => sequence);

describe('the group commit', () => {
  it('sends what was submitted in one turn as one batch, at once', async () => {
    const { commit, batches, turn } = underTest();
    const answers = ['a', 'b', 'c'].map((name) => commit.submit(emitterNamed(name).effect(), awaited));
    await turn();
    expect(batches.map(({ receipts }) => receipts.length)).toEqual([3]);
    await batches[0]!.succeed();
    expect(await Promise.all(answers)).toMatchObject([
      { outcome: 'stored' },
      { outcome: 'stored' },
      { outcome: 'stored' },
    ]);
  });

  it('makes the next batch of what comes while both lanes are busy', async () => {
    const { commit, batches, turn } = underTest();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      void commit.submit(emitterNamed(name).effect(), awaited);
      await turn();
    }
    expect(batches.map(({ receipts }) => receipts.length)).toEqual([1, 1]);
    await batches[1]!.succeed();
    expect(batches.map(({ receipts }) => receipts.length)).toEqual([1, 1, 3]);
  });

  it('never has one emitter in two batches under way, and keeps its order', async () => {
    const { commit, batches, turn } = underTest();
    const [one, other] = [emitterNamed('one'), emitterNamed('other')];
    void commit.submit(one.effect(), awaited);
    await turn();
    void commit.submit(one.effect(), awaited);
    void commit.submit(one.effect(), awaited);
    void commit.submit(other.effect(), awaited);
    await turn();
    expect(batches).toHaveLength(2);
    expect(batches[1]!.receipts.map(({ emitter }) => emitter)).toEqual(['other']);
    await batches[0]!.succeed();
    expect(sequences(batches[2])).toEqual([2, 3]);
  });

  it('puts at most the given number into a batch', async () => {
    const { commit, batches, turn } = underTest({ batchSize: 3, lanes: 1 });
    const emitter = emitterNamed('a');
    for (let index = 0; index < 7; index += 1) void commit.submit(emitter.effect(), awaited);
    await turn();
    await batches[0]!.succeed();
    await batches[1]!.succeed();
    expect(batches.map(sequences)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });

  it('lets progress linger until an awaited receipt takes it along', async () => {
    const { commit, batches, turn } = underTest({ lingerMs: 60_000 });
    const emitter = emitterNamed('a');
    void commit.submit(emitter.progress(), lingering);
    await turn();
    expect(batches).toEqual([]);
    void commit.submit(emitter.effect(), awaited);
    await turn();
    expect(sequences(batches[0])).toEqual([1, 2]);
    await batches[0]!.succeed();
  });

  it('sends what lingers when its time is over', async () => {
    const { commit, batches } = underTest({ lingerMs: 3 });
    void commit.submit(emitterNamed('a').progress(), lingering);
    await vi.waitFor(() => {
      expect(batches).toHaveLength(1);
    });
  });

  it('flushes one emitter at once and waits for its answers only', async () => {
    const { commit, batches, turn } = underTest({ lingerMs: 60_000, lanes: 1 });
    const [mine, theirs] = [emitterNamed('mine'), emitterNamed('theirs')];
    const receipt = mine.progress();
    void commit.submit(receipt, lingering);
    const flushed = vi.fn();
    const flush = commit.flush(emitterKey(receipt)).then(flushed);
    await turn();
    void commit.submit(theirs.effect(), awaited);
    await turn();
    expect(batches.map(sequences)).toEqual([[1]]);
    expect(flushed).not.toHaveBeenCalled();
    await batches[0]!.succeed();
    await flush;
    expect(batches).toHaveLength(2);
    await commit.flush('nobody');
  });

  it('gives back with a failed batch what waits behind it, so that submitting again keeps the order', async () => {
    const { commit, batches, turn } = underTest();
    const emitter = emitterNamed('a');
    const receipts = [emitter.effect(), emitter.effect(), emitter.effect()];
    const failed: number[] = [];
    const submit = async (receipt: Receipt): Promise<EmitOutcome> => {
      try {
        return await commit.submit(receipt, awaited);
      } catch {
        failed.push(receipt.sequence);
        return submit(receipt);
      }
    };
    const answers = [submit(receipts[0]!)];
    await turn();
    answers.push(submit(receipts[1]!), submit(receipts[2]!));
    const flush = commit.flush();
    await batches[0]!.fail();
    await flush;
    expect(failed).toEqual([1, 2, 3]);
    await turn();
    expect(sequences(batches[1])).toEqual([1, 2, 3]);
    await batches[1]!.succeed();
    expect(await Promise.all(answers)).toHaveLength(3);
  });

  it('fails nobody else with a failed batch', async () => {
    const { commit, batches, turn } = underTest({ lanes: 1 });
    const lost = commit.submit(emitterNamed('a').effect(), awaited);
    await turn();
    const kept = commit.submit(emitterNamed('b').effect(), awaited);
    void batches[0]!.fail();
    await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await turn();
    await batches[1]!.succeed();
    expect(await kept).toMatchObject({ outcome: 'stored' });
  });

  it('knows that the store is down from a failure until the next success', async () => {
    const { commit, batches, turn } = underTest();
    expect(commit.knownDown()).toBe(false);
    const lost = commit.submit(emitterNamed('a').effect(), awaited);
    await turn();
    void batches[0]!.fail();
    await expect(lost).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(commit.knownDown()).toBe(true);
    const kept = commit.submit(emitterNamed('a').effect(), awaited);
    await turn();
    expect(commit.knownDown()).toBe(true);
    await batches[1]!.succeed();
    await kept;
    expect(commit.knownDown()).toBe(false);
  });

  it('rejects when the store answers for fewer receipts than it was given', async () => {
    const commit = createGroupCommit({ emit: () => Promise.resolve([]) });
    await expect(commit.submit(emitterNamed('a').effect(), awaited)).rejects.toThrow(/fewer answers/);
  });
});
