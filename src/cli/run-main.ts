/** Makes the command `rowgraph` start fast and stay small; `run-program.ts` does the rest. */
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment, userCacheFolder } from './config.ts';
import { restartSmall } from './restart-small.ts';

const environment = readEnvironment();
const compileCache = join(userCacheFolder(environment, process.platform, homedir()), 'compiled');
if (process.argv[2] === 'serve') restartSmall(environment, compileCache);
// Halves the time to load the many modules, so all others are imported after this.
enableCompileCache(compileCache);
const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(environment);
