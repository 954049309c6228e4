/** Adding the plugin breaks no open run (R17): histories recorded without it replay with it. */
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
let workflowBundle: WorkflowBundle;

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

const read = (file: string): string => readFileSync(new URL(file, folder), 'utf8');

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    plugins: [plugin],
    logger: new DefaultLogger('ERROR'),
  });
});

async function replay(history: unknown, file: string): Promise<void> {
  const workflowId = `replay-${file.replace(/(-\d+)?\.json$/, '')}`;
  await Worker.runReplayHistory({ workflowBundle, plugins: [plugin] }, history, workflowId);
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
