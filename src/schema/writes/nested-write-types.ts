/**
 * The input fields of inserts and updates that write related rows. An addition to pg_graphql's schema. For the author and the comments of a
 * post:
 *
 *     input AuthorInsertToOne { connect: AuthorKey  connectOrCreate: AuthorConnectOrCreate  create: AuthorInsertInput }
 *     input CommentUpdateToMany { delete: CommentNestedDelete … create: [CommentInsertInput!] }
 */
import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import type { Table } from '../../model/model.ts';
import type { AdditionSuffix } from '../../model/naming/graphql-names.ts';
import { type NestedVerb, nestedVerbs, type WritableRelation, writableRelations } from '../../model/relations/writable-relations.ts';
import { bindInput } from '../bindings.ts';
import { emptyRecord } from '../lazy/lazy-object-type.ts';
import {
  inputType,
  type NestedVerbs,
  type RelatedSuffix,
  type TableType,
  type TableTypes,
  type TypeRegistry,
} from '../lazy/type-registry.ts';
import { columnInputs, inputTypeOf } from '../value-types.ts';
import { incrementArgument, jsonArgument, restriction } from './write-arguments.ts';

const writings = ['Insert', 'Update'] as const;
type Writing = (typeof writings)[number];

const toOne = ['InsertToOne', 'UpdateToOne'] as const;
const toMany = ['InsertToMany', 'UpdateToMany'] as const;

export const nestedWriteTypes = {
  InsertToOne: relatedType('InsertToOne'),
  InsertToMany: relatedType('InsertToMany'),
  UpdateToOne: relatedType('UpdateToOne'),
  UpdateToMany: relatedType('UpdateToMany'),
  Key: memberType([...toOne, ...toMany], ['connect', 'set'], (typeName) => `A \`${typeName}\` by all fields of one of its keys`, keyFields),
  ConnectOrCreate: memberType(
    [...toOne, ...toMany],
    ['connectOrCreate'],
    (typeName) => `A \`${typeName}\`, and what tells that it is already there`,
    connectOrCreateFields,
  ),
  NestedUpdate: memberType(
    toOne,
    ['update'],
    (typeName) => `An update of the related \`${typeName}\``,
    (registry, table) => updateFields(registry, table, false),
  ),
  NestedUpdateMany: memberType(
    toMany,
    ['update'],
    (typeName) => `An update of related \`${typeName}\` records`,
    (registry, table) => updateFields(registry, table, true),
  ),
  NestedDelete: memberType(toMany, ['delete', 'disconnect'], (typeName) => `Which of the related \`${typeName}\` records`, restriction),
} as const satisfies Partial<TableTypes>;

/** What nested writes of all referring tables can do with a table's rows. Cached. */
function verbsFor(table: Table, registry: TypeRegistry): NestedVerbs {
  const cached = registry.nestedVerbs.get(table);
  if (cached) return cached;
  const verbs: MutableVerbs = new Map();
  for (const referrer of table.referrers) addVerbs(verbs, registry, referrer, table);
  registry.nestedVerbs.set(table, verbs);
  return verbs;
}

/** With more referring tables than this, finding the verbs of a table must yield, or other requests would have to wait. */
const manyReferrers = 200;

/**
 * Finds what nested writes can do with rows of tables that many others refer to, and fills in those others, in steps. Does nothing for a
 * role that cannot write.
 */
export function* prepareHubs(registry: TypeRegistry, tables: readonly Table[]): Generator<void, void> {
  for (const table of tables) {
    yield;
    if (!table.additions.has('nestedWrites') || table.referrers.length < manyReferrers) continue;
    const verbs: MutableVerbs = new Map();
    for (const referrer of table.referrers) {
      addVerbs(verbs, registry, referrer, table);
      yield;
    }
    registry.nestedVerbs.set(table, verbs);
    if (!table.insertable && !table.updatable) continue;
    // Its inputs have a member for each of them.
    for (const referrer of table.referrers) {
      verbsFor(referrer, registry);
      yield;
    }
  }
}

type MutableVerbs = Map<RelatedSuffix, Set<NestedVerb>>;

/** Adds what nested writes of `referrer` can do with rows of `table`. */
function addVerbs(verbs: MutableVerbs, registry: TypeRegistry, referrer: Table, table: Table): void {
  if (!referrer.additions.has('nestedWrites')) return;
  for (const writing of writings) {
    if (!registry.hasOf(referrer, `${writing}Input`)) continue;
    for (const writable of writableRelations(referrer).byTarget.get(table) ?? []) {
      const suffix = suffixOf(writable, writing);
      const found = verbsOf(registry, writable, writing);
      if (found.length > 0) verbs.set(suffix, new Set([...(verbs.get(suffix) ?? []), ...found]));
    }
  }
}

function relatedType(suffix: RelatedSuffix): TableType {
  const many = suffix.endsWith('ToMany');
  const described = many ? ' records, in the order of its fields' : ' record: exactly one field';
  return inputType(
    (table, registry) => verbsFor(table, registry).has(suffix),
    (registry, table) => relatedFields(registry, table, many, verbsFor(table, registry).get(suffix)!),
    (typeName) => `Writes to the related \`${typeName}\`${described}`,
  );
}

/** A type for the input fields of these verbs, if any input has them. */
function memberType(
  suffixes: readonly RelatedSuffix[],
  members: readonly NestedVerb[],
  describe: (typeName: string) => string,
  fieldsOf: (registry: TypeRegistry, table: Table) => GraphQLInputFieldConfigMap,
): TableType {
  const has: TableType['has'] = (table, registry) => {
    const verbs = verbsFor(table, registry);
    return suffixes.some((suffix) => members.some((verb) => verbs.get(suffix)?.has(verb)));
  };
  return inputType(has, fieldsOf, describe);
}

/** The input fields of an insert or update that write related rows. */
export function nestedWriteFields(registry: TypeRegistry, table: Table, writing: Writing): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const writable of writableRelations(table).usable) {
    const { target, fieldName } = writable.relation;
    if (verbsOf(registry, writable, writing).length === 0) continue;
    const type = registry.inputOf(target, suffixOf(writable, writing));
    fields[fieldName] = { type, ...bindInput('write', { kind: 'nested write', relation: writable }) };
  }
  return fields;
}

function suffixOf({ relation }: WritableRelation, writing: Writing): RelatedSuffix {
  return `${writing}${relation.kind === 'to-one' ? 'ToOne' : 'ToMany'}`;
}

/** The verbs that the role may use and whose input types exist. */
function verbsOf(registry: TypeRegistry, { relation: { target }, insert, update }: WritableRelation, writing: Writing): NestedVerb[] {
  const has = (suffix: 'InsertInput' | 'UpdateInput' | 'OnConflictInput') => registry.hasOf(target, suffix);
  return [...(writing === 'Insert' ? insert : update)].filter((verb) => {
    if (verb === 'create') return has('InsertInput');
    if (verb === 'connectOrCreate') return has('InsertInput') && has('OnConflictInput');
    return verb !== 'update' || has('UpdateInput');
  });
}

const descriptions: Readonly<Record<NestedVerb, (typeName: string) => string>> = {
  delete: (typeName) => `Deletes the related \`${typeName}\``,
  disconnect: (typeName) => `Ends the relation to the \`${typeName}\`, which stays`,
  update: (typeName) => `Updates the related \`${typeName}\``,
  set: (typeName) => `Relates exactly these \`${typeName}\` records, and disconnects all others`,
  connect: (typeName) => `Relates a \`${typeName}\` that is already there`,
  connectOrCreate: (typeName) => `Inserts a \`${typeName}\` unless it is already there, and relates it`,
  create: (typeName) => `Inserts a \`${typeName}\` and relates it`,
};

function relatedFields(registry: TypeRegistry, table: Table, many: boolean, verbs: ReadonlySet<NestedVerb>): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const verb of nestedVerbs) {
    if (verbs.has(verb)) fields[verb] = { ...fieldOf(registry, table, verb, many), description: descriptions[verb](table.typeName) };
  }
  return fields;
}

function fieldOf(registry: TypeRegistry, table: Table, verb: NestedVerb, many: boolean): GraphQLInputFieldConfig {
  const input = (suffix: AdditionSuffix | 'InsertInput') => registry.inputOf(table, suffix);
  const perhapsMany = (type: GraphQLInputObjectType): GraphQLInputFieldConfig => ({
    type: many ? new GraphQLList(new GraphQLNonNull(type)) : type,
  });
  switch (verb) {
    case 'create':
      return perhapsMany(input('InsertInput'));
    case 'connect':
    case 'set':
      return perhapsMany(input('Key'));
    case 'connectOrCreate':
      return perhapsMany(input('ConnectOrCreate'));
    case 'update':
      return perhapsMany(input(many ? 'NestedUpdateMany' : 'NestedUpdate'));
    default:
      return many ? { type: input('NestedDelete') } : { type: GraphQLBoolean, ...bindInput('nested write', { kind: 'switch' }) };
  }
}

function keyFields(registry: TypeRegistry, { uniqueKeys, typeName }: Table): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  fields[registry.nodeIdField] = {
    type: GraphQLID,
    description: `The \`ID\` of the \`${typeName}\``,
    ...bindInput('key', { kind: 'node id' }),
  };
  return Object.assign(
    fields,
    columnInputs('key', uniqueKeys.flat(), 'filterName', ({ type }) => inputTypeOf(type, registry)),
  );
}

function connectOrCreateFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const create = registry.inputOf(table, 'InsertInput');
  const onConflict = registry.inputOf(table, 'OnConflictInput');
  return {
    create: { type: new GraphQLNonNull(create), description: 'The record to insert' },
    onConflict: {
      type: new GraphQLNonNull(onConflict),
      description: 'How to recognize a record that already exists, and what to do with it',
    },
  };
}

function updateFields(registry: TypeRegistry, table: Table, many: boolean): GraphQLInputFieldConfigMap {
  const { filter, atMost } = restriction(registry, table);
  return {
    set: { type: new GraphQLNonNull(registry.inputOf(table, 'UpdateInput')), description: 'Fields to set' },
    ...incrementArgument(registry, table),
    ...jsonArgument(registry, table),
    filter: filter!,
    ...(many && { atMost: atMost! }),
  };
}
