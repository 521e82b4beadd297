/** What changes for the clients of a role between two versions of its schema. In: both as SDL; out: the changes by what they do to existing documents. */
import { BreakingChangeType, buildSchema, DangerousChangeType, findSchemaChanges } from 'graphql';

export interface SchemaChange {
  /** As graphql-js has it, such as `FIELD_REMOVED`; besides, `ROLE_REMOVED` and `ROLE_ADDED`. */
  readonly type: string;
  readonly description: string;
}

export interface RoleChanges {
  readonly role: string;
  /** Existing documents may be refused, or answered otherwise than their clients expect. */
  readonly breaking: readonly SchemaChange[];
  /** Existing documents stay valid, but may behave otherwise: an enum has a new value, a default has changed. */
  readonly dangerous: readonly SchemaChange[];
  readonly safe: readonly SchemaChange[];
}

/** Null is a role that one version does not have. Throws `GraphQLError` for what is no SDL. */
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

/** A role that sees nothing has a schema without fields, which is not valid, but can be compared. */
function schemaOf(text: string): ReturnType<typeof buildSchema> {
  return buildSchema(text, { assumeValid: true, assumeValidSDL: true });
}
