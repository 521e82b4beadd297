/** Runs the load generator. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult, Load, Report } from './job.ts';

const program = fileURLToPath(new URL('./generate-load.ts', import.meta.url));

/** Generates a load. Resolves with the results of its jobs, in their order. `onWarm` is called before the first request that counts is sent. */
export function runLoad(load: Load, onWarm: () => void = () => {}): Promise<readonly JobResult[]> {
  return new Promise((resolve, reject) => {
    const child = fork(program);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The load generator has ended with code ${code}`)));
    child.on('message', (report: Report) => {
      if (!report.isWarm) return resolve(report.results);
      onWarm();
      child.send('begin');
    });
    child.send(load);
  });
}

/** Keeps one server under load for some seconds. */
export async function runJob(job: Job, seconds: number): Promise<JobResult> {
  const [result] = await runLoad({ jobs: [job], warmUpSeconds: 0, seconds, turnSeconds: seconds });
  return result!;
}
