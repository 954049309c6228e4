/**
 * The module that TEMPORAL_HEALTH_CONFIG names: contracts with the functions of their checks, and where a deliverable of a
 * run lies, so that a check can run here with no worker.
 *
 *   export const contracts = [sourceCheck];
 *   export const locate = ({ workflowId, deliverable }) => `/srv/reports/${workflowId}/${deliverable}.json`;
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DefinedContract, DeliverableCheck } from '../../receipts/contract.ts';
import { HealthError } from '../../receipts/errors.ts';

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
  readonly locate: ((request: LocateRequest) => string | null | Promise<string | null>) | null;
}

/**
 * Null where the variable is not set.
 * @throws HealthError USAGE where the module cannot be loaded.
 */
export async function loadConfigModule(env: NodeJS.ProcessEnv): Promise<ConfigModule | null> {
  const path = env[CONFIG_VARIABLE] ?? '';
  if (path === '') return null;
  try {
    const loaded = (await import(pathToFileURL(resolve(path)).href)) as Partial<ConfigModule>;
    return {
      contracts: Array.isArray(loaded.contracts) ? loaded.contracts : [],
      checks: typeof loaded.checks === 'object' ? loaded.checks : {},
      locate: typeof loaded.locate === 'function' ? loaded.locate : null,
    };
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    throw new HealthError('USAGE', `The module that ${CONFIG_VARIABLE} names cannot be loaded: ${said}`, {
      field: CONFIG_VARIABLE,
      hint: 'It exports `contracts`, and may export `checks` and `locate`.',
      cause: error,
    });
  }
}
