/** Identities that come in by flags: refused when they cannot be one, before anything is asked. */
import { HealthError } from '../../receipts/errors.ts';
import { badIdentityAt } from '../../receipts/text.ts';

/** Temporal's own limit. */
const LONGEST = 1_000;

/** @throws HealthError INVALID_ID, which names the flag and never repeats the value. */
export function identity(flag: string): (text: string) => string {
  return (text) => {
    const refuse = (why: string): HealthError => new HealthError('INVALID_ID', `${flag} ${why}.`, { field: flag });
    if (text.trim() === '') throw refuse('is empty');
    if (text.length > LONGEST) throw refuse(`is longer than ${LONGEST} characters`);
    const at = badIdentityAt(text);
    if (at >= 0) throw refuse(`has a control character at position ${at}`);
    if (/(^|\/)\.\.(\/|$)/.test(text)) throw refuse('leads out of its path with `../`');
    return text;
  };
}
