/** Where the agents of one worker read, write and may ask, from the environment. */
import { join, resolve } from 'node:path';
import { ALLOWED_HOSTS_VARIABLE, OUTPUT_ROOT_VARIABLE, splitList } from '../../receipts/checks/options.ts';

export interface AgentSettings {
  /** Documents by path lie below it; the folder the worker was started in where nothing is said. */
  readonly documentRoot: string;
  /** Reports are promised below it; `.temporal-health/output` of that folder where nothing is said. */
  readonly outputRoot: string;
  /** Internal hosts that may be asked, `host` or `host:port`; none where nothing is said. */
  readonly allowedHosts: readonly string[];
}

export function agentSettings(env: NodeJS.ProcessEnv, folder: string): AgentSettings {
  const stateDir = env['TEMPORAL_HEALTH_STATE_DIR'] || '.temporal-health';
  return {
    documentRoot: resolve(folder, env['TEMPORAL_HEALTH_DOCUMENT_ROOT'] || '.'),
    outputRoot: resolve(folder, env[OUTPUT_ROOT_VARIABLE] || join(stateDir, 'output')),
    allowedHosts: splitList(env[ALLOWED_HOSTS_VARIABLE]),
  };
}
