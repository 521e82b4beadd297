/** `rowgraph projects`: lists, adds, removes and checks the projects of a server, and rotates their keys. */
import path from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { type Flags, print } from './with-graph.ts';

const projectsSettings: CommandSettings<'projects' | 'anonRole', 'projects'> = {
  names: ['projects', 'anonRole'],
  required: ['projects'],
  defaults: {},
};

/** What `add` takes besides the reference. The environment is ignored, because it contains the settings of the default project. */
type AddFlags = Flags & Readonly<Partial<Record<'databaseUrl' | 'schemas' | 'jwtKeys' | 'apiKeys' | 'poolSize', string>>>;

export function projectsCommand(environment: Environment): Command {
  const command = new Command('projects').description('List, add, remove and check the projects of a server, and rotate their keys');
  const read = (flags: Flags) => readSettings(projectsSettings, flags, environment);
  const withSettings = (child: Command) => addSettings(child, projectsSettings);
  withSettings(command.command('list').description('Print the projects, without their secrets')).action(async (flags: Flags) => {
    const { listProjects } = await import('./manage-projects.ts');
    print(...(await listProjects(read(flags).projects)));
  });
  addAdd(withSettings(command.command('add')), read);
  withSettings(command.command('remove').description('Remove a project; its connections close once requests in flight have finished'))
    .argument('<REFERENCE>')
    .action(async (reference: string, flags: Flags) => {
      const { removeProject } = await import('./manage-projects.ts');
      await removeProject(read(flags).projects, reference);
    });
  withSettings(command.command('rotate-keys').description('Give a project a new JWT secret, and print keys signed with it'))
    .argument('<REFERENCE>')
    .option('--revoke', 'Reject keys and tokens signed with the previous secret from now on')
    .action(async (reference: string, { revoke, ...flags }: Flags & { revoke?: true }) => {
      const { projects, anonRole } = read(flags);
      const { rotateKeys } = await import('./manage-projects.ts');
      print(...(await rotateKeys(projects, reference, revoke === true, anonRole)));
    });
  withSettings(
    command.command('check').description('Check the settings, keys and databases of all projects; exits with 1 if a check fails'),
  ).action(async (flags: Flags) => {
    const { checkProjects } = await import('./manage-projects.ts');
    const problems = await checkProjects(read(flags).projects, (reference) => print(`${reference}: ok`));
    print(...problems);
    if (problems.length > 0) throw new CommandError(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} found`, 1);
  });
  return command;
}

function addAdd(command: Command, read: (flags: Flags) => { readonly projects: string; readonly anonRole: string }): void {
  command
    .description('Add a project, and print its reference and keys')
    .argument('[REFERENCE]', '20 lowercase letters and digits (default: random)')
    .requiredOption('--database-url <URL>', 'Its PostgreSQL database')
    .option('--schemas <NAMES>', 'Schemas to expose, separated by commas')
    .option('--jwt-keys <FILE|URL>', 'Public keys that verify its tokens, instead of a JWT secret')
    .option('--api-keys <FILE>', 'File of its opaque keys, instead of a JWT secret')
    .option('--pool-size <NUMBER>', 'Database connections of the project')
    .action(async (reference: string | undefined, { databaseUrl, schemas, jwtKeys, apiKeys, poolSize, ...flags }: AddFlags) => {
      const { projects, anonRole } = read(flags);
      const { addProject } = await import('./manage-projects.ts');
      const settings = { databaseUrl, schemas, jwtKeys: locate(jwtKeys), apiKeys: locate(apiKeys), poolSize };
      const configured = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
      print(...(await addProject(projects, reference ?? null, configured, anonRole)));
    });
}

/** Paths in the file are relative to its folder, not to the working directory of the command, so they are made absolute. */
function locate(location: string | undefined): string | undefined {
  return location === undefined || /^https?:\/\//i.test(location) ? location : path.resolve(location);
}
