/** `temporal-health/activity`: what activity code may call. */
export { receipts } from './recorder.ts';
export type {
  Acknowledged,
  ActivityReceipts,
  DeliverableJudgement,
  DeliverableReceipts,
  EffectStatement,
  ProgressAnswer,
  ProgressNote,
  ReachedMilestone,
} from './recorder.ts';
