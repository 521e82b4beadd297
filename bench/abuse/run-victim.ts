/** Runs a victim in its own process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { VictimJob, VictimReport } from './victim.ts';

export interface RunningVictim {
  /** What it has seen since the last report. */
  report(): Promise<VictimReport>;
  /** Waits for missing answers, and resolves to what it has seen since the last report. */
  stop(): Promise<VictimReport>;
}

/** Starts an ordinary user. */
export function runVictim(job: VictimJob): RunningVictim {
  const child = spawn(process.execPath, [fileURLToPath(new URL('victim.ts', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  const killChild = (): void => void child.kill();
  process.once('exit', killChild);
  const lines = createInterface({ input: child.stdout });
  const next = async (): Promise<VictimReport> => JSON.parse(String((await once(lines, 'line'))[0])) as VictimReport;
  child.stdin.write(`${JSON.stringify(job)}\n`);
  return {
    report: () => {
      const reported = next();
      child.stdin.write('report\n');
      return reported;
    },
    stop: async () => {
      const reported = next();
      child.stdin.end();
      const report = await reported;
      process.removeListener('exit', killChild);
      return report;
    },
  };
}
