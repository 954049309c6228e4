/** Runs the command inside the test's process: for refusals, which need no process of their own. */
import { tmpdir } from 'node:os';
import { main } from '../../../health/cli.ts';
import type { Ran } from './command.ts';

/** Variables of the person who runs the tests are put aside for the length of the call. */
export async function healthHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env))
    if (/^TEMPORAL_|COLOR/.test(name)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, { TEMPORAL_HEALTH_STATE_DIR: tmpdir(), ...env });
  const said = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (text: string) => {
      said[name] += text;
      return true;
    };
    return () => {
      stream.write = write;
    };
  });
  try {
    const code = await main(args);
    return { code, ...said };
  } finally {
    for (const undo of restore) undo();
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  }
}
