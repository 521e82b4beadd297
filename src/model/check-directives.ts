/**
 * Finds comment directives that have no effect: broken ones, members of the wrong type, and unknown members. They are ignored, but a log
 * line and the doctor report them. The result does not depend on the role.
 */
import type { Catalog } from '../catalog/catalog.ts';
import { type DirectiveFault, type DirectiveKind, findFaults } from './directive-members.ts';
import type { TableKind } from './model.ts';
import { functionName, qualifiedName } from './object-names.ts';
import { tableKinds } from './table-kinds.ts';

/** A fault in an object's directive. */
export interface DirectiveProblem extends DirectiveFault {
  readonly object: 'schema' | TableKind | 'column' | 'relation' | 'function' | 'enum';
  /** Qualified: `public.account.balance`. */
  readonly name: string;
}

interface Commented {
  readonly kind: DirectiveKind;
  readonly object: DirectiveProblem['object'];
  readonly comment: string | null;
  /** Called only if there is a fault. */
  readonly name: () => string;
  readonly labels?: readonly string[] | null;
}

/** Checks every directive in the exposed schemas. Yields after each object. */
export function* checkDirectives(catalog: Catalog): Generator<void, DirectiveProblem[]> {
  const problems: DirectiveProblem[] = [];
  for (const { kind, object, comment, name, labels } of commentedObjects(catalog)) {
    if (comment !== null) {
      for (const fault of findFaults(comment, kind, labels ?? [])) problems.push({ object, name: name(), ...fault });
    }
    yield;
  }
  return problems;
}

function* commentedObjects(catalog: Catalog): Generator<Commented, void> {
  const schemaNames = new Map(catalog.schemas.map(({ id, name }) => [id, name]));
  const tableNames = new Map<number, string>();
  for (const { comment, name } of catalog.schemas) yield { kind: 'schema', object: 'schema', comment, name: () => name };
  for (const table of catalog.tables) {
    const tableName = qualifiedName(schemaNames.get(table.schemaId) ?? '', table.name);
    tableNames.set(table.id, tableName);
    yield { kind: 'table', object: tableKinds[table.kind], comment: table.comment, name: () => tableName };
    for (const { comment, name } of table.columns) {
      if (comment !== null) yield { kind: 'column', object: 'column', comment, name: () => qualifiedName(tableName, name) };
    }
  }
  for (const { comment, tableId, name } of catalog.foreignKeys) {
    yield { kind: 'relation', object: 'relation', comment, name: () => qualifiedName(tableNames.get(tableId) ?? '', name) };
  }
  for (const source of catalog.functions) {
    yield { kind: 'function', object: 'function', comment: source.comment, name: () => functionName(catalog, source) };
  }
  for (const { comment, schema, name, labels } of catalog.types.values()) {
    yield { kind: 'enum', object: 'enum', comment, name: () => qualifiedName(schema, name), labels };
  }
}
