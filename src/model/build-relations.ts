/**
 * The relations of the visible tables: each foreign key as a field of both its tables, whether PostgreSQL has it or a comment directive
 * declares it.
 */
import type { CatalogColumn } from '../catalog/catalog.ts';
import type { Draft, TableDraft } from './draft.ts';
import { collectForeignKeys, type ForeignKey } from './foreign-keys.ts';
import type { Relation } from './model.ts';
import { isFreeName, qualifiedFieldName, toManyFieldName, toOneFieldName } from './names.ts';

/** Fills the relations of the tables of the draft. Outgoing keys come before incoming ones, each in the order of the keys. */
export function addRelations(draft: Draft): void {
  const keys = collectForeignKeys(draft);
  const relations = new Map<TableDraft, Candidate[]>();
  const add = (owner: TableDraft, candidate: Candidate) => relations.set(owner, [...(relations.get(owner) ?? []), candidate]);
  for (const key of keys) add(key.local, { key, relation: outgoing(key) });
  for (const key of keys) add(key.target, { key, relation: incoming(key) });
  for (const [owner, candidates] of relations) owner.table.relations = withOwnNames(draft, owner, candidates);
}

interface Candidate {
  readonly key: ForeignKey;
  readonly relation: Relation;
}

function outgoing({ localColumns, target, targetColumns, foreignName, nullable }: ForeignKey): Relation {
  return {
    fieldName: foreignName ?? toOneFieldName(target.table.typeName, namesOf(localColumns), target.schema.inflection),
    kind: 'to-one',
    target: target.table,
    columns: pairs(localColumns, targetColumns),
    nullable,
    unique: isUnique(target, targetColumns),
  };
}

function incoming({ local, localColumns, targetColumns, localName }: ForeignKey): Relation {
  const unique = isUnique(local, localColumns);
  const name = unique
    ? toOneFieldName(local.table.typeName, namesOf(targetColumns), local.schema.inflection)
    : toManyFieldName(local.table.typeName);
  return {
    fieldName: localName ?? name,
    kind: unique ? 'to-one' : 'to-many',
    target: local.table,
    columns: pairs(targetColumns, localColumns),
    nullable: true,
    unique,
  };
}

/** Whether a unique index has no other columns than these. */
function isUnique({ source }: TableDraft, columns: readonly CatalogColumn[]): boolean {
  const numbers = columns.map(({ number }) => number);
  return source.indexes.some((index) => index.unique && index.columns.every((number) => numbers.includes(number)));
}

function pairs(near: readonly CatalogColumn[], target: readonly CatalogColumn[]): Relation['columns'] {
  return near.map((column, position) => ({ near: column.name, target: target[position]?.name ?? '' }));
}

function namesOf(columns: readonly CatalogColumn[]): string[] {
  return columns.map(({ name }) => name);
}

/** Of two relations that claim one name the later keeps it, as in the reference; the other is named after its columns too. */
function withOwnNames(draft: Draft, owner: TableDraft, candidates: readonly Candidate[]): Relation[] {
  const taken = new Set<string>();
  const named: Relation[] = [];
  const qualified: Candidate[] = [];
  const keep = (candidate: Candidate, fieldName: string) => {
    taken.add(fieldName);
    named.push({ ...candidate.relation, fieldName });
  };
  for (const candidate of [...candidates].reverse()) {
    const { fieldName } = candidate.relation;
    if (!isFreeName(fieldName) || fieldName === 'nodeId') omit(draft, owner, candidate, `"${fieldName}" cannot be the name of a relation`);
    else if (taken.has(fieldName)) qualified.push(candidate);
    else keep(candidate, fieldName);
  }
  // Only now, so that a name that was made up takes none that another relation has by itself.
  const columns = new Set(owner.table.columns.map(({ fieldName }) => fieldName));
  for (const candidate of qualified) {
    const { local, localColumns } = candidate.key;
    const fieldName = qualifiedFieldName(candidate.relation.fieldName, namesOf(localColumns), local.schema.inflection);
    const free = isFreeName(fieldName) && !taken.has(fieldName) && !columns.has(fieldName);
    if (free) keep(candidate, fieldName);
    else omit(draft, owner, candidate, `other relations have the names "${candidate.relation.fieldName}" and "${fieldName}"`);
  }
  return inOrder(candidates, named);
}

/** The named relations in the order of the candidates that they were made of. */
function inOrder(candidates: readonly Candidate[], named: readonly Relation[]): Relation[] {
  const position = (relation: Relation) =>
    candidates.findIndex((candidate) => candidate.relation.columns === relation.columns && candidate.relation.target === relation.target);
  return [...named].sort((a, b) => position(a) - position(b));
}

function omit({ omissions }: Draft, owner: TableDraft, { key, relation }: Candidate, problem: string): void {
  const side = relation.target === key.target.table ? 'foreign_name' : 'local_name';
  const reason = `${problem} in ${owner.table.schema}.${owner.table.name}: name it with {"${side}": "..."} in the comment directive`;
  omissions.push({ object: 'relation', name: key.name, reason });
}
