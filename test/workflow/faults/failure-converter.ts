/** Puts the texts of failures where a codec reaches them, as users of a codec do. */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
