/**
 * The local environment of this checkout, as a running `./temporal-dev.sh` keeps it in `.temporal-health/state.json`. Used
 * where nothing else is given, and for the address of its Web UI. An installed package has none.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface LocalEnvironment {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly databaseUrl: string;
  readonly uiAddress: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isAlive(pid: unknown): boolean {
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Null where none runs, or none that can be read: that is the usual case and no failure. */
export function localEnvironment(folder: string): LocalEnvironment | null {
  try {
    const state = fieldsOf(JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')));
    const temporal = fieldsOf(state['temporal']);
    const temporalAddress = textOf(temporal['address']);
    const databaseUrl = textOf(fieldsOf(state['postgres'])['url']);
    if (temporalAddress === null || databaseUrl === null || !isAlive(temporal['pid'])) return null;
    return { temporalAddress, databaseUrl, namespace: 'default', uiAddress: textOf(temporal['uiAddress']) };
  } catch {
    return null;
  }
}

/** Where this checkout keeps it. */
export function localStateFolder(env: NodeJS.ProcessEnv): string {
  const own = textOf(env['TEMPORAL_HEALTH_STATE_DIR']);
  return own ?? fileURLToPath(new URL('../../.temporal-health', import.meta.url));
}
