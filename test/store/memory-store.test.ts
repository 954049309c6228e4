import { createMemoryStore } from '../../receipts/memory-store.ts';
import { describeStore } from './conformance.ts';

describeStore('the memory store', (clusterId) => createMemoryStore({ clusterId }));
