/**
 * Vitest loads a global setup once for each project, in module graphs of their own. What a run shall have only once is
 * therefore kept on the process, with a count of who still needs it.
 */
interface Shared<T> {
  value: Promise<T>;
  users: number;
}

export async function sharedForRun<T>(
  name: string,
  start: () => Promise<T>,
  end: (value: T) => Promise<void>,
): Promise<{ value: T; release: () => Promise<void> }> {
  const key = Symbol.for(`temporal-health.test.${name}`);
  const process_ = process as unknown as Record<symbol, Shared<T> | undefined>;
  const shared = (process_[key] ??= { value: start(), users: 0 });
  shared.users += 1;
  return {
    value: await shared.value,
    async release() {
      shared.users -= 1;
      if (shared.users > 0) return;
      process_[key] = undefined;
      await end(await shared.value);
    },
  };
}
