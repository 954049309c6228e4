/**
 * The few raw questions that gathering asks of Temporal, behind an interface that tests and other transports can stand in
 * for. Each has a deadline, none needs a worker, and every failure leaves here as an error of ours with a stable code.
 */
import type { ConnectionLike } from '@temporalio/client';
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import type { RunReference } from '../../receipts/store.ts';
import type { CloseEvent, Description, TaskQueueState } from '../evidence.ts';
import { closeEventOf, describedRun, listedRun, taskQueueState } from '../temporal.ts';
import type { DescribedRun, ListedRun, TaskQueueQuestion } from '../temporal.ts';

export interface ListedPage {
  readonly runs: readonly ListedRun[];
  /** Give it back to read on; null at the end. */
  readonly token: Uint8Array | null;
}

export interface TemporalReader {
  /** GetClusterInfo: part of the key of everything that is stored. */
  clusterId(): Promise<string>;
  /** Null where Temporal has no such run. */
  describe(run: RunReference): Promise<DescribedRun | null>;
  closeEvent(run: Required<RunReference>, description: Description): Promise<CloseEvent | null>;
  /** True where the run was started by a cron schedule: it is a chain of its own, and Describe does not say so. */
  isCronRun(run: Required<RunReference>): Promise<boolean>;
  taskQueue(namespace: string, question: TaskQueueQuestion): Promise<TaskQueueState>;
  list(namespace: string, query: string, pageSize: number, token: Uint8Array | null): Promise<ListedPage>;
  count(namespace: string, query: string): Promise<number>;
}

// The few status codes that call for an answer of their own (grpc/grpc `status_code_enum`).
const GRPC_INVALID_ARGUMENT = 3;
const GRPC_NOT_FOUND = 5;
const GRPC_PERMISSION_DENIED = 7;
const GRPC_UNAUTHENTICATED = 16;

/** The numbers of `TaskQueueType`. */
const TASK_QUEUE_TYPES: Readonly<Record<TaskQueueQuestion['kind'], number>> = { workflow: 1, activity: 2 };
/** A missing namespace has the same status as a missing run, and is a mistake of the caller's instead of an answer. */
const NAMESPACE_MISSING = /: Namespace \S+ (is )?not found/i;
/** A canceled run's close event does not say who asked: the request stands shortly before it. */
const CANCEL_LOOKBACK_EVENTS = 20;

function grpcStatus(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : undefined;
}

/** The same failure with a code of ours. What the server said about our request is shown, what it was about is not. */
export function temporalError(error: unknown, address: string): HealthError {
  if (isHealthError(error)) return error;
  const details = (error as { details?: unknown } | null)?.details;
  const said = typeof details === 'string' && details !== '' ? details : error instanceof Error ? error.message : '';
  switch (grpcStatus(error)) {
    case GRPC_NOT_FOUND:
      return new HealthError('NOT_FOUND', `Temporal at ${address} has no such thing: ${said}.`, { cause: error });
    case GRPC_PERMISSION_DENIED:
    case GRPC_UNAUTHENTICATED:
      return new HealthError('NOT_ALLOWED', `Temporal at ${address} does not allow this: ${said}.`, {
        hint: 'Check --api-key, the client certificate and the namespace.',
        cause: error,
      });
    case GRPC_INVALID_ARGUMENT:
      return new HealthError('USAGE', `Temporal at ${address} refused the request: ${said}.`, { cause: error });
    default:
      return new HealthError('TEMPORAL_UNREACHABLE', `Temporal at ${address} did not answer: ${said}.`, {
        hint: 'Check --address, --profile and TEMPORAL_ADDRESS, and that the server is up.',
        cause: error,
      });
  }
}

export interface ReaderOptions {
  readonly connection: ConnectionLike;
  /** For error messages. */
  readonly address: string;
  /** Longest time of one call. */
  readonly deadlineMs: number;
}

export function temporalReader(options: ReaderOptions): TemporalReader {
  const service = options.connection.workflowService;
  const ask = <T>(question: () => Promise<T>): Promise<T> => bounded(options, question);
  return {
    async clusterId() {
      const info = await ask(() => service.getClusterInfo({}));
      return info.clusterId;
    },
    async describe(run) {
      const { namespace } = run;
      const raw = await orNull(ask(() => service.describeWorkflowExecution({ namespace, execution: execution(run) })));
      return raw === null ? null : describedRun(raw);
    },
    async closeEvent(run, description) {
      const maximumPageSize = description.status === 'CANCELED' ? CANCEL_LOOKBACK_EVENTS : 1;
      const { namespace } = run;
      const raw = await ask(() =>
        service.getWorkflowExecutionHistoryReverse({ namespace, execution: execution(run), maximumPageSize }),
      );
      return closeEventOf(raw.history?.events ?? [], description);
    },
    async isCronRun(run) {
      const { namespace } = run;
      const raw = await ask(() =>
        service.getWorkflowExecutionHistory({ namespace, execution: execution(run), maximumPageSize: 1 }),
      );
      const started = raw.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
      return (started?.cronSchedule ?? '') !== '';
    },
    async taskQueue(namespace, question) {
      const taskQueueType = TASK_QUEUE_TYPES[question.kind];
      const taskQueue = { name: question.name };
      const raw = await ask(() =>
        // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the runtime enum would load the whole protocol
        service.describeTaskQueue({ namespace, taskQueue, taskQueueType, reportStats: true, reportPollers: true }),
      );
      return taskQueueState(question, raw);
    },
    async list(namespace, query, pageSize, token) {
      const raw = await ask(() =>
        service.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken: token ?? new Uint8Array() }),
      );
      const runs = raw.executions.map(listedRun).filter((run) => run !== null);
      return { runs, token: raw.nextPageToken.length > 0 ? raw.nextPageToken : null };
    },
    async count(namespace, query) {
      const raw = await ask(() => service.countWorkflowExecutions({ namespace, query }));
      return Number(raw.count);
    },
  };
}

async function bounded<T>({ connection, address, deadlineMs }: ReaderOptions, question: () => Promise<T>): Promise<T> {
  try {
    return await connection.withDeadline(Date.now() + deadlineMs, question);
  } catch (error) {
    throw temporalError(error, address);
  }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isHealthError(error) && error.code === 'NOT_FOUND' && !NAMESPACE_MISSING.test(error.message)) return null;
    throw error;
  }
}

function execution(run: RunReference): { workflowId: string; runId: string } {
  return { workflowId: run.workflowId, runId: run.runId ?? '' };
}
