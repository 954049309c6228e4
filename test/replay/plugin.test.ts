/**
 * Adding the plugin breaks no open run (R17): histories recorded without it replay with it. A change of this code breaks none
 * either: histories of the reference workflows, recorded with the plugin, replay.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { HealthPlugin } from '../../activities/plugin.ts';
import { createMemoryStore } from '../../receipts/memory-store.ts';

const folder = new URL('./histories/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

const plugin = new HealthPlugin({ store: (clusterId) => createMemoryStore({ clusterId }) });
const agents = new URL('./histories/agents/', import.meta.url);
const agentFiles = readdirSync(agents);
let workflowBundle: WorkflowBundle;
let agentsBundle: WorkflowBundle;

/** Of the SDK's own dependencies, not of ours. */
const protoJson = 'protobufjs/ext/protojson';

interface ProtoRoot {
  readonly patchProtobufRoot: (root: unknown) => { lookupType(name: string): unknown };
}
interface ProtoJson {
  readonly fromJson: (type: unknown, value: unknown, options: object) => object;
}

/** As `historyFromJSON`, by the one copy of protobufjs that `@temporalio/proto` itself uses: npm may install several. */
function historyOf(text: string): object {
  const require = createRequire(createRequire(import.meta.url).resolve('@temporalio/proto'));
  const { patchProtobufRoot } = require('@temporalio/proto/lib/patch-protobuf-root') as ProtoRoot;
  const type = patchProtobufRoot(require('@temporalio/proto')).lookupType('temporal.api.history.v1.History');
  const { fromJson } = require(protoJson) as ProtoJson;
  return fromJson(type, JSON.parse(text), { ignoreUnknownFields: true });
}

const read = (file: string, from = folder): string => readFileSync(new URL(file, from), 'utf8');

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const bundle = (code: URL): Promise<WorkflowBundle> =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(code),
      plugins: [plugin],
      logger: new DefaultLogger('ERROR'),
    });
  workflowBundle = await bundle(new URL('./workflows.ts', import.meta.url));
  agentsBundle = await bundle(new URL('../../workflows/agents/index.ts', import.meta.url));
});

async function replay(history: unknown, file: string, code = workflowBundle): Promise<void> {
  const workflowId = `replay-${file.replace(/(-\d+)?\.json$/, '')}`;
  await Worker.runReplayHistory({ workflowBundle: code, plugins: [plugin] }, history, workflowId);
}

describe('histories recorded without the plugin', () => {
  it.each(files)('%s replays with it', async (file) => {
    await replay(historyOf(read(file)), file);
  });

  it('are there: activities, timers, children, patches, continue-as-new, updates, cancellation, an open run', () => {
    expect(files.length).toBeGreaterThanOrEqual(8);
  });

  it('would not replay if a step of the run were another one', async () => {
    const text = read('parallelAndPatched.json').replaceAll('"work"', '"other"');
    await expect(replay(historyOf(text), 'parallelAndPatched.json')).rejects.toMatchObject({
      name: 'DeterminismViolationError',
    });
  });
});

describe('histories of the reference workflows, with receipts and waits of their own', () => {
  it.each(agentFiles)('%s replays', async (file) => {
    await replay(historyOf(read(file, agents)), file, agentsBundle);
  });

  it('are there: done ones, one in its work, one that waits, and the same when it was answered', () => {
    expect(agentFiles.length).toBeGreaterThanOrEqual(5);
  });

  it.each(['keepDecision', 'prepareRequest'])('would not replay if %s were another step', async (step) => {
    const text = read('waitingAgent-1.json', agents).replaceAll(`"${step}"`, '"other"');
    await expect(replay(historyOf(text), 'waitingAgent-1.json', agentsBundle)).rejects.toMatchObject({
      name: 'DeterminismViolationError',
    });
  });
});
