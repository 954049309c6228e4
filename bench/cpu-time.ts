/**
 * Processor time of whole process families, from /proc: the figure that other load on the machine moves least.
 * Linux only; elsewhere it is NaN and the figure is shown as n/a.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel tells user space in hundredths of a second, whatever its own clock rate is. */
const MS_PER_TICK = 10;

interface ProcessTimes {
  readonly parentPid: number;
  readonly cpuMs: number;
}

function readTimes(pid: string): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // With that of the children it has buried: what one had used must not vanish from the sum when it ends.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parentPid: Number(fields[1]), cpuMs: ticks * MS_PER_TICK };
  } catch {
    return undefined; // It ended while the list was read.
  }
}

/** CPU used so far by a process and all its descendants, in ms. */
export function familyCpuMs(rootPid: number): number {
  if (process.platform !== 'linux') return NaN;
  const times = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const read = readTimes(name);
    if (read !== undefined) times.set(Number(name), read);
  }
  const belongs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = times.get(at)?.parentPid ?? 0) if (at === rootPid) return true;
    return false;
  };
  let sum = 0;
  for (const [pid, { cpuMs }] of times) if (belongs(pid)) sum += cpuMs;
  return sum;
}

/** CPU used so far by this process, in ms. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
