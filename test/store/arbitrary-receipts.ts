/** Random receipts of one chain, and random ways to deliver them. */
import fc from 'fast-check';
import type { Receipt } from '../../receipts/envelope.ts';
import type { ChainRow } from '../../receipts/state.ts';
import { WAIT_STATES } from '../../receipts/receipt.ts';
import { deliverableBody, Emitter, effectBody, someDigest, someRun, waitBody } from './given-receipts.ts';
import type { Identity } from './given-receipts.ts';

const bodies = fc.oneof(
  fc.record({
    kind: fc.constant('progress' as const),
    milestone: fc.constantFrom('checked', 'written'),
    digest: fc.constantFrom('d1', 'd2', 'd3', 'd4', 'd5'),
    expectByMs: fc.constantFrom(undefined, 9_000),
    step: fc.constantFrom(undefined, 'next'),
  }),
  fc.record({
    kind: fc.constant('wait' as const),
    state: fc.constantFrom(...WAIT_STATES),
    resumeToken: fc.constantFrom('t1', 't2', null),
    owner: fc.constantFrom('ops', 'boss', null),
  }),
  fc.record({
    kind: fc.constant('effect' as const),
    operationId: fc.constantFrom('op-1', 'op-2'),
    name: fc.constantFrom('charge', 'bill'),
    state: fc.constantFrom('none', 'attempted', 'verified', 'unknown'),
    told: fc.constantFrom(undefined, 'a', 'b', ''),
    target: fc.constantFrom(undefined, 'bank'),
    role: fc.constantFrom(undefined, 'delivery'),
  }),
  fc.record({
    kind: fc.constant('deliverable' as const),
    name: fc.constantFrom('report', 'mail'),
    check: fc.constantFrom('file-digest', 'judge'),
    result: fc.constantFrom('pass', 'fail', 'unread'),
  }),
);
type Body = typeof bodies extends fc.Arbitrary<infer T> ? T : never;

const said = fc.record({
  body: bodies,
  mission: fc.constantFrom(null, someDigest('a')),
  occurredAtMs: fc.integer({ min: 1_000, max: 1_020 }),
});

/** One emitter's receipts in its order: per fence, one after the other. */
const emitterScript = fc.array(fc.array(said, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });

/** What is left out has no key: JSON knows no undefined. */
function without<T extends object>(body: T): T {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as T;
}

function receiptOf(emitter: Emitter, body: Body, over: Parameters<Emitter['progress']>[1]): Receipt {
  switch (body.kind) {
    case 'progress': {
      const { kind: _, ...progress } = body;
      return emitter.progress(without(progress) as object, over);
    }
    case 'wait': {
      const { kind: _, ...wait } = body;
      return emitter.wait(without(waitBody(wait)), over);
    }
    case 'effect': {
      const { kind: _, told, ...effect } = body;
      const verdict =
        told === undefined
          ? {}
          : { by: 'destination' as const, ...(told === '' ? {} : { resultDigest: someDigest(told) }) };
      const verdicts = told === undefined ? {} : { verdict };
      return emitter.effect(without(effectBody({ ...effect, ...verdicts } as object)), over);
    }
    case 'deliverable': {
      const { kind: _, ...deliverable } = body;
      return emitter.deliverable(without(deliverableBody(deliverable as object)), over);
    }
  }
}

export interface ChainScript {
  readonly run: Identity;
  /** Per emitter, per fence, in order. */
  readonly emitters: readonly (readonly (readonly Receipt[])[])[];
}

/** Receipts of one chain on a given cluster: up to three emitters over two runs, up to three fences each. */
export const chainScript = (clusterId: string): fc.Arbitrary<ChainScript> =>
  fc.array(emitterScript, { minLength: 1, maxLength: 3 }).map((scripts) => {
    const first = someRun(clusterId);
    const second = { ...first, runId: someRun(clusterId).runId, runStartedAtMs: 2_000 };
    const emitters = scripts.map((fences, index) =>
      fences.map((says, fence) => {
        const emitter = new Emitter(index === 1 ? second : first, { emitter: `e${String(index)}`, fence: 100 + fence });
        return says.map(({ body, mission, occurredAtMs }) =>
          receiptOf(emitter, body, { missionFingerprint: mission, occurredAtMs }),
        );
      }),
    );
    return { run: first, emitters };
  });

/** The receipts in any order at all, some of them twice, cut into lists. */
export const delivery = (script: ChainScript): fc.Arbitrary<readonly (readonly Receipt[])[]> => {
  const all = script.emitters.flat(2);
  return fc
    .record({
      order: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
      again: fc.subarray(all),
      length: fc.integer({ min: 1, max: 8 }),
    })
    .map(({ order, again, length }) => cut([...order, ...again], length));
};

/** Receipts that carry the id of another one: whichever comes second is refused. */
export const withUsurpers = (script: ChainScript): fc.Arbitrary<ChainScript> => {
  const ids = script.emitters.flat(2).map(({ receiptId }) => receiptId);
  return fc.infiniteStream(fc.option(fc.constantFrom(...ids), { freq: 8 })).map((stolen) => {
    const next = stolen[Symbol.iterator]();
    const usurped = (receipt: Receipt): Receipt => {
      const { value } = next.next() as IteratorYieldResult<string | null>;
      return { ...receipt, receiptId: value ?? receipt.receiptId };
    };
    return { ...script, emitters: script.emitters.map((fences) => fences.map((said) => said.map(usurped))) };
  });
};

/** Any order in which no fence of an emitter begins before its last one ended: then nothing is late. */
export const orderlyDelivery = (script: ChainScript): fc.Arbitrary<readonly Receipt[]> =>
  fc
    .tuple(...script.emitters.map((fences) => fc.tuple(...fences.map((receipts) => shuffled(receipts)))))
    .chain((emitters) => {
      const queues = emitters.map((fences) => fences.flat());
      const turns = queues.flatMap((queue, index) => queue.map(() => index));
      return shuffled(turns).map((order) => {
        const taken = queues.map(() => 0);
        return order.map((index) => queues[index]![taken[index]!++]!);
      });
    });

const shuffled = <T>(items: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });

function cut<T>(items: readonly T[], length: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  );
}

/**
 * A row without the times at which a store took its receipts, and without the mission of the one taken first, which follows
 * from them: two stores may take two receipts in one millisecond or in two. Each row is held against its own fold besides.
 */
export function withoutTaking(row: ChainRow | null): unknown {
  if (row === null) return null;
  const { firstReceiptAtMs: _, lastReceiptAtMs: __, missionFingerprint: ____, ...rest } = row;
  const gaps = Object.entries(row.state.emitterGaps).map(([key, { sinceMs: ___, ...gap }]) => [key, gap]);
  return { ...rest, state: { ...row.state, emitterGaps: Object.fromEntries(gaps) as unknown } };
}
