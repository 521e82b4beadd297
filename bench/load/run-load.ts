/** Runs the load generator. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult, Load } from './job.ts';

const program = fileURLToPath(new URL('./generate-load.ts', import.meta.url));

/** Generates a load. Resolves with the results of its jobs, in their order. */
export async function runLoad(load: Load): Promise<JobResult[]> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  child.stdin.end(JSON.stringify(load));
  const output = await text(child.stdout);
  await ended;
  return JSON.parse(output) as JobResult[];
}

/** Keeps one server under load for some seconds. */
export async function runJob(job: Job, seconds: number): Promise<JobResult> {
  const [result] = await runLoad({ jobs: [job], seconds, turnSeconds: seconds });
  return result!;
}
