/** The options of `createRowgraph`, from the settings. */
import { type LimitSettings, limitNames, limitSettingOf } from '../budget/limits.ts';
import { type Configuration, type NameIn, optionsIn } from '../settings/settings.ts';

/** Of a command that opens a graph: all have what shapes it, and those that serve it have more. */
export type GraphConfiguration = Configuration<Exclude<NameIn<'inspect'>, 'databaseUrl'>> & Partial<Configuration<NameIn<'serve'>>>;

export function graphOptionsOf(configuration: GraphConfiguration) {
  const { requestTimeout: timeout, queueLength, queueBytes, queueTimeout } = configuration;
  const { schemaCache, documentCache, variantCache, statementCache, introspectionCache } = configuration;
  return {
    ...optionsIn('graph', configuration),
    timeout,
    queue: given({ length: queueLength, bytes: queueBytes, timeout: queueTimeout }),
    caches: given({
      schemaBytes: schemaCache,
      documents: documentCache,
      variants: variantCache,
      statements: statementCache,
      introspectionBytes: introspectionCache,
    }),
    idempotencyKeyRoles: keyRolesOf(configuration),
    ...limitOptionsOf(configuration),
  };
}

/** The limits of requests, and the roles that have none. */
export function limitOptionsOf(configuration: Configuration<Extract<NameIn<'inspect'>, `limit${string}` | 'unlimitedRoles'>>) {
  const single = Object.fromEntries(limitNames.map((name) => [name, configuration[limitSettingOf(name)]]));
  const limits: LimitSettings = { base: configuration.limits, ...single };
  return { limits, roleLimits: Object.fromEntries(configuration.unlimitedRoles.map((role) => [role, 'off' as const])) };
}

/** All roles but the anonymous one unless the setting names some. */
function keyRolesOf({ idempotencyKeyRoles: roles, anonRole }: GraphConfiguration) {
  if (roles === undefined) return { except: [anonRole] };
  return roles.includes('*') ? { except: [] } : roles;
}

function given(sizes: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(sizes).filter((entry): entry is [string, number] => entry[1] !== undefined));
}
