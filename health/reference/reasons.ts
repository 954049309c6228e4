/** Every reason's text. A reason without one, or a text without a reason, does not compile. */
import type { Reason } from '../verdict.ts';
import { FALSE_SUCCESS_TEXTS } from './reasons-false-success.ts';
import { WAITING_TEXTS, WORKING_TEXTS } from './reasons-open.ts';
import { STUCK_TEXTS } from './reasons-stuck.ts';
import { UNCERTAIN_TEXTS } from './reasons-uncertain.ts';
import { HEALTHY_TEXTS, WITHOUT_VERDICT_TEXTS } from './reasons-without-verdict.ts';
import type { ReasonText } from './texts.ts';

export const REASON_TEXTS: Readonly<Record<Reason, ReasonText>> = {
  ...WITHOUT_VERDICT_TEXTS,
  ...UNCERTAIN_TEXTS,
  ...FALSE_SUCCESS_TEXTS,
  ...HEALTHY_TEXTS,
  ...STUCK_TEXTS,
  ...WAITING_TEXTS,
  ...WORKING_TEXTS,
};
