/** Reads the command line, runs a command, and turns failures into one line and an exit code. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { adviseCommand } from './advise.ts';
import { CommandError, SilentExitError } from './command-error.ts';
import { ConfigurationError, type Environment } from './config.ts';
import { costCommand } from './cost.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { documentsCommand } from './documents.ts';
import { explainCommand } from './explain.ts';
import { extensionCommand } from './extension.ts';
import { helpCommandOf } from './help-command.ts';
import { helpLayout } from './help-layout.ts';
import { keysCommand } from './keys.ts';
import { projectsCommand } from './projects.ts';
import { rolesCommand } from './roles.ts';
import { schemaCommand } from './schema.ts';
import { serveCommand } from './serve.ts';
import { triggersCommand } from './triggers.ts';
import { upgradeCheckCommand } from './upgrade-check.ts';

function createProgram(environment: Environment): Command {
  const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version, description } = JSON.parse(packageFile) as { version: string; description: string };
  const program = new Command('rowgraph').description(description).version(version, '-V, --version', 'Print the version');
  const makers = [
    devCommand,
    serveCommand,
    rolesCommand,
    schemaCommand,
    costCommand,
    explainCommand,
    adviseCommand,
    doctorCommand,
    documentsCommand,
    extensionCommand,
    triggersCommand,
    upgradeCheckCommand,
    keysCommand,
    projectsCommand,
  ];
  for (const command of makers.map((make) => make(environment))) program.addCommand(command);
  for (const command of [program, ...program.commands])
    if (command.commands.length > 0) command.addCommand(helpCommandOf(command)).helpCommand(false);
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    command.configureHelp(helpLayout).helpOption('-h, --help', 'Print this help');
    command.exitOverride().configureOutput({ outputError: (text, write) => write(oneLine(text)) });
  }
  return program;
}

/** Commander puts its suggestion on a second line. */
function oneLine(text: string): string {
  return `rowgraph: ${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')}\n`;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigurationError) {
    for (const problem of error.problems) process.stderr.write(`rowgraph: ${problem}\n`);
    return 2;
  }
  if (error instanceof CommandError) {
    process.stderr.write(`rowgraph: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof SilentExitError) return error.exitCode;
  console.error(error);
  return 1;
}

/** Runs the command that the arguments name. Resolves to the exit code. */
export async function runProgram(environment: Environment): Promise<number> {
  // That standard error cannot be written is no reason to end, and nobody could be told.
  process.stderr.on('error', () => undefined);
  try {
    await createProgram(environment).parseAsync();
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}
