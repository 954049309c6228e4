/** `temporal-health/workflow`: what workflow code may call. Runs in Temporal's sandbox. */
export { openWait, recordProgress, recordWait } from './receipts.ts';
export type { OpenWait, WaitRequest, WorkflowProgressAnswer } from './receipts.ts';
