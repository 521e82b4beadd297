/**
 * The relations of the visible tables: each foreign key as a field of both its tables, whether PostgreSQL has it or a comment directive
 * declares it.
 */
import type { CatalogColumn } from '../catalog/catalog.ts';
import type { BuildContext, TableContext } from './build-context.ts';
import { Excluded } from './excluded.ts';
import { collectForeignKeys, type ForeignKey } from './foreign-keys.ts';
import type { InferredKey, Relation } from './model.ts';
import { isFreeName, qualifiedFieldName, toManyFieldName, toOneFieldName } from './names.ts';

/** Fills the relations of the tables of the context. Outgoing keys come before incoming ones, each in the order of the keys. */
export function* addRelations(context: BuildContext): Generator<void, void> {
  const keys = yield* collectForeignKeys(context);
  const relations = new Map<TableContext, Candidate[]>();
  const add = (owner: TableContext, candidate: Candidate) => {
    const others = relations.get(owner);
    if (others) others.push(candidate);
    else relations.set(owner, [candidate]);
  };
  for (const key of keys) {
    add(key.local, { key, relation: outgoing(key) });
    yield;
  }
  for (const key of keys) {
    // A relation to rows without a key could not be paged.
    if (key.local.key === null) continue;
    add(key.target, { key, relation: incoming(context, key) });
    yield;
  }
  context.inferredKeys.push(...keys.filter(({ inferred }) => inferred).map(toInferredKey));
  for (const [owner, candidates] of relations) {
    owner.table.relations = withLegalNames(context, owner, candidates);
    yield;
  }
}

interface Candidate {
  readonly key: ForeignKey;
  readonly relation: Relation;
}

function toInferredKey({ local, localColumns, target, targetColumns }: ForeignKey): InferredKey {
  return { tableId: local.table.id, columns: namesOf(localColumns), target: target.table, targetColumns: namesOf(targetColumns) };
}

function outgoing({ localColumns, target, targetColumns, foreignName, nullable }: ForeignKey): Relation {
  return {
    fieldName: foreignName ?? toOneFieldName(target.table.stem, namesOf(localColumns), target.schema.inflection),
    kind: 'to-one',
    target: target.table,
    holdsKey: true,
    columns: pairs(localColumns, targetColumns),
    nullable,
    unique: isUnique(target, targetColumns) && !target.source.hasChildren,
  };
}

function incoming(context: BuildContext, { local, localColumns, targetColumns, localName, inferred }: ForeignKey): Relation {
  const unique = isUnique(local, localColumns) || (inferred && isUniqueInView(context, local, localColumns));
  const name = unique
    ? toOneFieldName(local.table.stem, namesOf(targetColumns), local.schema.inflection)
    : toManyFieldName(local.table.stem);
  return {
    fieldName: localName ?? name,
    kind: unique ? 'to-one' : 'to-many',
    target: local.table,
    holdsKey: false,
    columns: pairs(targetColumns, localColumns),
    nullable: true,
    unique: isUnique(local, localColumns) && !local.source.hasChildren,
  };
}

/** Whether a unique index has no other columns than these. */
function isUnique({ source }: TableContext, columns: readonly CatalogColumn[]): boolean {
  const numbers = columns.map(({ number }) => number);
  return source.indexes.some((index) => index.unique && index.columns.every((number) => numbers.includes(number)));
}

/** Whether a view shows each row of a table once, and the table has a unique index with no other columns than these. */
function isUniqueInView({ catalog }: BuildContext, { source }: TableContext, columns: readonly CatalogColumn[]): boolean {
  const numbers = columns.map(({ number }) => number);
  return catalog.views.get(source.id)?.unique.some((unique) => unique.every((number) => numbers.includes(number))) ?? false;
}

function pairs(near: readonly CatalogColumn[], target: readonly CatalogColumn[]): Relation['columns'] {
  return near.map((column, position) => ({ near: column.name, target: target[position]?.name ?? '' }));
}

function namesOf(columns: readonly CatalogColumn[]): string[] {
  return columns.map(({ name }) => name);
}

/** The relations with legal names; `settle-row-names.ts` makes them differ. */
function withLegalNames(context: BuildContext, owner: TableContext, candidates: readonly Candidate[]): Relation[] {
  return candidates.flatMap((candidate) => {
    const { key, relation } = candidate;
    if (!isFreeName(relation.fieldName)) {
      if (!candidate.key.inferred) exclude(context, owner, candidate);
      return [];
    }
    const { local, localColumns } = key;
    const qualified = qualifiedFieldName(relation.fieldName, namesOf(localColumns), local.schema.inflection);
    // A column whose name GraphQL cannot carry may be in the key.
    context.relationNames.set(relation, {
      name: key.name,
      qualified: isFreeName(qualified) ? qualified : `${relation.fieldName}2`,
      inferred: key.inferred,
    });
    return [relation];
  });
}

function exclude({ exclusions }: BuildContext, owner: TableContext, { key, relation }: Candidate): void {
  const side = relation.target === key.target.table ? 'foreign_name' : 'local_name';
  const problem = `"${relation.fieldName}" is not a valid GraphQL name for a field of ${owner.table.schema}.${owner.table.name}`;
  const reason = `${problem}; choose another with {"${side}": "..."} in the comment directive`;
  exclusions.push({ object: 'relation', id: key.local.table.id, name: key.name, ...new Excluded('illegal-name', reason) });
}
