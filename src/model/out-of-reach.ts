/**
 * What a role cannot do with the types of columns that it may read: statements can only name a type if the role may use its schema, and
 * only compare values if it may use the operators of their type.
 */
import type { Catalog, CatalogSchema, CatalogType, Privileges } from '../catalog/catalog.ts';
import type { BuildContext } from './build-context.ts';
import { Excluded } from './excluded.ts';
import type { ValueType } from './model.ts';

type Access = Pick<BuildContext, 'catalog' | 'privileges'>;
type SchemaName = Pick<CatalogSchema, 'id' | 'name'>;

/** Whether the role's statements can name the type. */
export function isNameable({ privileges: { schemas } }: { readonly privileges: Pick<Privileges, 'schemas'> }, type: CatalogType): boolean {
  if (type.schema === 'pg_catalog') return true;
  return schemas.has(type.schemaId) && (type.enumSchema === null || schemas.has(type.enumSchema.id));
}

/** The same of a type in the model. */
export function isNamed(type: ValueType): boolean {
  return !('unnameable' in type);
}

/** Whether the role's statements can name all types, as they usually can. */
export function namesAllTypes(catalog: Catalog, privileges: Privileges): boolean {
  for (const type of catalog.types.values()) if (!isNameable({ privileges }, type)) return false;
  return true;
}

/** The schema with the operators of the type, if the role may not use it: PostgreSQL would compare the values as those of another type. */
export function closedOperatorSchema({ catalog, privileges }: Access, { operatorSchemaId }: CatalogType): SchemaName | undefined {
  if (operatorSchemaId === 0 || privileges.schemas.has(operatorSchemaId)) return undefined;
  return catalog.operatorSchemas.find(({ id }) => id === operatorSchemaId);
}

/** Whether the role may execute the functions of the operators that PostgreSQL prefers to built-in ones. */
export function mayOperate({ privileges }: Pick<Access, 'privileges'>, { operatorIds }: CatalogType): boolean {
  return operatorIds.every((id) => privileges.functions.has(id));
}

/**
 * Whether values of the type can be compared with others. If the type cannot be named, PostgreSQL has to infer it, which works for types that
 * are compared by built-in operators, but not for rows and domains over enums, which have to be cast.
 */
export function isComparable(access: Access, type: CatalogType): boolean {
  if (closedOperatorSchema(access, type) || (type.elementId === 0 && !mayOperate(access, type))) return false;
  return isNameable(access, type) || (type.category !== 'C' && type.enumSql === null && !type.oddlyOrdered);
}

/** What a role cannot do with a column of the type, and which privilege it lacks. */
export function whyOutOfReach(access: Access, type: CatalogType): Excluded | undefined {
  const { role, schemas } = access.privileges;
  const comparisons = isComparable(access, type) ? '' : 'filters, orders, groups and keys';
  const closed = closedOperatorSchema(access, type);
  if (!isNameable(access, type)) {
    const schema = schemas.has(type.schemaId) ? type.enumSchema! : { id: type.schemaId, name: type.schema };
    const lost = comparisons === '' ? 'inserts and updates' : `inserts, updates, ${comparisons}`;
    return lacksUsage(
      schema,
      `the role ${role} cannot use the schema ${schema.name} of its type ${type.sql}, so it can be read but is left out of ${lost}`,
    );
  }
  if (comparisons === '') return undefined;
  if (closed) {
    const problem = `the role ${role} cannot use the schema ${closed.name}, which has the operators of its type ${type.sql}`;
    return lacksUsage(closed, `${problem}, so it is left out of ${comparisons}`);
  }
  const name = access.catalog.operatorSchemas.find(({ id }) => id === type.operatorSchemaId)?.name ?? '';
  const problem = `the role ${role} cannot execute the functions of the operators of its type ${type.sql}, so it is left out of ${comparisons}`;
  return new Excluded('type-out-of-reach', `${problem}; grant execute on all functions in schema ${name} to the role`);
}

function lacksUsage({ id, name }: SchemaName, problem: string): Excluded {
  const lacking = { privilege: 'usage', id, column: null } as const;
  return new Excluded('type-out-of-reach', `${problem}; grant usage on schema ${name} to the role`, lacking);
}
