/** Reads the command line, runs a command, and turns failures into one line and an exit code. */
import { Command, CommanderError, Help } from 'commander';
import { CommandError, SilentExitError } from './command-error.ts';
import { adviseCommand } from './commands/advise.ts';
import { devCommand } from './commands/dev.ts';
import { documentsCommand } from './commands/documents.ts';
import { extensionCommand, triggersCommand } from './commands/extension.ts';
import { initCommand } from './commands/init.ts';
import { accessCommand, costCommand, doctorCommand, explainCommand } from './commands/inspect.ts';
import { keysCommand } from './commands/keys.ts';
import { liveCommand } from './commands/live.ts';
import { projectsCommand } from './commands/projects.ts';
import { rolesCommand } from './commands/roles.ts';
import { schemaCommand } from './commands/schema.ts';
import { mcpCommand, serveCommand } from './commands/serve.ts';
import { upgradeCheckCommand } from './commands/upgrade-check.ts';
import { ConfigurationError, type Environment } from './config.ts';
import { readPackageFile } from './package-file.ts';

/** The commands with their flags. Throws if two flags of one have the same name. */
export function createProgram(environment: Environment): Command {
  const { version, description } = readPackageFile();
  const program = new Command('rowgraph').description(description).version(version, '-V, --version', 'Print the version');
  const makers = [
    devCommand,
    initCommand,
    serveCommand,
    rolesCommand,
    schemaCommand,
    costCommand,
    explainCommand,
    adviseCommand,
    doctorCommand,
    accessCommand,
    documentsCommand,
    mcpCommand,
    extensionCommand,
    triggersCommand,
    liveCommand,
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
  // Whoever reads the output may have read enough, such as "head".
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    await createProgram(environment).parseAsync();
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** A column narrower than this is hard to read. */
const narrowest = 40;
const ownLine = '\n      ';

const helpLayout: Partial<Help> = {
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80;
    // Commander adds two characters before the term, and two after it.
    if (width - termWidth - 4 >= narrowest) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    return `  ${term}${ownLine}${helper.boxWrap(description, width - ownLine.length).replaceAll('\n', ownLine)}`;
  },
};

/** Makes the command `help` of a command that has others. */
function helpCommandOf(parent: Command): Command {
  return new Command('help')
    .description('Print the help of a command')
    .argument('[COMMAND]')
    .allowExcessArguments()
    .action(async (name: string | undefined) => {
      if (name === undefined) parent.help();
      parent.commands.find((command) => command.name() === name)?.help();
      // Fails as the unknown command itself does, with the same suggestion.
      await parent.parseAsync([name], { from: 'user' });
    });
}
