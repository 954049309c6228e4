/** Identities that come in by flags: refused when they cannot be one, before anything is asked. */
import { Option } from '@commander-js/extra-typings';
import { HealthError } from '../../receipts/errors.ts';
import { badIdentityAt } from '../../receipts/text.ts';

/** Temporal's own limit. */
const LONGEST = 1_000;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Temporal makes run ids by itself, always as UUIDs. @throws HealthError INVALID_ID */
export function runIdentity(flag: string): (text: string) => string {
  const known = identity(flag);
  return (text) => {
    if (UUID.test(known(text))) return text;
    throw new HealthError('INVALID_ID', `${flag} is no run id: those look like 01234567-89ab-cdef-0123-456789abcdef.`, {
      field: flag,
      hint: 'A workflow id goes to --workflow-id; without --run-id its newest run is meant.',
    });
  };
}

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

/** `-w`: which workflow. */
export function workflowIdOption() {
  return new Option('-w, --workflow-id <id>', 'workflow id').argParser(identity('--workflow-id')).makeOptionMandatory();
}

/** `-r`: which of its runs. */
export function runIdOption(says = 'run id; the newest run without it') {
  return new Option('-r, --run-id <id>', says).argParser(runIdentity('--run-id'));
}
