/** Runs a contract's deterministic check where its activity says the result lies. */
import type {
  CheckFinding,
  CheckRequest,
  ContractDeliverable,
  DefinedContract,
  DeliverableCheck,
} from '../receipts/contract.ts';
import { HealthError } from '../receipts/errors.ts';

/** How long a check may take where the contract has no `verify` budget. */
const DEFAULT_VERIFY_MS = 60_000;
const DEFAULT_MINIMUM_BYTES = 1;

type Asked = Pick<CheckRequest, 'workflowId' | 'runId' | 'deliverable' | 'location'> & { readonly signal: AbortSignal };

/**
 * What is due and what was found. A check that breaks its promise and throws has read nothing.
 * @throws HealthError CONTRACT_UNKNOWN, DELIVERABLE_CHECK_REQUIRED
 */
export async function findResult(
  defined: DefinedContract | undefined,
  asked: Asked,
): Promise<{ readonly due: ContractDeliverable; readonly found: CheckFinding }> {
  const due = defined?.contract.deliverables[asked.deliverable];
  const check = defined?.checks[asked.deliverable];
  if (due === undefined) throw unknownDeliverable(asked.deliverable);
  if (check === undefined) {
    throw new HealthError(
      'DELIVERABLE_CHECK_REQUIRED',
      'The contract has no deterministic check for this deliverable.',
      {
        hint: 'Give the contract a check, or record a judgement with its confidence.',
      },
    );
  }
  const budget = AbortSignal.timeout(defined?.contract.budgets.verifyMs ?? DEFAULT_VERIFY_MS);
  const signal = AbortSignal.any([asked.signal, budget]);
  const request: CheckRequest = {
    ...asked,
    minimumBytes: due.minimumBytes ?? DEFAULT_MINIMUM_BYTES,
    options: check.options,
    signal,
  };
  return { due, found: await Promise.race([runGuarded(check, request), onceAborted(signal)]) };
}

async function runGuarded(check: DeliverableCheck, request: CheckRequest): Promise<CheckFinding> {
  try {
    return await check.run(request);
  } catch {
    return { result: 'unread', cause: 'check-threw' };
  }
}

function onceAborted(signal: AbortSignal): Promise<CheckFinding> {
  return new Promise((resolve) => {
    const stop = (): void => {
      resolve({ result: 'unread', cause: 'check-timed-out' });
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

export function unknownDeliverable(name: string): HealthError {
  return new HealthError('CONTRACT_UNKNOWN', `No contract of this worker names the deliverable ${name}.`, {
    hint: 'Declare it with defineContract and give the contract to HealthPlugin.',
  });
}
