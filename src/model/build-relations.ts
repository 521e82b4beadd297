/**
 * The relations of the visible tables: each foreign key as a field of both its tables, whether PostgreSQL has it or a comment directive
 * declares it.
 */
import type { CatalogColumn } from '../catalog/catalog.ts';
import type { Draft, TableDraft } from './draft.ts';
import { collectForeignKeys, type ForeignKey } from './foreign-keys.ts';
import { LeftOut } from './left-out.ts';
import type { Relation } from './model.ts';
import { isFreeName, qualifiedFieldName, toManyFieldName, toOneFieldName } from './names.ts';

/** Fills the relations of the tables of the draft. Outgoing keys come before incoming ones, each in the order of the keys. */
export function* addRelations(draft: Draft): Generator<void, void> {
  const keys = yield* collectForeignKeys(draft);
  const relations = new Map<TableDraft, Candidate[]>();
  const add = (owner: TableDraft, candidate: Candidate) => {
    const others = relations.get(owner);
    if (others) others.push(candidate);
    else relations.set(owner, [candidate]);
  };
  for (const key of keys) {
    add(key.local, { key, relation: outgoing(key) });
    yield;
  }
  for (const key of keys) {
    add(key.target, { key, relation: incoming(key) });
    yield;
  }
  for (const [owner, candidates] of relations) {
    owner.table.relations = withOwnNames(draft, owner, candidates);
    yield;
  }
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
    unique: isUnique(target, targetColumns) && !target.source.hasChildren,
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
    unique: unique && !local.source.hasChildren,
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
  const last = new Map(candidates.map((candidate) => [candidate.relation.fieldName, candidate]));
  const taken = new Set([...last.keys(), 'nodeId']);
  const relations: Relation[] = [];
  for (const candidate of candidates) {
    const { fieldName } = candidate.relation;
    if (!isFreeName(fieldName) || fieldName === 'nodeId') {
      omit(draft, owner, candidate, 'illegal-name', `"${fieldName}" cannot be the name of a relation`);
    } else if (last.get(fieldName) === candidate) {
      relations.push(candidate.relation);
    } else {
      const qualified = qualify(candidate);
      const free = isFreeName(qualified) && !taken.has(qualified) && !owner.table.columns.some((column) => column.fieldName === qualified);
      if (free) relations.push({ ...candidate.relation, fieldName: qualified });
      else omit(draft, owner, candidate, 'name-taken', `other fields have the names "${fieldName}" and "${qualified}"`);
      taken.add(qualified);
    }
  }
  return relations;
}

function qualify({ key: { local, localColumns }, relation }: Candidate): string {
  return qualifiedFieldName(relation.fieldName, namesOf(localColumns), local.schema.inflection);
}

function omit(
  { omissions }: Draft,
  owner: TableDraft,
  { key, relation }: Candidate,
  cause: 'illegal-name' | 'name-taken',
  problem: string,
): void {
  const side = relation.target === key.target.table ? 'foreign_name' : 'local_name';
  const reason = `${problem} in ${owner.table.schema}.${owner.table.name}: name it with {"${side}": "..."} in the comment directive`;
  omissions.push({ object: 'relation', id: key.local.table.id, name: key.name, ...new LeftOut(cause, reason) });
}
