/**
 * The schemas of roles with random grants, which share what is known of tables and build types as they are asked for, against schemas that share nothing: each
 * over a catalog of its own, with all tables filled in.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  printSchema,
} from 'graphql';
import { runAtOnce } from '../../src/budget/turns.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { loadCatalog } from '../../src/catalog/load-catalog.ts';
import { loadRole, readPrivileges } from '../../src/catalog/privileges.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { buildModel, buildReportedModel } from '../../src/model/build-model.ts';
import { buildSchema } from '../../src/schema/build-schema.ts';
import type { LazySchema } from '../../src/schema/lazy/lazy-schema.ts';
import { type CaseDatabase, type DatabaseSource, startDatabaseSource } from '../conformance/case-database.ts';
import { randomSchema, roles } from './random-schema.ts';
import { RandomSource } from './random-source.ts';
import { dropStatement, schemaStatements } from './schema-sql.ts';

const seeds = Array.from({ length: 8 }, (_, index) => 100 + index);
const alteredRoles = 6;

describe('the schemas of roles with random grants', () => {
  let source: DatabaseSource;
  let database: CaseDatabase;

  before(async () => {
    source = await startDatabaseSource('pglite');
    database = await source.open();
  });
  after(async () => {
    await database.close();
    await source.stop();
  });

  for (const seed of seeds) {
    it(`are those of schemas that share nothing, whatever is asked first (seed ${seed})`, async () => {
      const random = new RandomSource(seed);
      const schema = randomSchema(random, seed, new Set());
      await database.run(schemaStatements(schema).join(';\n'));
      const { catalog, privileges } = await load(database, schema.name);
      const altered = Array.from({ length: alteredRoles }, () => alter(random.pick(privileges), catalog, random));
      const printed = new Set<string>();
      for (const text of random.shuffled([...privileges, ...altered, ...altered])) {
        const asked = schemaOf(catalog, text);
        readSome(asked, random);
        const apart = structuredClone(catalog);
        const whole = runAtOnce(buildReportedModel(apart, readPrivileges(apart, { name: '', privileges: text })));
        assert.equal(printSchema(asked), printSchema(runAtOnce(buildSchema(whole))), text);
        assert.deepEqual(typesWithTwins(asked), [], text);
        printed.add(printSchema(asked));
      }
      assert.ok(printed.size > 1);
      await database.run(dropStatement(schema));
    });
  }
});

/** The catalog, and the privileges of all roles. */
async function load({ target }: CaseDatabase, schema: string): Promise<{ catalog: Catalog; privileges: string[] }> {
  const database = openDatabase(target, { poolSize: 1, observe: () => undefined });
  try {
    const catalog = await loadCatalog(database, [schema]);
    const privileges: string[] = [];
    for (const role of roles) privileges.push((await loadRole(database, catalog, role)).privileges);
    return { catalog, privileges };
  } finally {
    await database.close();
  }
}

/** Privileges as `loadRole` gives them, some of them others. */
function alter(privileges: string, catalog: Catalog, random: RandomSource): string {
  const raw = JSON.parse(privileges) as Record<'tables' | 'functions' | 'types', string | null> & { columns: number[][] | null };
  const change = (digits: string | null, most: number) =>
    digits && Array.from(digits, (digit) => (random.chance(0.3) ? random.integer(0, most).toString(16) : digit)).join('');
  const some = catalog.tables.flatMap(({ id, columns }) => columns.filter(() => random.chance(0.1)).map(({ number }) => [id, number]));
  const columns = some.map((column) => [...column, random.integer(0, 7)]);
  return JSON.stringify({
    ...raw,
    tables: change(raw.tables, 15),
    functions: change(raw.functions, 1),
    types: change(raw.types, 1),
    columns: [...(raw.columns ?? []), ...columns],
  });
}

function schemaOf(catalog: Catalog, privileges: string): LazySchema {
  return runAtOnce(buildSchema(runAtOnce(buildModel(catalog, readPrivileges(catalog, { name: '', privileges })))));
}

/** Asks for some types and their fields. */
function readSome(schema: LazySchema, random: RandomSource): void {
  for (const name of random.sample(schema.typeNames(), 20)) fieldsOf(schema.getType(name)!);
  const names = Object.keys(schema.getQueryType().getFields());
  for (const name of random.sample(names, 5)) schema.getField(schema.getQueryType(), name);
  for (const name of ['Gone', 'GoneFilter', 'Filter', 'Key', 'toString', '__proto__']) {
    assert.equal(schema.getType(name) !== undefined, schema.typeNames().includes(name), name);
    assert.equal(schema.getField(schema.getQueryType(), name) !== undefined, names.includes(name), name);
  }
}

type Field = GraphQLField<unknown, unknown> | GraphQLInputField;

function fieldsOf(type: GraphQLNamedType): readonly Field[] {
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
  return Object.values<Field>(type.getFields());
}

/** The names of types that fields, arguments and interfaces have another object for than the schema. */
function typesWithTwins(schema: LazySchema): string[] {
  const reached = Object.values(schema.getTypeMap()).flatMap((type): GraphQLType[] => [
    ...fieldsOf(type).flatMap((field) => [field.type, ...('args' in field ? field.args.map((argument) => argument.type) : [])]),
    ...(isObjectType(type) ? type.getInterfaces() : []),
  ]);
  const named = new Set(reached.map((type): GraphQLNamedType => getNamedType(type)).filter(({ name }) => !name.startsWith('__')));
  return [...named].filter((type) => schema.getType(type.name) !== type).map(({ name }) => name);
}
