/** Whether a role can name a type, compare its values and execute its operators, and what it lacks for that. */
import type { Catalog, CatalogSchema, CatalogType } from '../../catalog/catalog.ts';
import type { Privileges } from '../../catalog/privileges.ts';
import { type BuildContext, Excluded } from '../build-context.ts';
import type { ScalarType, ValueType } from '../value-type.ts';

type Access = Pick<BuildContext, 'catalog' | 'privileges'>;
type SchemaName = Pick<CatalogSchema, 'id' | 'name'>;

/** The mark of types that the role's statements cannot name. */
export function nameability(context: BuildContext, type: CatalogType): Pick<ScalarType, 'unnameable'> {
  return isNameable(context, type) ? {} : { unnameable: true };
}

/** Whether the role's statements can name the type. */
export function isNameable({ privileges: { schemas } }: { readonly privileges: Pick<Privileges, 'schemas'> }, type: CatalogType): boolean {
  if (type.schema === 'pg_catalog') return true;
  return schemas.has(type.schemaId) && (type.enumSchema === null || schemas.has(type.enumSchema.id));
}

export function isNamed(type: ValueType): boolean {
  return !('unnameable' in type);
}

export function namesAllTypes(catalog: Catalog, privileges: Privileges): boolean {
  for (const type of catalog.types.values()) if (!isNameable({ privileges }, type)) return false;
  return true;
}

/**
 * The schema with the operators of the type, or of the elements of an array, if the role may not use it: PostgreSQL would compare the values
 * as those of another type.
 */
export function closedOperatorSchema(
  { catalog, privileges }: Access,
  { operatorSchemaId, elementId, category, baseId }: CatalogType,
): SchemaName | undefined {
  const element = catalog.types.get(elementId || (category === 'A' ? baseId : 0));
  if (element) return closedOperatorSchema({ catalog, privileges }, element);
  if (operatorSchemaId === 0 || privileges.schemas.has(operatorSchemaId)) return undefined;
  return catalog.operatorSchemas.find(({ id }) => id === operatorSchemaId);
}

/** Whether the role may execute the functions of the operators that PostgreSQL prefers to built-in ones. */
export function mayOperate({ privileges }: Pick<Access, 'privileges'>, { operatorIds }: CatalogType): boolean {
  return operatorIds.every((id) => privileges.functions.has(id));
}

/**
 * Whether values of the type can be compared with others. If the type cannot be named, PostgreSQL has to infer it, which works for types
 * that are compared by built-in operators, but not for rows and domains over enums, which have to be cast.
 */
export function isComparable(access: Access, type: CatalogType): boolean {
  if (closedOperatorSchema(access, type) || (type.elementId === 0 && !mayOperate(access, type))) return false;
  return isNameable(access, type) || (type.category !== 'C' && type.enumSql === null && !type.oddlyOrdered);
}

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
