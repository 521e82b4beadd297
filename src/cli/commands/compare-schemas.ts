/** What changes for the clients of a role between two versions of its schema. */
import { BreakingChangeType, buildSchema, DangerousChangeType, findSchemaChanges } from 'graphql';

export interface SchemaChange {
  /** The name that graphql-js gives it, such as `FIELD_REMOVED`; or `ROLE_REMOVED` or `ROLE_ADDED`. */
  readonly type: string;
  readonly description: string;
}

export interface RoleChanges {
  readonly role: string;
  /** Existing documents may be rejected, or answered differently than their clients expect. */
  readonly breaking: readonly SchemaChange[];
  /** Existing documents stay valid but may behave differently: an enum has a new value, or a default has changed. */
  readonly dangerous: readonly SchemaChange[];
  readonly safe: readonly SchemaChange[];
}

/** Null stands for a role that a version does not have. Throws `GraphQLError` for invalid SDL. */
export function compareSchemas(role: string, from: string | null, to: string | null): RoleChanges {
  const nothing = { role, breaking: [], dangerous: [], safe: [] };
  if (from === null && to === null) return nothing;
  if (to === null) return { ...nothing, breaking: [{ type: 'ROLE_REMOVED', description: `Role ${role} was removed.` }] };
  if (from === null) return { ...nothing, safe: [{ type: 'ROLE_ADDED', description: `Role ${role} was added.` }] };
  const found = findSchemaChanges(schemaOf(from), schemaOf(to)).map(({ type, description }) => ({ type, description }));
  return {
    role,
    breaking: found.filter(({ type }) => effectOf(type) === 'breaking'),
    dangerous: found.filter(({ type }) => effectOf(type) === 'dangerous'),
    safe: found.filter(({ type }) => effectOf(type) === 'safe'),
  };
}

function effectOf(type: string): 'breaking' | 'dangerous' | 'safe' {
  if (type in BreakingChangeType) return 'breaking';
  return type in DangerousChangeType ? 'dangerous' : 'safe';
}

/** The schema of a role that sees nothing has no fields, which is invalid but can be compared. */
function schemaOf(text: string): ReturnType<typeof buildSchema> {
  return buildSchema(text, { assumeValid: true, assumeValidSDL: true });
}
