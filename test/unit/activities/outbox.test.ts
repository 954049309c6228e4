/** The receipts of an attempt until the store has them: order over failures, hurry, and giving up. */
import { describe, expect, it } from 'vitest';
import { Outbox } from '../../../activities/outbox.ts';
import type { ReceiptSink } from '../../../activities/outbox.ts';
import type { Receipt } from '../../../receipts/envelope.ts';
import { HealthError } from '../../../receipts/errors.ts';
import type { EmitOutcome } from '../../../receipts/store.ts';

const receipt = (sequence: number): Receipt => ({ receiptId: `r${sequence}`, sequence }) as Receipt;

function sinkOf(answer: (receipt: Receipt) => Promise<EmitOutcome>) {
  const sent: number[] = [];
  let hurried = 0;
  const sink: ReceiptSink = {
    nowMs: () => 0,
    knownDown: () => false,
    emit(given) {
      sent.push(given.sequence);
      return answer(given);
    },
    hasten: () => {
      hurried += 1;
    },
    read: () => Promise.reject(new Error('not asked here')),
    untilWorthTrying: () => Promise.resolve(),
  };
  return { sink, sent, hurried: () => hurried };
}

const stored = (given: Receipt): Promise<EmitOutcome> =>
  Promise.resolve({ receiptId: given.receiptId, outcome: 'stored' });

describe('the outbox', () => {
  it('sends what the store could not take again, before anything newer', async () => {
    let failures = 2;
    const { sink, sent } = sinkOf((given) => (failures-- > 0 ? Promise.reject(new Error('away')) : stored(given)));
    const outbox = new Outbox(sink);
    void outbox.add(receipt(1), { linger: true });
    void outbox.add(receipt(2), { linger: true });
    await outbox.settled();
    expect(sent).toEqual([1, 2, 1, 2]);
    expect(outbox.unsettled).toEqual([]);
  });

  it('keeps the order of what is added while an older one waits to be sent again', async () => {
    let open: () => void = () => undefined;
    const back = new Promise<void>((resolve) => {
      open = resolve;
    });
    let isBack = false;
    const { sink, sent } = sinkOf((given) => (isBack ? stored(given) : Promise.reject(new Error('away'))));
    const outbox = new Outbox({ ...sink, untilWorthTrying: () => back });
    void outbox.add(receipt(1), { linger: false });
    await new Promise(setImmediate);
    void outbox.add(receipt(2), { linger: false });
    void outbox.add(receipt(3), { linger: false });
    isBack = true;
    open();
    await outbox.settled();
    expect(sent).toEqual([1, 1, 2, 3]);
  });

  it('gives a refusal back to whoever waits for it, and does not send it again', async () => {
    const refusal = { receiptId: 'r1', outcome: 'refused', error: new HealthError('RECEIPT_ID_CONFLICT', '') } as const;
    const { sink, sent } = sinkOf(() => Promise.resolve(refusal));
    const outbox = new Outbox(sink);
    expect(await outbox.add(receipt(1), { linger: false })).toBe(refusal);
    expect(sent).toEqual([1]);
  });

  it('lets nothing linger once somebody waits', async () => {
    const { sink, hurried } = sinkOf(stored);
    const outbox = new Outbox(sink);
    void outbox.add(receipt(1), { linger: true });
    await outbox.settled();
    expect(hurried()).toBe(1);
  });

  it('stops sending when it is closed, and is full before it fills the memory', async () => {
    const { sink, sent } = sinkOf(() => Promise.reject(new Error('away')));
    const outbox = new Outbox({ ...sink, untilWorthTrying: () => new Promise((resolve) => setImmediate(resolve)) });
    for (let sequence = 1; !outbox.isFull; sequence++) void outbox.add(receipt(sequence), { linger: true });
    expect(outbox.unsettled.length).toBe(1_000);
    outbox.close();
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
    };
    await turns(10);
    const before = sent.length;
    await turns(10);
    expect(sent.length).toBe(before);
  });
});
