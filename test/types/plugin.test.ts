/** What a user's editor is told: shapes of the public calls, and mistakes that must not compile. */
import { describe, expectTypeOf, it } from 'vitest';
import { receipts } from '../../activities/index.ts';
import type { Acknowledged, ActivityReceipts, ProgressAnswer } from '../../activities/index.ts';
import { HealthPlugin } from '../../activities/plugin.ts';
import { defineContract } from '../../receipts/contract.ts';
import type { CheckFinding, DefinedContract } from '../../receipts/contract.ts';
import type { HealthError } from '../../receipts/errors.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';
import type { openWait, recordProgress, recordWait } from '../../workflows/index.ts';

describe('defineContract', () => {
  it('takes lengths of time and closed sets, and gives the data with its checks', () => {
    const contract = defineContract({
      workflowType: 'w',
      milestones: { m: { fresh: '10m', activityTypes: ['a'] } },
      effects: { e: { due: 'once', class: 'keyed', window: 60_000 } },
      deliverables: { d: { destination: 'file', noDeterministicCheck: 'taste' } },
      budgets: { run: '2 days' },
    });
    expectTypeOf(contract).toEqualTypeOf<DefinedContract>();
    // @ts-expect-error not a way in which an effect can be due
    defineContract({ workflowType: 'w', effects: { e: { due: 'sometimes' } } });
    // @ts-expect-error not a class of destination
    defineContract({ workflowType: 'w', effects: { e: { class: 'magic' } } });
    // @ts-expect-error a deliverable has a destination
    const withoutDestination = () => defineContract({ workflowType: 'w', deliverables: { d: {} } });
    // @ts-expect-error not a length of time
    const withoutUnit = () => defineContract({ workflowType: 'w', milestones: { m: { fresh: '10 bananas' } } });
    expectTypeOf(withoutDestination).toBeFunction();
    expectTypeOf(withoutUnit).toBeFunction();
  });
});

describe('receipts()', () => {
  it('answers a note with a value and everything else when it is stored', () => {
    expectTypeOf(receipts).returns.toEqualTypeOf<ActivityReceipts>();
    expectTypeOf<ReturnType<ActivityReceipts['progress']>>().resolves.toEqualTypeOf<ProgressAnswer>();
    expectTypeOf<Extract<ProgressAnswer, { recorded: false }>['error']>().toEqualTypeOf<HealthError>();
    expectTypeOf<ReturnType<ActivityReceipts['wait']>>().resolves.toEqualTypeOf<Acknowledged>();
    expectTypeOf<ReturnType<ActivityReceipts['effect']>>().resolves.toEqualTypeOf<Acknowledged>();
    type Verified = ReturnType<ReturnType<ActivityReceipts['deliverable']>['verify']>;
    expectTypeOf<Verified>().resolves.toEqualTypeOf<CheckFinding & Acknowledged>();
  });

  it('takes a flat note and refuses content, half a wait and an effect without identity', () => {
    type Note = Parameters<ActivityReceipts['progress']>[1];
    expectTypeOf({ done: 12, of: 40, digest: 'd' }).toExtend<Note>();
    expectTypeOf({ ids: ['a'], note: 'n', expectBy: '10m' }).toExtend<Note>();
    // Receipts hold no content: there is no member for it.
    expectTypeOf<Note>().not.toHaveProperty('prompt');
    // @ts-expect-error nor may one be added
    const withContent: Note = { digest: 'd', prompt: 'text' };
    expectTypeOf(withContent).toExtend<Note>();
    type Wait = Parameters<ActivityReceipts['wait']>[0];
    expectTypeOf({ name: 'w', deadline: '1h', resumeToken: 't', resumeBy: 'signal' as const }).not.toExtend<Wait>();
    type Effect = Parameters<ActivityReceipts['effect']>[0];
    expectTypeOf({ name: 'e', state: 'attempted' as const }).not.toExtend<Effect>();
    expectTypeOf({ name: 'e', state: 'attempted' as const, key: 'k' }).toExtend<Effect>();
    expectTypeOf({ name: 'e', state: 'attempted' as const, operationId: 'o' }).toExtend<Effect>();
  });
});

describe('HealthPlugin', () => {
  it('asks for a store by the cluster it is on', () => {
    const plugin = new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) });
    expectTypeOf(plugin.name).toBeString();
    type Options = ConstructorParameters<typeof HealthPlugin>[0];
    expectTypeOf<Parameters<Options['store']>>().toEqualTypeOf<[clusterId: string]>();
    expectTypeOf({ contracts: [] }).not.toExtend<Options>();
  });
});

describe('workflow helpers', () => {
  it('give back how a wait ends, and a note never throws for the store', () => {
    type Opened = Awaited<ReturnType<typeof openWait>>;
    expectTypeOf<Opened['consumed']>().toEqualTypeOf<() => Promise<void>>();
    expectTypeOf<Opened['resumeToken']>().toBeString();
    expectTypeOf<Awaited<ReturnType<typeof recordProgress>>['recorded']>().toBeBoolean();
    expectTypeOf<Parameters<typeof recordWait>[0]['owner']>().toBeString();
  });
});
