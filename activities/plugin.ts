/**
 * `temporal-health/worker`: the plugin. Give it to the worker (or its connection, one of the two) and, where the workflow
 * bundle is prebuilt, to `bundleWorkflowCode` as well.
 *
 *     const worker = await Worker.create({ …, plugins: [new HealthPlugin({
 *       contracts: [sourceCheck],
 *       store: (clusterId) => openPostgresStore({ clusterId, url }) })] });
 *
 * It adds the recorder around each activity (`interceptor.ts`), the activity that workflows record through (`record.ts`),
 * one header (`workflows/interceptors.ts`), and for as long as the worker runs its connection to the store
 * (`store-link.ts`).
 */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SimplePlugin } from '@temporalio/plugin';
import { Runtime } from '@temporalio/worker';
import type {
  ActivityInterceptorsFactory,
  BundleOptions,
  NativeConnection,
  ReplayWorkerOptions,
  Worker,
  WorkerOptions,
} from '@temporalio/worker';
import type { DefinedContract } from '../receipts/contract.ts';
import { HealthError } from '../receipts/errors.ts';
import { parseContract } from '../receipts/parse.ts';
import type { ReceiptStore } from '../receipts/store.ts';
import { BUNDLE_MARK, HEADER_NAME } from '../workflows/header.ts';
import { RECORD_ACTIVITY } from '../workflows/messages.ts';
import { activityInterceptors } from './interceptor.ts';
import type { RunningWorker } from './interceptor.ts';
import { recordForWorkflow } from './record.ts';
import { StoreLink } from './store-link.ts';

export interface HealthPluginOptions {
  /**
   * Opens the store for the cluster that the worker is on: receipts of two clusters never mix. Called when the worker
   * starts, and again until it succeeds where the store is away then.
   */
  readonly store: (clusterId: string) => ReceiptStore | Promise<ReceiptStore>;
  /** Registered as data when the worker starts; their checks run in its activities. */
  readonly contracts?: readonly DefinedContract[];
  /** Names this worker in gap rows; its Temporal identity where absent. */
  readonly workerId?: string;
}

/** The checkout runs TypeScript, the package JavaScript; the bundler takes either. */
const MODULE = fileURLToPath(new URL(`../workflows/interceptors${extname(import.meta.url)}`, import.meta.url));

interface Installed {
  readonly plugin: HealthPlugin;
  readonly options: WorkerOptions;
  running: RunningWorker | null;
}

/** By the interceptor that a worker was given: how a running worker finds what was set up for it. */
const installed = new WeakMap<ActivityInterceptorsFactory, Installed>();

export class HealthPlugin extends SimplePlugin {
  readonly #options: HealthPluginOptions;

  /** @throws HealthError CONTRACT_INVALID */
  constructor(options: HealthPluginOptions) {
    super({ name: HEADER_NAME });
    for (const { contract } of options.contracts ?? []) parseContract(contract);
    this.#options = options;
  }

  /** @throws HealthError PLUGIN_TWICE for two different plugins, PLUGIN_MISSING for a bundle that was built without it */
  override configureWorker(given: WorkerOptions): WorkerOptions {
    const options = super.configureWorker(given);
    const others = (options.interceptors?.activity ?? []).flatMap((factory) => installed.get(factory) ?? []);
    // The same plugin on the connection and on the worker is asked twice and answers once.
    if (others.some(({ plugin }) => plugin === this)) return options;
    if (others.length > 0) throw twice();
    const entry: Installed = { plugin: this, options: given, running: null };
    const factory = activityInterceptors(() => entry.running);
    installed.set(factory, entry);
    const ownActivities = Object.keys(options.activities ?? {}).length > 0;
    return {
      ...options,
      activities: { ...options.activities, [RECORD_ACTIVITY]: recordForWorkflow },
      // A worker for workflows alone must not begin to take the activity tasks of its queue because of ours.
      ...(ownActivities ? {} : { enableNonLocalActivities: false }),
      interceptors: {
        ...options.interceptors,
        // Outermost, so that what other interceptors say is flushed too.
        activity: [factory, ...(options.interceptors?.activity ?? [])],
        ...this.#workflowModules(options),
      },
    };
  }

  override configureReplayWorker(given: ReplayWorkerOptions): ReplayWorkerOptions {
    const options = super.configureReplayWorker(given);
    return { ...options, interceptors: { ...options.interceptors, ...this.#workflowModules(options) } };
  }

  override configureBundler(given: BundleOptions): BundleOptions {
    const options = super.configureBundler(given);
    return { ...options, workflowInterceptorModules: withModule(options.workflowInterceptorModules) };
  }

  /** Opens the store before the worker polls and closes it when it has stopped. */
  override async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const entry = worker.options.interceptors.activity.map((factory) => installed.get(factory)).find(Boolean);
    if (entry === undefined || entry.plugin !== this || entry.running !== null) return next(worker);
    await refuseBareBundle(entry.options);
    const link = await this.#open(worker);
    entry.running = {
      sink: link,
      clusterId: link.clusterId,
      namespace: worker.options.namespace,
      contracts: this.#options.contracts ?? [],
      leaveBehind: (recorder) => {
        link.leaveBehind(recorder.outbox);
      },
    };
    try {
      await next(worker);
    } finally {
      entry.running = null;
      await link.close();
    }
  }

  async #open(worker: Worker): Promise<StoreLink> {
    const { namespace, identity } = worker.options;
    const link = new StoreLink({
      clusterId: await clusterIdOf(worker.connection),
      namespace,
      workerId: this.#options.workerId ?? (identity === '' ? `${process.pid}@${hostname()}` : identity),
      contracts: this.#options.contracts ?? [],
      open: this.#options.store,
      log: Runtime.instance().logger,
    });
    try {
      await link.start();
    } catch (error) {
      await link.close();
      throw error;
    }
    return link;
  }

  #workflowModules(options: ReplayWorkerOptions): { workflowModules?: string[] } {
    if (options.workflowsPath === undefined) return {};
    return { workflowModules: withModule(options.interceptors?.workflowModules) };
  }
}

function withModule(modules: readonly string[] = []): string[] {
  return modules.includes(MODULE) ? [...modules] : [MODULE, ...modules];
}

function twice(): HealthError {
  return new HealthError(
    'PLUGIN_TWICE',
    'Two different HealthPlugins were given to one worker: receipts would double.',
    {
      hint: 'Give one plugin, to the worker or to its connection.',
    },
  );
}

/** A prebuilt bundle holds the interceptor's mark, or no activity of it would know which chain it works for. */
async function refuseBareBundle({ workflowBundle }: WorkerOptions): Promise<void> {
  if (workflowBundle === undefined) return;
  const code = 'code' in workflowBundle ? workflowBundle.code : await readFile(workflowBundle.codePath, 'utf8');
  if (code.includes(BUNDLE_MARK)) return;
  throw new HealthError('PLUGIN_MISSING', 'The prebuilt workflow bundle was built without the plugin.', {
    hint: 'Give it to the bundler as well: bundleWorkflowCode({ workflowsPath, plugins: [healthPlugin] }).',
  });
}

/** @throws HealthError TEMPORAL_UNREACHABLE */
async function clusterIdOf(connection: NativeConnection | undefined): Promise<string> {
  try {
    const { clusterId } = (await connection?.workflowService.getClusterInfo({})) ?? {};
    if (clusterId) return clusterId;
  } catch (error) {
    throw new HealthError('TEMPORAL_UNREACHABLE', 'Temporal did not say which cluster it is when the worker started.', {
      cause: error,
      hint: 'Start the worker again when Temporal answers.',
    });
  }
  throw new HealthError('TEMPORAL_UNREACHABLE', 'This Temporal server has no cluster id.');
}
