/** The workflows of the reference worker (`worker.ts`). */
export { sourceCheck } from './source-check.ts';
export {
  falseSuccessAgent,
  healthyAgent,
  stuckAgent,
  uncertainAgent,
  waitingAgent,
  workingAgent,
} from './six-cases.ts';
