/**
 * The module that TEMPORAL_HEALTH_CONFIG names: contracts with the functions of their checks, and where a deliverable of a
 * run lies, so that a check can run here with no worker; and the thresholds to judge by, where the product's do not fit.
 *
 *   export const contracts = [sourceCheck];
 *   export const locate = ({ workflowId, deliverable }) => `/srv/reports/${workflowId}/${deliverable}.json`;
 *   export const policy = { milestoneFreshMs: 30 * 60_000 };
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DefinedContract, DeliverableCheck } from '../../receipts/contract.ts';
import { HealthError, isHealthError } from '../../receipts/errors.ts';
import { refusalOfIssues } from '../../receipts/parse.ts';
import { policySchema } from '../parse.ts';
import { DEFAULT_POLICY } from '../policy.ts';
import type { Policy } from '../policy.ts';

export const CONFIG_VARIABLE = 'TEMPORAL_HEALTH_CONFIG';

export interface LocateRequest {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly deliverable: string;
  readonly destination: string;
}

export interface ConfigModule {
  readonly contracts: readonly DefinedContract[];
  readonly checks: Readonly<Record<string, DeliverableCheck>>;
  /** The product's thresholds with the module's own in their place. */
  readonly policy: Policy;
  readonly locate: ((request: LocateRequest) => string | null | Promise<string | null>) | null;
}

type Loaded = Partial<Omit<ConfigModule, 'policy'>> & { readonly policy?: unknown };

/** @throws HealthError USAGE, with the field at fault. */
function policyOf(given: unknown): Policy {
  const own = (typeof given === 'object' && given !== null ? given : {}) as Partial<Policy>;
  const whole = {
    ...DEFAULT_POLICY,
    ...own,
    retry: { ...DEFAULT_POLICY.retry, ...own.retry },
    history: { ...DEFAULT_POLICY.history, ...own.history },
  };
  const parsed = policySchema.safeParse(whole);
  if (!parsed.success) throw refusalOfIssues(parsed.error.issues, whole, ['policy'], 'USAGE');
  return parsed.data;
}

/**
 * Null where the variable is not set.
 * @throws HealthError USAGE where the module cannot be loaded.
 */
export async function loadConfigModule(env: NodeJS.ProcessEnv): Promise<ConfigModule | null> {
  const path = env[CONFIG_VARIABLE] ?? '';
  if (path === '') return null;
  try {
    const loaded = (await import(pathToFileURL(resolve(path)).href)) as Loaded;
    return {
      contracts: Array.isArray(loaded.contracts) ? loaded.contracts : [],
      checks: typeof loaded.checks === 'object' ? loaded.checks : {},
      policy: policyOf(loaded.policy),
      locate: typeof loaded.locate === 'function' ? loaded.locate : null,
    };
  } catch (error) {
    if (isHealthError(error)) throw error;
    // Node's message goes on with who asked for the file, which is a place in this program.
    const said = error instanceof Error ? (error.message.split(' imported from ')[0] ?? '') : '';
    throw new HealthError('USAGE', `The module that ${CONFIG_VARIABLE} names cannot be loaded: ${said}`, {
      field: CONFIG_VARIABLE,
      hint: 'It exports `contracts`, and may export `checks`, `locate` and `policy`.',
      cause: error,
    });
  }
}
