/** The texts of codes that refuse a receipt or a contract. */
import type { ErrorCode } from '../../receipts/errors.ts';
import type { ErrorText } from './texts.ts';

/** What a refused receipt leaves behind, in each of the ways that one can be recorded. */
const NOT_STORED =
  'The receipt was not stored, and it took no number of its sequence. The activity goes on after a refused `progress` (the refusal is its return value and a line of the log). `wait`, `effect` and `deliverable` throw.';
const NOT_STORED_OR_PLACE = `${NOT_STORED} Where Postgres itself refused it, its place in the sequence is kept, so that it is no hole.`;

type Refusal =
  | Extract<ErrorCode, `RECEIPT_${string}` | `WAIT_${string}` | `DELIVERABLE_${string}` | `CONTRACT_${string}`>
  | 'EFFECT_VERDICT_REQUIRED'
  | 'OP_INTENT_MISMATCH'
  | 'BODY_NOT_JSON';

export const REFUSAL_TEXTS: Readonly<Record<Refusal, ErrorText>> = {
  RECEIPT_INVALID: {
    happened:
      'A field of a receipt is missing, is not what it must be, or breaks a rule of its kind. `field` names it.',
    remedy: 'Give the field as the page of the receipt says.',
    stored: NOT_STORED_OR_PLACE,
    borders: ['activity', 'workflow', 'store'],
  },
  RECEIPT_UNKNOWN_FIELD: {
    happened: 'A receipt has a field that receipts do not have.',
    remedy:
      'Leave the field out. Receipts have a fixed list of fields and hold no content: store content elsewhere and give its digest.',
    stored: NOT_STORED,
    borders: ['activity', 'workflow'],
  },
  RECEIPT_TOO_LARGE: {
    happened:
      "A receipt's body is more than 8192 bytes as JSON. `explain --at` also gives it for a chain of more than 200,000 receipts.",
    remedy: 'Give counts and digests instead of content, and at most 64 ids.',
    stored: NOT_STORED_OR_PLACE,
    borders: ['activity', 'workflow', 'store', 'command'],
  },
  RECEIPT_TOO_DEEP: {
    happened: 'A receipt nests deeper than 4 levels or has more than 64 keys.',
    remedy: 'Make it flat: receipts state one thing each.',
    stored: NOT_STORED,
    borders: ['activity', 'workflow'],
  },
  RECEIPT_NUMBER: {
    happened: 'A number is NaN, infinite, minus zero, or too large for the store.',
    remedy: 'Give a finite number. Leave the field out where the number is not known.',
    stored: NOT_STORED_OR_PLACE,
    borders: ['activity', 'workflow', 'store'],
  },
  RECEIPT_NOT_MONOTONE: {
    happened: '`delta.done` is less than this attempt has already reported for the milestone and unit.',
    remedy:
      "Report what is done in all. Where it truly fell, say why: `reset: 'source-replaced'`. A new attempt may start from less.",
    stored: NOT_STORED,
    borders: ['activity'],
  },
  RECEIPT_TEXT: {
    happened:
      'An identity holds a control character, half a surrogate pair or a bidirectional mark; or Postgres cannot keep a text.',
    remedy:
      'Take the character out where the identity is made. `position` counts from 0. In notes and other labels such characters are replaced and the receipt is marked `sanitised`.',
    stored: NOT_STORED_OR_PLACE,
    borders: ['activity', 'workflow', 'store'],
  },
  RECEIPT_SECRET: {
    happened: 'A value looks like a credential. The message names the rule and the field and never the value.',
    remedy:
      'Leave it out, or give its digest if equality matters. If it was a real credential, see where else it went.',
    stored: NOT_STORED,
    borders: ['activity', 'workflow'],
  },
  RECEIPT_ID_CONFLICT: {
    happened: 'The store has this receipt id with another body.',
    remedy: 'Give every receipt a new id. Send an id again only with the same body.',
    stored: 'The first body stays. The second was not stored; its place in the sequence is kept.',
    borders: ['activity', 'workflow', 'store'],
  },
  BODY_NOT_JSON: {
    happened:
      'What should be JSON is not: bad syntax, a key twice, a byte order mark, or not UTF-8. `position` says where.',
    remedy: 'Write one JSON value as UTF-8, each key once. `explain --export` writes such a document.',
    stored: 'Nothing was stored or judged.',
    borders: ['command', 'store'],
  },
  WAIT_INCOMPLETE: {
    happened: 'A wait lacks owner, deadline or resume token, or has a blank one. `field` names what is missing.',
    remedy: 'Say who must act (`owner`), until when (`deadline`) and what resumes this same work (`resumeToken`).',
    stored: NOT_STORED,
    borders: ['activity', 'workflow'],
  },
  WAIT_DEADLINE: {
    happened: 'The deadline of a wait cannot be read, is not ahead of now, or is more than 90 days ahead.',
    remedy: 'Give a moment by which somebody must have acted, with its zone. Renew the wait when it is reached.',
    stored: NOT_STORED,
    borders: ['activity', 'workflow'],
  },
  EFFECT_VERDICT_REQUIRED: {
    happened: 'An effect is said to be `verified`, or `none`, and nobody is named who said so.',
    remedy: 'Ask the destination and give its `verdict`. Where it cannot be asked the state is `unknown`.',
    stored: `${NOT_STORED} The effect itself may have happened: it stays \`attempted\`.`,
    borders: ['activity'],
  },
  OP_INTENT_MISMATCH: {
    happened: 'Reserved: the same operation id with another input digest. Nothing gives this code in this version.',
    remedy: 'Make the operation id from the business key, and check that the input is the same.',
    stored: 'Nothing.',
    borders: [],
  },
  DELIVERABLE_DIGEST: {
    happened:
      "A deliverable's digest is not `sha256:` and 64 hexadecimal digits, or a pass of a check that digests has none.",
    remedy: 'Digest the bytes at the destination with SHA-256. MD5 and shortened digests are not taken.',
    stored: NOT_STORED,
    borders: ['activity'],
  },
  DELIVERABLE_CHECK_REQUIRED: {
    happened:
      'A deliverable was recorded without a check that the contract names, by a judgement although it has a check, or by a judgement without confidence.',
    remedy:
      'Call `verify` where the contract has a check. Where it has none, record a judgement with its confidence from 0 to 1.',
    stored: NOT_STORED,
    borders: ['activity'],
  },
  DELIVERABLE_STALE: {
    happened: 'The result was made for another mission, or another revision, than the one in force.',
    remedy: 'Make and check the result again for what is in force now.',
    stored: NOT_STORED,
    borders: ['activity'],
  },
  CONTRACT_INVALID: {
    happened:
      'A contract cannot be taken: no workflow type, a deliverable with neither check nor reason (or with both), a duration that is none, an option that its check does not know, a check under a name that stands for judgements. `field` names it.',
    remedy: 'Correct the field. Durations are milliseconds or text such as `10m`.',
    stored: 'The contract was not registered. A worker with it does not start.',
    borders: ['contract', 'worker', 'command'],
  },
  CONTRACT_UNKNOWN: {
    happened: "An activity named a deliverable that no contract of its worker has for this workflow's type.",
    remedy: 'Declare it with `defineContract` and give the contract to `HealthPlugin`, or correct the name.',
    stored: 'Nothing was checked and nothing stored.',
    borders: ['activity'],
  },
};
