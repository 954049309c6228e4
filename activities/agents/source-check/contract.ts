import { fileDigest } from '../../../receipts/checks/index.ts';
import { defineContract } from '../../../receipts/contract.ts';
import { SOURCE_CHECK } from '../../../workflows/agents/source-check-messages.ts';
import { SOURCE_LINKS_COUNTER } from './recount.ts';

export const SOURCES_CHECKED = 'sources-checked';
export const REPORT = 'report';

/** What a source check owes: sources checked within ten minutes of each other, and a report that covers them all. */
export const sourceCheckContract = defineContract({
  workflowType: SOURCE_CHECK,
  milestones: { [SOURCES_CHECKED]: { fresh: '10m' } },
  // It reads and changes nothing: no effect is due, and none may be open.
  effects: {},
  deliverables: {
    [REPORT]: {
      destination: 'file',
      check: fileDigest({ coverage: true, counter: SOURCE_LINKS_COUNTER }),
      coverage: true,
    },
  },
  budgets: { run: '2h', attempts: 5, reconcile: '2m', verify: '1m' },
});
