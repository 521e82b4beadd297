/**
 * The relations of a table. Each foreign key, of a constraint or a comment directive or inferred for a view, is a field of both its tables.
 */
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { type BuildContext, Excluded, type Mutable, type Notes } from '../build-context.ts';
import type { ColumnPair, Relation, Table } from '../model.ts';
import {
  columnFieldName,
  isFreeName,
  legalName,
  lowerFirst,
  qualifiedFieldName,
  toManyFieldName,
  toOneFieldName,
} from '../naming/names.ts';
import type { Exclusion, InferredKey } from '../report.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import { columnTypeOf } from '../tables/value-types.ts';
import { type ForeignKey, foreignKeysOf, type KeyDefinition, nameOfKey, resolveKey, tableIdOf } from './foreign-keys.ts';

/** A relation before its name in rows is settled. */
export interface NamedRelation {
  readonly relation: Mutable<Relation>;
  readonly key: ForeignKey;
  /** Its name in rows if `fieldName` is taken. */
  readonly qualified: string;
  /** Whether it gives way to everything else: pg_graphql does not have it, or has it under a name that several partitions share. */
  readonly yields: boolean;
  /** Whether it leads to a partition, or back, by a key whose field for the whole table is not named after the table. */
  readonly apart: boolean;
}

/** Builds the relations of a table, outgoing keys first. Their names are legal; `settle-row-names.ts` makes them unique. */
export function buildRelations(context: BuildContext, table: LazyTable): NamedRelation[] {
  return candidatesOf(context, table)
    .filter(hasLegalName)
    .map((candidate) => withNames(context, candidate));
}

/** Reports why foreign keys are left out, also those of tables that are. Returns the inferred ones that are relations. */
export function* noteRelations(context: BuildContext, { exclusions }: Notes): Generator<void, readonly InferredKey[]> {
  const inferred: InferredKey[] = [];
  for (const { id, schemaId } of context.catalog.tables) {
    const definitions = context.schemas.has(schemaId) ? context.links.of(id).outgoing.filter(({ kind }) => kind !== 'copy') : [];
    for (const definition of definitions) {
      const key = resolveKey(context, definition);
      if (key instanceof Excluded) exclusions.push({ object: 'relation', id, name: nameOfKey(context, definition), ...key });
      else if (key?.inferred) inferred.push(toInferredKey(key));
    }
    yield;
  }
  for (const owner of context.tables.values()) {
    const illegal = candidatesOf(context, owner).filter((candidate) => !hasLegalName(candidate) && !candidate.key.inferred);
    exclusions.push(...illegal.map((candidate) => exclusionOf(owner, candidate)));
    yield;
  }
  return inferred;
}

/** The visible tables that may have relations or computed fields leading to this one. */
export function findReferrers({ links, tables }: BuildContext, { id }: LazyTable): readonly Table[] {
  const { outgoing, incoming, returnedFor } = links.of(id);
  const ids = new Set([...outgoing.map(targetIdOf), ...incoming.map(tableIdOf), ...returnedFor]);
  return [...ids].flatMap((each) => tables.get(each ?? 0) ?? []);

  function targetIdOf(definition: KeyDefinition): number | undefined {
    if (definition.kind === 'declared')
      return definition.declared && links.idOf(definition.declared.foreignSchema, definition.declared.foreignTable);
    return definition.kind === 'inferred' ? definition.key.targetId : definition.constraint.targetId;
  }
}

interface Candidate {
  readonly key: ForeignKey;
  readonly relation: Mutable<Relation>;
  readonly yields: boolean;
}

function candidatesOf(context: BuildContext, table: LazyTable): Candidate[] {
  const links = context.links.of(table.id);
  const referring = foreignKeysOf(context, links.outgoing).map((key) => ({ key, relation: outgoing(context, key) }));
  // Rows without a key cannot be paged.
  const referred = foreignKeysOf(context, links.incoming).filter(({ local }) => local.traits.key !== null);
  const incomings = referred.map((key) => ({ key, relation: incoming(context, key) }));
  return [...[...referring, ...incomings].map(withLegalName), ...incomings.flatMap(toDeclaredOne)];
}

/**
 * A field that leads back to one row of a table or view, beside pg_graphql's collection, if its key is declared by a directive, and is within
 * the columns that refer.
 */
function toDeclaredOne({ key, relation }: Omit<Candidate, 'yields'>): readonly Candidate[] {
  const { local, localColumns, targetColumns } = key;
  const { key: ownKey, schema } = local.traits;
  const isOne = ownKey?.every((column) => localColumns.includes(column));
  if (relation.kind === 'to-one' || !isOne || !local.additions.has('inferredKeys')) return [];
  const fieldName = toOneFieldName(local.stem, namesOf(targetColumns), schema.inflection);
  return [{ key, relation: { ...relation, fieldName, kind: 'to-one', onlyInRows: true }, yields: true }];
}

/** A relation is named after a column, whose name GraphQL may forbid. */
function withLegalName({ key, relation }: Omit<Candidate, 'yields'>): Candidate {
  const { localName, foreignName, local, inferred, toPartition } = key;
  const isDirected = (relation.holdsKey ? foreignName : localName) !== null;
  const isAdapted = !isDirected && !isFreeName(relation.fieldName) && local.additions.has('adaptedNames');
  if (isAdapted) relation.fieldName = legalName(relation.fieldName, (name) => columnFieldName(name, local.traits.schema.inflection));
  return { key, relation, yields: inferred || toPartition || isAdapted };
}

function toInferredKey({ local, localColumns, target, targetColumns }: ForeignKey): InferredKey {
  return { tableId: local.id, columns: namesOf(localColumns), target, targetColumns: namesOf(targetColumns) };
}

function outgoing(context: BuildContext, key: ForeignKey): Relation {
  const { localColumns, target, targetColumns, nullable, sameRow, toPartition } = key;
  return {
    fieldName: outgoingName(key),
    kind: 'to-one',
    target,
    holdsKey: true,
    columns: pairs(context, localColumns, targetColumns, true),
    nullable,
    unique: isUnique(target, targetColumns) && !target.traits.catalogTable.hasChildren,
    onlyInRows: toPartition,
    sameRow,
  };
}

function outgoingName({ localColumns, target: { stem, traits }, foreignName, sameRow }: ForeignKey): string {
  return foreignName ?? (sameRow ? lowerFirst(stem) : toOneFieldName(stem, namesOf(localColumns), traits.schema.inflection));
}

function incoming(context: BuildContext, key: ForeignKey): Relation {
  const { local, localColumns, targetColumns, localName, inferred, sameRow } = key;
  const unique = isUnique(local, localColumns) || (inferred && isUniqueInView(context, local, localColumns));
  const toOne = sameRow ? lowerFirst(local.stem) : toOneFieldName(local.stem, namesOf(targetColumns), local.traits.schema.inflection);
  const name = unique ? toOne : toManyFieldName(local.stem);
  const columns = pairs(context, targetColumns, localColumns, false);
  return {
    fieldName: localName ?? name,
    kind: unique ? 'to-one' : 'to-many',
    target: local,
    holdsKey: false,
    columns,
    nullable: true,
    // By the collation of the referenced columns, different values may be equal.
    unique: isUnique(local, localColumns) && !local.traits.catalogTable.hasChildren && columns.every(({ collation }) => collation === null),
    onlyInRows: false,
    sameRow,
  };
}

function isUnique({ traits: { catalogTable } }: LazyTable, columns: readonly CatalogColumn[]): boolean {
  const numbers = columns.map(({ number }) => number);
  return catalogTable.indexes.some((index) => index.unique && index.columns.every((number) => numbers.includes(number)));
}

function isUniqueInView({ catalog }: BuildContext, { traits: { catalogTable } }: LazyTable, columns: readonly CatalogColumn[]): boolean {
  const numbers = columns.map(({ number }) => number);
  return catalog.views.get(catalogTable.id)?.unique.some((unique) => unique.every((number) => numbers.includes(number))) ?? false;
}

/** `holdsKey`: whether the near columns are those that refer to the others. */
function pairs(context: BuildContext, near: readonly CatalogColumn[], target: readonly CatalogColumn[], holdsKey: boolean): ColumnPair[] {
  return near.map((column, position) => {
    const other = target[position]!;
    return {
      near: column.name,
      nearType: columnTypeOf(context, column),
      target: other.name,
      targetType: columnTypeOf(context, other),
      collation: holdsKey ? collationBetween(column, other) : collationBetween(other, column),
    };
  });
}

const defaultCollation = 'pg_catalog."default"';

/** Of two collations PostgreSQL uses the one that is not the default; if neither is, it refuses to compare. */
function collationBetween(referring: CatalogColumn, { collation }: CatalogColumn): ColumnPair['collation'] {
  if (collation === null || referring.collation === null || collation === referring.collation) return null;
  return { sql: collation, implied: referring.collation === defaultCollation };
}

function namesOf(columns: readonly CatalogColumn[]): string[] {
  return columns.map(({ name }) => name);
}

function hasLegalName({ relation }: Candidate): boolean {
  return isFreeName(relation.fieldName);
}

function withNames(context: BuildContext, { key, relation, yields }: Candidate): NamedRelation {
  const { local, localColumns } = key;
  const qualified = qualifiedFieldName(relation.fieldName, namesOf(localColumns), local.traits.schema.inflection);
  // The key may have a column whose name is illegal in GraphQL.
  return {
    relation,
    key,
    qualified: isFreeName(qualified) ? qualified : `${relation.fieldName}2`,
    yields,
    apart: isApart(context, key, relation),
  };
}

function isApart(context: BuildContext, { toPartition, local, localColumns }: ForeignKey, { holdsKey }: Relation): boolean {
  if (!toPartition) return false;
  const constraints = context.links.of(local.id).outgoing.filter(({ kind }) => kind === 'constraint');
  const whole = foreignKeysOf(context, constraints).find((key) => namesOf(key.localColumns).join() === namesOf(localColumns).join());
  if (whole === undefined) return false;
  return holdsKey ? outgoingName(whole) !== lowerFirst(whole.target.stem) : whole.localName !== null;
}

function exclusionOf(owner: LazyTable, { key, relation }: Candidate): Exclusion {
  const side = relation.holdsKey ? 'foreign_name' : 'local_name';
  const problem = `"${relation.fieldName}" is not a valid GraphQL name for a field of ${owner.schema}.${owner.name}`;
  const reason = `${problem}; choose another with {"${side}": "..."} in the comment directive`;
  return { object: 'relation', id: key.local.id, name: key.name, ...new Excluded('illegal-name', reason) };
}
