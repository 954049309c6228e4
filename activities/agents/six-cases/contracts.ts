/** What each of the six agents owes. Freshness is short where the demonstration is to show its lack within seconds. */
import { fileDigest } from '../../../receipts/checks/index.ts';
import { defineContract } from '../../../receipts/contract.ts';

const report = { report: { destination: 'file', check: fileDigest() } };

export const PAYMENT = 'payment';
export const REGISTRATION = 'registration';

export const sixCasesContracts = [
  defineContract({
    workflowType: 'workingAgent',
    milestones: { 'paragraph-written': { fresh: '1m' } },
    deliverables: { draft: { destination: 'file', check: fileDigest() } },
  }),
  defineContract({
    workflowType: 'waitingAgent',
    milestones: { 'request-prepared': { fresh: '1m' } },
    deliverables: { decision: { destination: 'file', check: fileDigest() } },
  }),
  defineContract({
    workflowType: 'stuckAgent',
    milestones: { 'sources-found': { fresh: '6s' } },
    deliverables: report,
  }),
  defineContract({
    workflowType: 'uncertainAgent',
    milestones: { 'invoice-read': { fresh: '1m' } },
    effects: { [PAYMENT]: { due: 'once', class: 'observable', window: '5s', owner: 'payments@example.org' } },
  }),
  defineContract({
    workflowType: 'falseSuccessAgent',
    milestones: { 'sources-checked': { fresh: '1m' } },
    deliverables: report,
  }),
  defineContract({
    workflowType: 'healthyAgent',
    milestones: { 'sources-checked': { fresh: '1m' } },
    effects: { [REGISTRATION]: { due: 'once', class: 'keyed', window: '30s', owner: 'archive@example.org' } },
    deliverables: report,
  }),
];
