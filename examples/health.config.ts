/**
 * What `temporal health` needs to run a due check by itself, when the worker that should have run it did not:
 *
 *     TEMPORAL_HEALTH_CONFIG=examples/health.config.ts temporal health explain -w ID
 *
 * It names the contracts with their checks, registers the counters that they count with, and says where each result lies.
 * Documents and reports are looked for where the worker has them: TEMPORAL_HEALTH_DOCUMENT_ROOT, TEMPORAL_HEALTH_OUTPUT_ROOT.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentSettings } from '../activities/agents/settings.ts';
import { sixCasesContracts } from '../activities/agents/six-cases/contracts.ts';
import { sourceCheckContract } from '../activities/agents/source-check/contract.ts';
import { fileNameOf, placeOf } from '../activities/agents/source-check/place.ts';
import { registerSourceLinksCounter } from '../activities/agents/source-check/recount.ts';

interface Asked {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly deliverable: string;
}

const settings = agentSettings(process.env, fileURLToPath(new URL('../', import.meta.url)));
// The check of coverage looks below the root that the process names.
process.env['TEMPORAL_HEALTH_OUTPUT_ROOT'] = settings.outputRoot;
registerSourceLinksCounter(settings);

export const contracts = [sourceCheckContract, ...sixCasesContracts];

export const locate = ({ workflowType, workflowId, runId, deliverable }: Asked): string =>
  workflowType === 'sourceCheck'
    ? placeOf(settings.outputRoot, { workflowId, runId }).json
    : join(settings.outputRoot, `${fileNameOf(workflowId)}.${deliverable}.json`);
