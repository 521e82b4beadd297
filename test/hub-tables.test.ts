/** Tables that hundreds of others refer to: what clients may write of them is found step by step, and their fields are built as they are asked for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type GraphQLInputObjectType, type GraphQLObjectType, printType } from 'graphql';
import { runAtOnce } from '../src/budget/turns.ts';
import { loadCatalog } from '../src/catalog/load-catalog.ts';
import { loadPrivileges } from '../src/catalog/privileges.ts';
import type { Database } from '../src/database/database.ts';
import { openDatabase } from '../src/database/open-database.ts';
import { buildModel } from '../src/model/build-model.ts';
import type { Model } from '../src/model/model.ts';
import { buildSchema } from '../src/schema/build-schema.ts';
import { startTestDatabases, type TestDatabases } from './support/test-databases.ts';

const count = 250;

describe('a table that many others refer to', () => {
  let databases: TestDatabases;
  let database: Database;
  const modelOf = async (role: string): Promise<Model> => {
    const catalog = await loadCatalog(database, ['public']);
    return runAtOnce(buildModel(catalog, await loadPrivileges(database, catalog, role)));
  };

  before(async () => {
    databases = await startTestDatabases();
    const { url } = await databases.create(`
      create role reader; grant reader to authenticator; grant usage on schema public to reader;
      alter default privileges in schema public grant select on tables to reader;
      create table person (id int primary key, name text);
      do $$ begin for i in 1..${count} loop
        execute format('create table t%s (id int primary key, person_id int references person, note text)', i);
      end loop; end $$;`);
    database = openDatabase(url, { observe: () => undefined });
  });
  after(async () => {
    await database.close();
    await databases.close();
  });

  it('has the fields that are asked for, without the others or their tables', async () => {
    const model = await modelOf('reader');
    const schema = runAtOnce(buildSchema(model));
    const before = model.countBuilt();
    const fields = (schema.getType('person') as GraphQLObjectType).getFields();
    assert.equal(String(fields['t7Collection']!.type), 't7Connection');
    assert.equal(fields['t7collection'], undefined);
    assert.deepEqual(Object.keys(fields).slice(0, 4), ['nodeId', 'id', 'name', 't1Collection']);
    assert.equal(Object.keys(fields).length, 3 + count);
    assert.ok(model.countBuilt() - before <= 2, `${model.countBuilt() - before} tables filled in`);
    for (const type of ['personFilter', 'personOrderBy']) {
      assert.equal(String((schema.getType(type) as GraphQLInputObjectType).getFields()['t7Collection']!.type), `t7${type.slice(6)}ToMany`);
    }
    assert.ok(model.countBuilt() - before <= 2, `${model.countBuilt() - before} tables filled in`);
  });

  it('is introspected field by field', async () => {
    const schema = runAtOnce(buildSchema(await modelOf('reader')));
    const type = schema.buildType('person') as GraphQLObjectType;
    const each = [...schema.fieldsOf(type)!].map((field) => `${field.name}: ${field.type}`);
    assert.deepEqual(each.slice(0, 4), ['nodeId: ID!', 'id: Int!', 'name: String', 't1Collection: t1Connection']);
    assert.equal(each.length, 3 + count);
    assert.deepEqual(
      [...printType(type).matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name),
      each.map((field) => field.split(':')[0]),
    );
  });

  it('is prepared for nested writes in steps that fill in a table each', async () => {
    const model = await modelOf('service_role');
    const steps = buildSchema(model);
    let most = 0;
    for (;;) {
      const before = model.countBuilt();
      const { done, value: schema } = steps.next();
      most = Math.max(most, model.countBuilt() - before);
      if (!done) continue;
      assert.ok(model.countBuilt() > count, 'the tables are filled in');
      const fieldsOf = (type: string) => Object.keys((schema.getType(type) as GraphQLInputObjectType).getFields());
      assert.deepEqual(fieldsOf('personUpdateToOne'), ['delete', 'disconnect', 'update', 'connect', 'connectOrCreate', 'create']);
      assert.equal(fieldsOf('personInsertInput').length, 2 + count);
      break;
    }
    assert.ok(most <= 2, `${most} tables in one step`);
  });
});
