/** CPU time and memory of processes, from Linux's /proc. On other systems they are unknown, and left out of the report. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface ProcessState {
  readonly parent: number;
  /** In seconds; includes children that have ended. */
  readonly cpuSeconds: number;
}

export const hasUsage: boolean = existsSync('/proc/self/stat');
const ticksPerSecond = hasUsage ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 1;

/** CPU seconds of groups of process trees, each with these roots, and of the whole machine. */
export function readCpu<Name extends string>(roots: Readonly<Record<Name, readonly number[]>>): Record<Name | 'machine', number> {
  const states = readStates();
  const used: Record<string, number> = { machine: machineCpu() };
  for (const [name, own] of Object.entries<readonly number[]>(roots)) {
    used[name] = treeOf(own, states).reduce((sum, id) => sum + (states.get(id)?.cpuSeconds ?? 0), 0);
  }
  return used as Record<Name | 'machine', number>;
}

/** Resident memory of a process and its children, in MB. */
export function readMemory(root: number): number {
  const states = readStates();
  return treeOf([root], states).reduce((sum, id) => sum + Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0) / 1024, 0);
}

function readStates(): Map<number, ProcessState> {
  const states = new Map<number, ProcessState>();
  if (!hasUsage) return states;
  for (const entry of readdirSync('/proc')) {
    const text = /^\d+$/.test(entry) ? read(`/proc/${entry}/stat`) : '';
    // The name of the program, in parentheses, may contain anything; the numbers come after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (text !== '') states.set(Number(entry), { parent: Number(fields[1]), cpuSeconds: sum(fields.slice(11, 15)) / ticksPerSecond });
  }
  return states;
}

function treeOf(roots: readonly number[], states: ReadonlyMap<number, ProcessState>): number[] {
  const tree = [...roots];
  for (const member of tree) for (const [id, { parent }] of states) if (parent === member) tree.push(id);
  return tree;
}

/** Everything except idle time and waiting for disks. */
function machineCpu(): number {
  const [user, nice, system, , , ...interrupts] = read('/proc/stat').split('\n', 1)[0]!.trim().split(/\s+/).slice(1, 9);
  return sum([user, nice, system, ...interrupts]) / ticksPerSecond;
}

function sum(texts: readonly (string | undefined)[]): number {
  return texts.reduce((total, text) => total + Number(text ?? 0), 0);
}

/** Empty if the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
