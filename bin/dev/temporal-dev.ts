/** The commands of temporal-dev.sh: what each prints, when it returns, and with which exit code. */
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithParent } from './processes.ts';
import type { ParentGuard } from './processes.ts';
import { Restarts } from './restarts.ts';
import {
  bringUp,
  environmentLines,
  holdInForeground,
  Interrupted,
  reset,
  runHealth,
  statusOf,
  takeBack,
  takeDown,
  welcome,
} from './stack.ts';
import { addressesOf, personsEnvironment, stackEnvironment } from './stack-parts.ts';
import type { StackAddresses, StackPlace } from './stack-parts.ts';
import { changeState, withLock } from './stack-state.ts';

const USAGE = `Usage: ./temporal-dev.sh [command]

  (none)   starts Temporal, Postgres and the worker, runs the six cases, prints the report, stays until Ctrl-C
  up       starts the same in the background and returns when all is ready
  demo     runs the six cases again on what is up
  status   what is up, and where; exit code 1 when something is not
  env      eval "$(./temporal-dev.sh env)" puts temporal and temporal health on PATH
  down     stops everything; runs and receipts are kept
  reset    stops everything and removes runs, receipts and logs of this checkout

TEMPORAL_HEALTH_DATABASE_URL uses a database of yours, TEMPORAL_CLI an executable of yours,
TEMPORAL_HEALTH_WORKER a worker of yours (it prints "worker ready"), TEMPORAL_HEALTH_STATE_DIR another folder
than .temporal-health for runs, receipts and logs.
`;

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

function placeOf(given: NodeJS.ProcessEnv, interrupted = (): boolean => false): StackPlace {
  const env = personsEnvironment(given);
  return {
    root,
    stateDir: resolve(env['TEMPORAL_HEALTH_STATE_DIR'] ?? join(root, '.temporal-health')),
    env,
    workerFile: resolve(env['TEMPORAL_HEALTH_WORKER'] ?? join(root, 'worker.ts')),
    note: (line) => process.stderr.write(`  ${line}\n`),
    interrupted,
    started: [],
  };
}

/** The first signal asks for an orderly end, which may take some seconds; the second one does not wait. */
class Interruption {
  readonly arrived: Promise<void>;
  #seen = false;

  constructor() {
    this.arrived = new Promise((resolve) => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(name, () => {
          if (this.#seen) process.exit(130);
          this.#seen = true;
          process.stderr.write('\n  stopping …\n');
          resolve();
        });
      }
    });
  }

  seen(): boolean {
    return this.#seen;
  }

  /** The end has come without a signal. */
  end(): void {
    this.#seen = true;
  }
}

async function demonstrate(place: StackPlace, addresses: StackAddresses): Promise<void> {
  place.note('the six cases …');
  const { runDemonstration } = await import('./demo.ts');
  await runDemonstration(stackEnvironment(place.env, addresses));
}

async function foreground(place: StackPlace, interruption: Interruption): Promise<number> {
  const guards: ParentGuard[] = [];
  let staying = Promise.resolve();
  try {
    const addresses = await bringUp(place);
    guards.push(...holdInForeground(place));
    staying = stay(place, interruption, guards);
    const shown = demonstrate(place, addresses).then(async () => {
      await runHealth(place, addresses, ['report']);
      process.stdout.write(`${welcome(addresses)}\nCtrl-C stops everything that was started here.\n`);
      await staying;
    });
    await Promise.race([shown, interruption.arrived]);
    return 0;
  } finally {
    interruption.end();
    await staying;
    changeState(place.stateDir, { foreground: undefined });
    await withLock(place.stateDir, () => takeBack(place));
    for (const guard of guards) guard.standDown();
  }
}

/** Until the end is asked for: what ends by itself is started again, and held like the rest. */
async function stay(place: StackPlace, interruption: Interruption, guards: ParentGuard[]): Promise<void> {
  const held = new Set(place.started.map(({ pid }) => pid));
  const restarts = new Restarts(place, () => {
    for (const { pid } of place.started) {
      if (!held.has(pid)) guards.push(endWithParent(pid));
      held.add(pid);
    }
  });
  while (!interruption.seen()) {
    await Promise.race([delay(500), interruption.arrived]);
    if (!interruption.seen()) await restarts.look();
  }
}

async function up(place: StackPlace): Promise<number> {
  const addresses = await bringUp(place);
  process.stdout.write(`${welcome(addresses)}\n./temporal-dev.sh down stops everything.\n`);
  return 0;
}

async function demo(place: StackPlace): Promise<number> {
  const addresses = addressesOf(place);
  const missing = (await statusOf(place)).filter((part) => !part.up).map(({ part }) => part);
  if (addresses === undefined || missing.length > 0) {
    process.stderr.write(`Not up: ${missing.join(', ')}. Run "./temporal-dev.sh up" first.\n`);
    return 1;
  }
  await demonstrate(place, addresses);
  return runHealth(place, addresses, ['report']);
}

async function status(place: StackPlace): Promise<number> {
  const parts = await statusOf(place);
  for (const { part, text } of parts) process.stdout.write(`${part.padEnd(10)} ${text}\n`);
  return parts.every((part) => part.up) ? 0 : 1;
}

async function env(place: StackPlace): Promise<number> {
  const lines = await environmentLines(place);
  process.stdout.write(`${lines.join('\n')}\n`);
  if (lines.length === 1) process.stderr.write('Nothing is up yet: "./temporal-dev.sh up" starts it.\n');
  return 0;
}

async function down(place: StackPlace): Promise<number> {
  const ended = await takeDown(place);
  process.stdout.write(ended.length === 0 ? 'Nothing was up.\n' : `Stopped: ${ended.join(', ')}.\n`);
  return 0;
}

async function resetAll(place: StackPlace): Promise<number> {
  await reset(place);
  process.stdout.write('Everything is stopped; runs, receipts and logs of this checkout are removed.\n');
  return 0;
}

function help(stream: NodeJS.WriteStream, code: number): Promise<number> {
  stream.write(USAGE);
  return Promise.resolve(code);
}

/** The commands that start servers end in order when asked to; the others just end. */
const STARTING: Readonly<Record<string, (place: StackPlace, interruption: Interruption) => Promise<number>>> = {
  '': foreground,
  up,
};

const COMMANDS: Readonly<Record<string, (place: StackPlace) => Promise<number>>> = {
  down,
  status,
  demo,
  env,
  reset: resetAll,
  help: () => help(process.stdout, 0),
  '-h': () => help(process.stdout, 0),
  '--help': () => help(process.stdout, 0),
};

async function main([name = '', ...rest]: string[]): Promise<number> {
  const start = STARTING[name];
  const command = COMMANDS[name];
  if (rest.length > 0 || (start === undefined && command === undefined)) return help(process.stderr, 2);
  if (start === undefined) return command?.(placeOf(process.env)) ?? 2;
  const interruption = new Interruption();
  return start(
    placeOf(process.env, () => interruption.seen()),
    interruption,
  );
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof Interrupted) {
    process.exitCode = 130;
  } else {
    const code = error instanceof Error && 'code' in error ? `${String(error.code)} ` : '';
    process.stderr.write(`${code}${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
// Whatever a demonstration left open must not keep a finished command alive.
process.exit();
