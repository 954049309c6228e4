/**
 * Flags, TEMPORAL_* variables and Temporal's configuration file → where to connect. Flags win over variables, variables
 * over the file; Temporal's own loader reads the last two. No address, profile or database at all: the local environment of
 * this checkout, if one runs.
 */
import { accessSync, constants } from 'node:fs';
import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';
import type { ClientConfigProfile, ClientConfigTLS, LoadClientProfileOptions } from '@temporalio/envconfig';
import { HealthError } from '../../receipts/errors.ts';
import { localEnvironment, localStateFolder } from './environment.ts';
import type { LocalEnvironment } from './environment.ts';
import type { GlobalOptions } from './program.ts';
import { usage } from './program.ts';

const DEFAULT_ADDRESS = 'localhost:7233';

export interface Configuration {
  readonly address: string;
  readonly namespace: string;
  readonly connection: ConnectionOptions;
  readonly callTimeoutMs: number;
  /** Null where no store is configured. May hold a password: never printed. */
  readonly databaseUrl: string | null;
  /** Base of Temporal's Web UI where it is known. */
  readonly uiAddress: string | null;
  /** True where the local environment of this checkout was found and nothing else was given. */
  readonly discovered: boolean;
}

type Given = Partial<GlobalOptions>;

function loaderOptions(options: Given): LoadClientProfileOptions {
  return {
    ...(options.profile === undefined ? {} : { profile: options.profile }),
    ...(options.configFile === undefined ? {} : { configSource: { path: options.configFile } }),
    ...(options.disableConfigFile ? { disableFile: true } : {}),
    ...(options.disableConfigEnv ? { disableEnv: true } : {}),
  };
}

function tlsOf(profile: ClientConfigTLS | undefined, options: Given): ClientConfigTLS | undefined {
  if (options.disableTls) return { disabled: true };
  const given: ClientConfigTLS = {
    ...(options.tlsServerName === undefined ? {} : { serverName: options.tlsServerName }),
    ...source('clientCert', options.tlsCertPath, options.tlsCertData),
    ...source('clientKey', options.tlsKeyPath, options.tlsKeyData),
    ...source('serverCACert', options.tlsCaPath, options.tlsCaData),
  };
  const asked = options.tls === true || Object.keys(given).length > 0;
  return asked ? { ...profile, disabled: false, ...given } : profile;
}

function source(name: 'clientCert' | 'clientKey' | 'serverCACert', path?: string, data?: string): ClientConfigTLS {
  if (path !== undefined) return { [name]: { path } };
  return data === undefined ? {} : { [name]: { data } };
}

function metadataOf(pairs: readonly string[] | undefined): Record<string, string> {
  return Object.fromEntries(
    (pairs ?? []).map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw usage(`--grpc-meta takes key=value.`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

function loadProfile(options: Given): ClientConfigProfile {
  try {
    // The loader takes a file that is not there for an empty one, which would lead to another server than the one meant.
    if (options.configFile !== undefined) accessSync(options.configFile, constants.R_OK);
    return loadClientConfigProfile(loaderOptions(options));
  } catch (error) {
    // The loader (1.24) fails with a TypeError on a file that has no profile at all, which says no more than no file.
    if (error instanceof TypeError && options.profile === undefined) {
      return loadClientConfigProfile({ disableFile: true, ...(options.disableConfigEnv ? { disableEnv: true } : {}) });
    }
    // The first line: a parser goes on with the text of the file, which may hold a key.
    const said = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new HealthError('USAGE', `Temporal's configuration cannot be read: ${said}`, {
      hint: 'Check --config-file, TEMPORAL_CONFIG_FILE and --profile, or give --disable-config-file.',
      cause: error,
    });
  }
}

/**
 * @throws HealthError USAGE where the configuration cannot be read.
 */
export function configurationOf(
  options: Given,
  env: NodeJS.ProcessEnv,
  discover: () => LocalEnvironment | null = () => localEnvironment(localStateFolder(env)),
): Configuration {
  const profile = loadProfile(options);
  const databaseUrl = options.databaseUrl ?? (env['TEMPORAL_HEALTH_DATABASE_URL'] || undefined);
  const nothingGiven =
    options.address === undefined &&
    profile.address === undefined &&
    options.profile === undefined &&
    options.configFile === undefined &&
    (env['TEMPORAL_PROFILE'] ?? '') === '' &&
    databaseUrl === undefined;
  const running = discover();
  const local = nothingGiven ? running : null;
  const address = options.address ?? profile.address ?? local?.temporalAddress ?? DEFAULT_ADDRESS;
  const tls = tlsOf(profile.tls, options);
  const apiKey = options.apiKey ?? profile.apiKey;
  const { connectionOptions } = toClientOptions({
    ...profile,
    address,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(tls === undefined ? {} : { tls }),
    grpcMeta: { ...profile.grpcMeta, ...metadataOf(options.grpcMeta) },
  });
  return {
    address,
    namespace: options.namespace ?? profile.namespace ?? local?.namespace ?? 'default',
    connection: {
      address,
      ...(connectionOptions.apiKey === undefined ? {} : { apiKey: connectionOptions.apiKey }),
      ...(connectionOptions.tls === undefined ? {} : { tls: connectionOptions.tls }),
      ...(connectionOptions.metadata === undefined ? {} : { metadata: connectionOptions.metadata }),
      connectTimeout: options.clientConnectTimeout ?? 5_000,
    },
    callTimeoutMs: options.commandTimeout ?? 10_000,
    databaseUrl: databaseUrl ?? local?.databaseUrl ?? null,
    uiAddress:
      (env['TEMPORAL_HEALTH_UI_ADDRESS'] || null) ?? (running?.temporalAddress === address ? running.uiAddress : null),
    discovered: local !== null,
  };
}
