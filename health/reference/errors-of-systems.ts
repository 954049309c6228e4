/** The texts of codes about the store, Temporal, the command and the worker. */
import type { ErrorCode } from '../../receipts/errors.ts';
import type { REFUSAL_TEXTS } from './errors-of-receipts.ts';
import type { ErrorText } from './texts.ts';

const READ_ONLY = 'Nothing was stored or changed: the command only reads.';

export const SYSTEM_TEXTS: Readonly<Record<Exclude<ErrorCode, keyof typeof REFUSAL_TEXTS>, ErrorText>> = {
  RUN_NOT_IN_MISSION: {
    happened: 'The workflow exists, and no run of the id that was given is one of its runs.',
    remedy: 'Take the run id that the hint names, or leave `--run-id` out: then the newest run is meant.',
    stored: READ_ONLY,
    borders: ['command'],
  },
  CLUSTER_MISMATCH: {
    happened: 'The store was opened for another Temporal cluster than the receipt or the worker is of.',
    remedy: 'Open the store with the cluster id that the plugin gives, one store for each cluster.',
    stored: 'Nothing. Two clusters with a namespace of the same name never mix in one store.',
    borders: ['worker', 'store', 'command'],
  },
  EVIDENCE_INVALID: {
    happened:
      'An evidence document cannot be judged: a field is wrong or unknown, something is there twice, or the file cannot be read. Also where Temporal answers with something this version does not know.',
    remedy:
      'Correct the field that is named, or let `explain -w ID --export` write the document. For an answer of Temporal, update temporal-health.',
    stored: READ_ONLY,
    borders: ['command'],
  },
  STORE_UNAVAILABLE: {
    happened: 'Postgres cannot be reached, does not answer in time, or refuses for now.',
    remedy: 'Check that Postgres runs, its address and its free connections. Receipts are sent again by themselves.',
    stored:
      'Not known for the receipt under way: it is sent again under its own id and stored once. For an effect in state `attempted` do not call the destination: nothing was called yet. An activity keeps its result while it tries.',
    borders: ['activity', 'workflow', 'worker', 'store', 'command'],
  },
  STORE_FULL: {
    happened: 'The disk of Postgres is full (SQL state 53100).',
    remedy: 'Free space. Postgres may need to be started again.',
    stored: 'The receipt under way was not stored and is sent again. Nothing that was acknowledged is lost.',
    borders: ['activity', 'worker', 'store', 'command'],
  },
  STORE_SETTINGS: {
    happened:
      'Postgres runs with `fsync`, `full_page_writes` or `synchronous_commit` off: it may lose what it has acknowledged.',
    remedy: 'Turn the setting on, or open the store with unsafe settings allowed if its receipts may be lost.',
    stored: 'Nothing. The worker does not start.',
    borders: ['worker', 'store', 'command'],
  },
  SCHEMA_VERSION: {
    happened:
      'The schema `temporal_health` is missing, older or newer than this version, was changed after its release, or Postgres is older than 14.',
    remedy:
      'Missing or older: run `temporal-health migrate`. Newer: use the temporal-health that migrated it, or a later one.',
    stored: 'Nothing. The schema was not touched.',
    borders: ['worker', 'store', 'command'],
  },
  CONFIG_MISSING: {
    happened:
      'A setting is missing or cannot be used, most often the address of the Postgres database; or that server has no such database.',
    remedy: 'Set `TEMPORAL_HEALTH_DATABASE_URL` to an address such as `postgres://user@host:5432/database`.',
    stored: 'Nothing was done.',
    borders: ['worker', 'store', 'command'],
  },
  DB_UNREACHABLE: {
    happened: 'A command was given a Postgres address and cannot reach or use it.',
    remedy: 'Check that Postgres runs and that its address is right. `temporal-health doctor` shows each step.',
    stored:
      'Nothing was changed. What could be read without the store stands on stdout, and each run says what is missing.',
    borders: ['command'],
  },
  TEMPORAL_UNREACHABLE: {
    happened: 'Temporal does not answer, or stopped answering, or has no cluster id.',
    remedy:
      'Check `--address`, `--profile` and `TEMPORAL_ADDRESS`, and that the server is up. A worker is to be started again when it is.',
    stored: 'Nothing was changed. What the store knows stands on stdout, and each run says what is missing.',
    borders: ['worker', 'command'],
  },
  NOT_FOUND: {
    happened:
      'Neither Temporal nor the store knows what was asked for; or a file, a schema or a namespace of that name is not there.',
    remedy:
      'Check workflow id, namespace (`-n`), profile and spelling. A run past its retention is gone from Temporal.',
    stored: `${READ_ONLY} Not found is no proof that a run never ran.`,
    borders: ['command'],
  },
  NOT_ALLOWED: {
    happened: 'Temporal does not allow it; or Postgres refuses the login, or its role lacks a right.',
    remedy:
      'Temporal: check `--api-key`, the client certificate and the namespace. Postgres: check the user and password of `TEMPORAL_HEALTH_DATABASE_URL`, and what the role may do in the schema `temporal_health`.',
    stored: 'Nothing was stored or changed. A worker that is running keeps its receipts and tries again.',
    borders: ['worker', 'store', 'command'],
  },
  INVALID_ID: {
    happened:
      'An id on the command line is empty, longer than 1000 characters, holds a control character or `../`, or is no run id. The value is not repeated.',
    remedy: 'Give the id as Temporal shows it. A workflow id goes to `--workflow-id`, a run id to `--run-id`.',
    stored: 'Nothing was asked.',
    borders: ['command'],
  },
  INVALID_TIME: {
    happened: 'A time on the command line has no zone, cannot be read, or lies ahead where only the past can be asked.',
    remedy: 'Give a time with its zone, for example `2026-06-01T12:00:00Z`.',
    stored: 'Nothing was asked.',
    borders: ['command'],
  },
  USAGE: {
    happened:
      'The command, a flag, a configuration or a filter cannot be understood; or Temporal refused the request as malformed.',
    remedy: 'Read the hint, or `temporal-health help COMMAND`.',
    stored: 'Nothing was done.',
    borders: ['command'],
  },
  LIMIT_REQUIRED: {
    happened: 'More was asked for at once than the command reads.',
    remedy: 'Narrow it with `--query` or `--type`, or read everything as `-o jsonl`, which is a stream.',
    stored: 'Nothing was asked.',
    borders: ['command'],
  },
  NODE_VERSION: {
    happened: 'Node is older than 20.19.',
    remedy: 'Install a newer Node.',
    stored: 'Nothing was loaded.',
    borders: ['command'],
  },
  NO_ACTIVITY_CONTEXT: {
    happened:
      '`receipts()` was called outside an activity of a worker with the plugin, or after the attempt had ended.',
    remedy:
      'Call it at the beginning of the activity, before callbacks are registered, and await everything the activity starts.',
    stored: 'Nothing was stored.',
    borders: ['activity'],
  },
  PLUGIN_TWICE: {
    happened: 'Two different HealthPlugins were given to one worker: receipts would double.',
    remedy: 'Give one plugin, to the worker or to its connection.',
    stored: 'Nothing. The worker does not start.',
    borders: ['worker'],
  },
  PLUGIN_MISSING: {
    happened:
      'The plugin is on one side only: a prebuilt workflow bundle without it, or an activity whose workflow ran without it and whose chain cannot be told.',
    remedy: 'Give HealthPlugin to the worker, and to `bundleWorkflowCode` where the bundle is prebuilt.',
    stored: 'Nothing was stored: a receipt without its chain would speak for nobody.',
    borders: ['activity', 'workflow', 'worker'],
  },
  WORK_DONE_UNRECORDED: {
    happened: 'The work of an activity was done, and its receipts could not be stored while the attempt had time.',
    remedy:
      'Bring the store back. Nothing else is to be done if the activity finds its effects again under their operation ids.',
    stored:
      'The work is done. Its receipts are kept by the worker and sent when the store is back; if the worker ends before, they are lost and the run shows what is missing.',
    borders: ['activity'],
  },
  INPUT_INVALID: {
    happened:
      'The input of an example workflow cannot be used, or a cursor is not one that a page gave. `field` names it.',
    remedy: 'Correct the input and start the workflow again.',
    stored: 'Nothing was done for the input.',
    borders: ['agent', 'store'],
  },
  SOURCE_NOT_ALLOWED: {
    happened:
      'The document of a sourceCheck lies outside of the document root, or at an address that may not be asked.',
    remedy: 'Put the document below the document root, or take an address that the worker may reach.',
    stored: 'Nothing was read.',
    borders: ['agent'],
  },
  OUTPUT_UNWRITABLE: {
    happened: 'What the command had to say could not be written, as on a full disk: the output is not whole.',
    remedy: 'Make room, or send the output elsewhere, and run the command again.',
    stored: 'Whatever the command had stored by then; `report` stores nothing.',
    borders: ['command'],
  },
  INTERNAL: {
    happened: 'A fault of temporal-health itself.',
    remedy: 'Report the message with the command, its version and the evidence document if there is one.',
    stored: 'Not known. The command writes to no run; `migrate` works in transactions.',
    borders: ['command'],
  },
};
