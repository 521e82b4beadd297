import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fieldNames, type ModelBuilder, reasonsByObject, startModelBuilder, tableOf } from '../../../test/support/model-builder.ts';

describe('addRelations', () => {
  let models: ModelBuilder;

  before(async () => {
    models = await startModelBuilder();
  });
  after(() => models.close());

  it('names relations, and renames those whose name a later one claims', async () => {
    const model = await models.build(
      `create table person (id int primary key);
       create table visit (id int primary key, host_id int not null references person, guest int references person, aide int not null references person);
       create table passport (person_id int primary key); alter table passport add foreign key (person_id) references person not valid;
       comment on constraint passport_person_id_fkey on passport is '@graphql({"foreign_name": "owner"})';`,
    );
    const relations = (typeName: string) =>
      tableOf(model, typeName).relations.map(({ fieldName, kind, nullable, unique }) => `${fieldName} ${kind} ${nullable} ${unique}`);
    assert.deepEqual(relations('Visit'), ['host to-one false true', 'personByGuest to-one true true', 'person to-one false true']);
    assert.deepEqual(relations('Passport'), ['owner to-one true true']);
    assert.deepEqual(relations('Person'), [
      'visitCollectionByHostId to-many true false',
      'visitCollectionByGuest to-many true false',
      'visitCollection to-many true false',
      'passport to-one true true',
    ]);
    const [host] = tableOf(model, 'Visit').relations;
    assert.equal(host?.target, tableOf(model, 'Person'));
    assert.deepEqual(
      host?.columns.map(({ near, target }) => [near, target]),
      [['host_id', 'id']],
    );
  });

  it('leads from a table to each partition of the table that it refers to, and back, besides the whole table', async () => {
    const model = await models.build(
      `create table car (id int primary key) partition by range (id); create table car_low partition of car for values from (0) to (10);
       create table car_high partition of car for values from (10) to (90) partition by range (id);
       create table car_mid partition of car_high for values from (10) to (20); create table hidden_part partition of car_high for values from (20) to (30);
       revoke all on hidden_part from service_role;
       create table racer (id int primary key, car_id int not null references car, car_low int);
       create table part (id int primary key, car_id int references car) partition by range (id); create table part_low partition of part for values from (0) to (9);`,
    );
    const relations = (typeName: string) =>
      tableOf(model, typeName).relations.map(({ fieldName, kind, target, nullable, onlyInRows }) =>
        [fieldName, kind, target.name, nullable, onlyInRows].join(' '),
      );
    assert.deepEqual(relations('Racer'), [
      'car to-one car false false',
      'carByCarId to-one car_low true true',
      'carHigh to-one car_high true true',
      'carMid to-one car_mid true true',
    ]);
    assert.deepEqual(relations('CarLow'), ['racerCollection to-many racer true false', 'partCollection to-many part true false']);
    assert.deepEqual(relations('PartLow'), ['car to-one car true false']);
    assert.deepEqual(reasonsByObject(model), {
      'table hidden_part':
        'the role service_role cannot select any of its columns; grant select on the table, or on some of its columns, to the role',
    });
    const [, , column] = tableOf(model, 'Racer').columns;
    assert.deepEqual([column?.fieldName, column?.rowFieldName], ['carLow', 'carLow']);
  });

  it('names relations to partitions, and those of views, after the same of several keys as those to the whole table', async () => {
    const table = (name: string) =>
      `create table ${name} (id int primary key, one int references event, two int references event, three int references event);`;
    const model = await models.build(
      `create table event (id int primary key) partition by range (id); create table event_a partition of event for values from (0) to (9);
       ${table('plain')} create view plain_view as select * from plain; ${table('named')}
       comment on constraint named_three_fkey on named is '@graphql({"local_name": "thirdNamed", "foreign_name": "thirdEvent"})';
       create table inflected (id int primary key, event_id int references event, spare_id int references event);`,
    );
    const columnOf = (typeName: string) =>
      Object.fromEntries(
        tableOf(model, typeName).relations.map(({ fieldName, holdsKey, columns: [pair] }) => [
          fieldName,
          holdsKey ? pair!.near : pair!.target,
        ]),
      );
    assert.deepEqual(columnOf('Plain'), {
      eventByOne: 'one',
      eventByTwo: 'two',
      event: 'three',
      eventAByOne: 'one',
      eventAByTwo: 'two',
      eventA: 'three',
      plainView: 'id',
    });
    assert.deepEqual(columnOf('PlainView'), { eventByOne: 'one', eventByTwo: 'two', event: 'three', plain: 'id' });
    // The name of a comment is not for partitions.
    assert.deepEqual(columnOf('Named'), {
      eventByOne: 'one',
      event: 'two',
      thirdEvent: 'three',
      eventAByOne: 'one',
      eventA: 'two',
      eventAByThree: 'three',
    });
    assert.deepEqual(columnOf('Inflected'), { event: 'event_id', spare: 'spare_id', eventA: 'event_id', spareBySpareId: 'spare_id' });
    const { namedCollection, thirdNamed, plainCollection, inflectedCollection } = columnOf('Event');
    assert.deepEqual([namedCollection, thirdNamed, plainCollection, inflectedCollection], ['two', 'three', 'three', 'spare_id']);
    assert.deepEqual(columnOf('EventA'), {
      plainCollectionByOne: 'one',
      plainCollectionByTwo: 'two',
      plainCollection: 'three',
      namedCollectionByOne: 'one',
      namedCollection: 'two',
      namedCollectionByThree: 'three',
      inflectedCollectionByEventId: 'event_id',
      inflectedCollection: 'spare_id',
    });
  });

  it('makes a relation nullable if row level security may hide its target', async () => {
    const model = await models.build(
      `create table owner (id int primary key); alter table owner enable row level security;
       create table thing (id int primary key, owner_id int not null references owner);`,
    );
    assert.equal(tableOf(model, 'Thing').relations[0]?.nullable, true);
  });

  it('follows foreign keys of directives, and reports why others are left out', async () => {
    const model = await models.build(
      `create schema apart; create table apart.far (id int primary key); create table keyless (id int unique);
       create table shop (id int primary key, code text unique);
       create table item (id int primary key, shop_id int, far_id int references apart.far, keyless_id int references keyless (id));
       do $$ begin execute format('comment on table item is %L', '@graphql(' || json_build_object('foreign_keys', json_build_array(
         json_build_object('local_columns', '{shop_id}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'shop', 'foreign_columns', '{id}'::text[], 'local_name', 'stock'),
         json_build_object('local_columns', '{nope}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'shop', 'foreign_columns', '{id}'::text[]),
         json_build_object('local_columns', '{id}'::text[], 'foreign_schema', current_schema, 'foreign_table', 'nowhere', 'foreign_columns', '{id}'::text[]),
         json_build_object('local_columns', '{id}'::text[])
       ))::text || ')'); end $$;`,
    );
    assert.deepEqual(
      tableOf(model, 'Item').relations.map(({ fieldName, nullable, unique }) => ({ fieldName, nullable, unique })),
      [{ fieldName: 'shop', nullable: true, unique: true }],
    );
    assert.deepEqual(fieldNames(tableOf(model, 'Shop').relations), ['stock']);
    assert.deepEqual(Object.keys(reasonsByObject(model)), [
      'table keyless',
      'relation item.item_far_id_fkey',
      'relation item.item_keyless_id_fkey',
      'relation item.foreign_keys[1]',
      'relation item.foreign_keys[2]',
      'relation item.foreign_keys[3]',
    ]);
  });

  it('requires the columns of both sides to be readable', async () => {
    const model = await models.build(
      `create table up (id int primary key, label text); create table down (id int primary key, up_id int references up);
       revoke all on up from anon; grant select (label) on up to anon;`,
      { role: 'anon' },
    );
    assert.deepEqual([tableOf(model, 'Up').relations, tableOf(model, 'Down').relations], [[], []]);
    assert.match(reasonsByObject(model)['relation down.down_up_id_fkey'] ?? '', /cannot select the column s\d+\.up\.id; /);
  });
});
