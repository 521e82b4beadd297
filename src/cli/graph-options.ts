import { type LimitBase, type LimitSettingName, type LimitSettings, limitNames, limitSettingOf } from '../budget/limits.ts';
import type { RowgraphOptions } from '../index.ts';
import type { Configuration } from '../settings/settings.ts';

type CacheConfiguration = Configuration<'schemaCache' | 'documentCache' | 'variantCache' | 'statementCache' | 'introspectionCache'>;
type GraphConfiguration = CacheConfiguration &
  Configuration<
    'idempotencyKeyLifetime' | 'idempotencyKeyRoles' | 'idempotencyStorage' | 'anonRole' | 'requestSettings' | 'requestHeaders'
  > &
  Configuration<'schemas' | 'extraSearchPath' | 'introspection' | 'coercion' | 'trustedRoles' | 'reportCost' | 'requestTimeout'> &
  Configuration<(typeof modelSettingNames)[number]> &
  LimitConfiguration;

/** All roles but the anonymous one unless the setting names some. */
function keyRolesOf({ idempotencyKeyRoles: roles, anonRole }: GraphConfiguration) {
  if (roles === undefined) return { except: [anonRole] };
  return roles.includes('*') ? { except: [] } : roles;
}

/** Options of the graph, from the settings that `dev`, `serve` and projects share. */
export function graphOptionsOf(configuration: GraphConfiguration) {
  const { schemas, extraSearchPath, introspection, coercion, trustedRoles, reportCost, requestTimeout: timeout } = configuration;
  const { requestSettings, requestHeaders, idempotencyKeyLifetime, idempotencyStorage } = configuration;
  return {
    ...{ schemas, extraSearchPath, introspection, coercion, trustedRoles, reportCost, timeout, requestSettings, requestHeaders },
    ...{ idempotencyKeyLifetime, idempotencyStorage, idempotencyKeyRoles: keyRolesOf(configuration) },
    caches: cacheSizesOf(configuration),
    ...modelOptionsOf(configuration),
    ...limitOptionsOf(configuration),
  };
}

function cacheSizesOf({ schemaCache, documentCache, variantCache, statementCache, introspectionCache }: CacheConfiguration) {
  return {
    schemaBytes: schemaCache,
    documents: documentCache,
    variants: variantCache,
    statements: statementCache,
    introspectionBytes: introspectionCache,
  };
}

/** The limits of a graph, from the settings. */

export type LimitConfiguration = Readonly<Record<LimitSettingName, number | 'off' | undefined>> & {
  readonly limits: LimitBase;
  readonly unlimitedRoles: readonly string[];
};

/** The options of `createRowgraph` that limit what a request may cost. */
export function limitOptionsOf(configuration: LimitConfiguration): Required<Pick<RowgraphOptions, 'limits' | 'roleLimits'>> {
  const single = Object.fromEntries(limitNames.map((name) => [name, configuration[limitSettingOf(name)]]));
  const limits: LimitSettings = { base: configuration.limits, ...single };
  return { limits, roleLimits: Object.fromEntries(configuration.unlimitedRoles.map((role) => [role, 'off'])) };
}

/** The settings that shape the schema, for every command that builds one. In: a configuration; out: options of `createRowgraph`. */

export const modelSettingNames = ['dialect', 'additions', 'nodeIdField', 'requiredInputs'] as const;

/** Picks these settings from a configuration. */
export function modelOptionsOf({ dialect, additions, nodeIdField, requiredInputs }: Configuration<(typeof modelSettingNames)[number]>) {
  return { dialect, additions, nodeIdField, requiredInputs };
}
