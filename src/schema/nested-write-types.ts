/**
 * The members of inserts and updates that write related rows. An addition to pg_graphql's schema. For the author and the comments of a post:
 *
 *     input AuthorInsertToOne { connect: AuthorKey  connectOrCreate: AuthorConnectOrCreate  create: AuthorInsertInput }
 *     input CommentUpdateToMany { delete: CommentNestedDelete … create: [CommentInsertInput!] }
 */
import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { type AdditionSuffix, tableTypeName } from '../model/graphql-names.ts';
import type { Table } from '../model/model.ts';
import { type NestedVerb, nestedVerbs, type WritableRelation, writableRelations } from '../model/writable-relations.ts';
import { bindInput } from './bindings.ts';
import { emptyRecord } from './empty-record.ts';
import { incrementArgument } from './increment-types.ts';
import { restriction } from './restriction.ts';
import type { TypeRegistry } from './type-registry.ts';
import { inputTypeOf, isInputValue } from './types-of-values.ts';

type Writing = 'Insert' | 'Update';

/** Defines the types that the inputs of these tables lead to. Those inputs must already be there. */
export function* defineNestedWrites(registry: TypeRegistry, tables: readonly Table[], nodeIdField: string): Generator<void, void> {
  const used = new Map<string, { readonly table: Table; readonly suffix: AdditionSuffix; readonly verbs: Set<NestedVerb> }>();
  for (const table of tables) {
    for (const writing of ['Insert', 'Update'] as const) {
      if (!registry.has(tableTypeName(table, `${writing}Input`))) continue;
      for (const writable of writableRelations(table).usable) {
        const { target } = writable.relation;
        const suffix = suffixOf(writable, writing);
        const name = tableTypeName(target, suffix);
        const verbs = used.get(name)?.verbs ?? new Set();
        for (const verb of verbsOf(registry, writable, writing)) verbs.add(verb);
        if (verbs.size > 0) used.set(name, { table: target, suffix, verbs });
      }
    }
    yield;
  }
  for (const [name, { table, suffix, verbs }] of used) {
    const many = suffix.endsWith('ToMany');
    registry.define(name, () => relatedInput(registry, table, name, many, verbs));
    definePartsOf(registry, table, many, verbs, nodeIdField);
    yield;
  }
}

/** The fields of the input of an insert or update that lead to related rows. */
export function nestedWriteFields(registry: TypeRegistry, table: Table, writing: Writing): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  for (const writable of writableRelations(table).usable) {
    const { target, fieldName } = writable.relation;
    if (verbsOf(registry, writable, writing).length === 0) continue;
    const type = registry.input(tableTypeName(target, suffixOf(writable, writing)));
    fields[fieldName] = { type, ...bindInput({ kind: 'nested write', relation: writable }) };
  }
  return fields;
}

function suffixOf({ relation }: WritableRelation, writing: Writing): AdditionSuffix {
  return `${writing}${relation.kind === 'to-one' ? 'ToOne' : 'ToMany'}`;
}

/** What the role may do, as far as the types are there that it takes. */
function verbsOf(registry: TypeRegistry, { relation: { target }, insert, update }: WritableRelation, writing: Writing): NestedVerb[] {
  const has = (suffix: 'InsertInput' | 'UpdateInput' | 'OnConflictInput') => registry.has(tableTypeName(target, suffix));
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

function relatedInput(
  registry: TypeRegistry,
  table: Table,
  name: string,
  many: boolean,
  verbs: ReadonlySet<NestedVerb>,
): GraphQLInputObjectType {
  const one = many ? '' : ': exactly one member';
  return new GraphQLInputObjectType({
    name,
    description: `What becomes of the related \`${table.typeName}\`${many ? ' records, in the order of the members' : one}`,
    fields: () => {
      const fields: GraphQLInputFieldConfigMap = emptyRecord();
      for (const verb of nestedVerbs) {
        if (verbs.has(verb)) fields[verb] = { ...fieldOf(registry, table, verb, many), description: descriptions[verb](table.typeName) };
      }
      return fields;
    },
  });
}

function fieldOf(registry: TypeRegistry, table: Table, verb: NestedVerb, many: boolean): GraphQLInputFieldConfig {
  const input = (suffix: AdditionSuffix | 'InsertInput') => registry.input(tableTypeName(table, suffix));
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
      return many ? { type: input('NestedDelete') } : { type: GraphQLBoolean, ...bindInput({ kind: 'switch' }) };
  }
}

/** Defines the types of the members, each once. */
function definePartsOf(registry: TypeRegistry, table: Table, many: boolean, verbs: ReadonlySet<NestedVerb>, nodeIdField: string): void {
  const define = (suffix: AdditionSuffix, description: string, fields: () => GraphQLInputFieldConfigMap) => {
    const name = tableTypeName(table, suffix);
    if (!registry.has(name)) registry.define(name, () => new GraphQLInputObjectType({ name, description, fields }));
  };
  const { typeName } = table;
  if (verbs.has('connect') || verbs.has('set'))
    define('Key', `A \`${typeName}\` by all fields of one of its keys`, () => keyFields(registry, table, nodeIdField));
  if (verbs.has('connectOrCreate'))
    define('ConnectOrCreate', `A \`${typeName}\`, and what tells that it is already there`, () => connectOrCreateFields(registry, table));
  if (verbs.has('update')) {
    if (many) define('NestedUpdateMany', `An update of related \`${typeName}\` records`, () => updateFields(registry, table, true));
    else define('NestedUpdate', `An update of the related \`${typeName}\``, () => updateFields(registry, table, false));
  }
  if (many && (verbs.has('delete') || verbs.has('disconnect')))
    define('NestedDelete', `Which of the related \`${typeName}\` records`, () => restriction(registry, table));
}

function keyFields(registry: TypeRegistry, { uniqueKeys, typeName }: Table, nodeIdField: string): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = emptyRecord();
  fields[nodeIdField] = { type: GraphQLID, description: `The \`ID\` of the \`${typeName}\``, ...bindInput({ kind: 'node id' }) };
  for (const column of uniqueKeys.flat()) {
    const type = isInputValue(column.type) ? inputTypeOf(column.type, registry) : undefined;
    if (type) fields[column.filterName] = { type, ...bindInput({ kind: 'column', column }) };
  }
  return fields;
}

function connectOrCreateFields(registry: TypeRegistry, table: Table): GraphQLInputFieldConfigMap {
  const create = registry.input(tableTypeName(table, 'InsertInput'));
  const onConflict = registry.input(tableTypeName(table, 'OnConflictInput'));
  return {
    create: { type: new GraphQLNonNull(create), description: 'The record to insert' },
    onConflict: { type: new GraphQLNonNull(onConflict), description: 'What tells that it is already there, and what becomes of it then' },
  };
}

function updateFields(registry: TypeRegistry, table: Table, many: boolean): GraphQLInputFieldConfigMap {
  const { filter, atMost } = restriction(registry, table);
  return {
    set: { type: new GraphQLNonNull(registry.input(tableTypeName(table, 'UpdateInput'))), description: 'Fields to set' },
    ...incrementArgument(registry, table),
    filter: filter!,
    ...(many && { atMost: atMost! }),
  };
}
