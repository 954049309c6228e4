/**
 * Options of a check, which come from a registered contract: data that was written elsewhere and perhaps long ago. An
 * option that cannot be read makes the check answer `unread`, never pass.
 */
export type Options = Readonly<Record<string, unknown>>;

/** Where workers and operators say below which folder promised files lie. */
export const OUTPUT_ROOT_VARIABLE = 'TEMPORAL_HEALTH_OUTPUT_ROOT';
/** Hosts that may be asked although they are internal, separated by commas. */
export const ALLOWED_HOSTS_VARIABLE = 'TEMPORAL_HEALTH_ALLOWED_HOSTS';

export const textOption = (options: Options, name: string): string | undefined =>
  typeof options[name] === 'string' && options[name] !== '' ? options[name] : undefined;

export const countOption = (options: Options, name: string): number | undefined => {
  const value = options[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
};

export const listOption = (options: Options, name: string): readonly string[] | undefined => {
  const value: unknown = options[name];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined;
};

/** Members without a value are left out, so that the same options always give the same contract digest. */
export function given(options: object): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

export const splitList = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** The root of this machine: a contract that names none holds on every machine with one and the same digest. */
export const outputRoot = (options: Options): string | undefined =>
  textOption(options, 'root') ?? (process.env[OUTPUT_ROOT_VARIABLE] || undefined);

export const allowedHosts = (): readonly string[] => splitList(process.env[ALLOWED_HOSTS_VARIABLE]);
