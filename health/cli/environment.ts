/** The local environment that a running `./temporal-dev.sh` of this checkout left behind. Used only where nothing is given. */
import { readFileSync } from 'node:fs';

export interface LocalEnvironment {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly databaseUrl: string;
  readonly uiAddress: string | null;
}

/** Null where there is none, or none that can be read. */
export function localEnvironment(file: URL): LocalEnvironment | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof found !== 'object' || found === null) return null;
    const text = (name: string): string | null => {
      const value = (found as Record<string, unknown>)[name];
      return typeof value === 'string' && value !== '' ? value : null;
    };
    const temporalAddress = text('temporalAddress');
    const databaseUrl = text('databaseUrl');
    if (temporalAddress === null || databaseUrl === null) return null;
    return { temporalAddress, databaseUrl, namespace: text('namespace') ?? 'default', uiAddress: text('uiAddress') };
  } catch {
    return null; // No environment runs here, which is the usual case.
  }
}
