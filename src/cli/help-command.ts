/** The command `help`: like commander's own, but a name that is no command is an error. */
import { Command } from 'commander';

/** Makes the command `help` of a command that has others. */
export function helpCommandOf(parent: Command): Command {
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
