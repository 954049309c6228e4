/** Every error code's text. A code without one, or a text without a code, does not compile. */
import type { ErrorCode } from '../../receipts/errors.ts';
import { REFUSAL_TEXTS } from './errors-of-receipts.ts';
import { SYSTEM_TEXTS } from './errors-of-systems.ts';
import type { ErrorText } from './texts.ts';

export const ERROR_TEXTS: Readonly<Record<ErrorCode, ErrorText>> = { ...REFUSAL_TEXTS, ...SYSTEM_TEXTS };
