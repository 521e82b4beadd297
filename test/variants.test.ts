/**
 * Two requests of an operation share its compiled statements if their variables have the same variant, so their SQL must be the same. Tests
 * this with random variables, including names and lists that would look alike without separators.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type GraphQLInputType, getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import { runAtOnce } from '../src/budget/turns.ts';
import { compilePlan } from '../src/compile/compile-plan.ts';
import { planOperation } from '../src/plan/plan-operation.ts';
import { selectFields } from '../src/request/select/select-fields.ts';
import { buildSchema } from '../src/schema/build-schema.ts';
import { RandomSource } from './property/random-source.ts';
import { type ModelBuilder, startModelBuilder } from './support/model-builder.ts';
import { coerceVariableValues, parseDocument } from './support/request-stages.ts';

const tables = `
  create table tag (id int primary key, a text, b text, ab text, n text, c text);
  create table n (id int primary key, tag_id int references tag, a text);
  comment on table tag is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table n is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
`;

const operations = {
  'columns of an upsert': `mutation ($x: [TagUpdateColumn!]!, $y: TagUpdateColumn!, $z: TagUpdateColumn!, $i: TagIncrementInput) {
    insertIntoTagCollection(objects: {id: 1}, onConflict: {constraint: tag_pkey, updateColumns: $x, increment: $i}) { affectedCount }
    second: insertIntoTagCollection(objects: {id: 2}, onConflict: {constraint: tag_pkey, updateColumns: [$y, $z]}) { affectedCount }
  }`,
  'an upsert as a whole': `mutation ($x: TagOnConflictInput!, $y: [TagInsertInput!]!) {
    insertIntoTagCollection(objects: $y, onConflict: $x) { affectedCount }
  }`,
  'orders and cursors': `query ($o: [TagOrderBy!], $c: Cursor, $p: [NOrderBy!]) {
    tagCollection(orderBy: $o, after: $c) { edges { cursor node { nCollection(orderBy: $p) { edges { cursor } } } } }
  }`,
  'cursors, identifiers and conditions': `query ($c: Cursor, $d: Cursor, $i: ID!, $j: ID!, $t: Boolean!, $u: Boolean!) {
    tagCollection(after: $c) { edges { cursor @include(if: $t) node { nCollection(before: $d) { edges { cursor } } } } }
    node(nodeId: $i) @skip(if: $u) { nodeId }
    other: node(nodeId: $j) { nodeId }
  }`,
  filters: `query ($f: TagFilter, $g: NFilter, $h: Int) { tagCollection(filter: $f) { totalCount } nCollection(filter: $g, first: $h) { totalCount } }`,
  groups: `query ($b: [TagGroupBy!]!, $o: [TagGroupOrder!], $h: TagGroupHaving) { tagCollection { groups(by: $b, orderBy: $o, having: $h) { count } } }`,
  'related rows': `mutation ($x: [TagInsertInput!]!, $s: TagUpdateInput!) {
    insertIntoTagCollection(objects: $x) { affectedCount }
    updateTagCollection(set: $s, filter: {id: {eq: 1}}) { affectedCount }
  }`,
};

let builder: ModelBuilder;
before(async () => {
  builder = await startModelBuilder();
});
after(() => builder.close());

test('variables with the same variant have the same SQL', async () => {
  const model = await builder.build(tables);
  const schema = runAtOnce(buildSchema(model));
  for (const [name, text] of Object.entries(operations)) {
    const document = parseDocument(schema, text);
    const operation = document.operations[0]!;
    const random = new RandomSource(7);
    const known = new Map<string, { readonly sql: string; readonly sent: string }>();
    let shared = 0;
    for (let round = 0; round < 3000; round += 1) {
      const sent: Record<string, unknown> = {};
      for (const variable of operation.variables) {
        const value = randomValue(random, variable.type, 3);
        if (value !== undefined) sent[variable.name] = value;
      }
      const { variant, values } = coerceVariableValues(operation.variables, sent);
      let sql: string;
      try {
        const plan = runAtOnce(planOperation(selectFields(schema, document.fragments, operation.node, values), model));
        const { roots, statements } = runAtOnce(compilePlan(plan, null));
        sql = JSON.stringify([
          roots,
          statements.map(({ text: statement, parameters }) => [statement, parameters.map(({ value }) => value)]),
        ]);
      } catch (error) {
        // Rejected before there is any SQL.
        sql = String(error);
      }
      const other = known.get(variant);
      if (other) {
        assert.equal(sql, other.sql, `${name}: ${JSON.stringify(sent)} and ${other.sent} have the variant ${variant}`);
        if (sql.startsWith('[')) shared += 1;
      } else known.set(variant, { sql, sent: JSON.stringify(sent) });
    }
    assert.ok(shared > 20 && known.size > 20, `${name}: ${shared} shared, ${known.size} different`);
  }
});

/** A random value of the type; undefined to leave it out. Values are small, so that many are nearly alike. */
function randomValue(random: RandomSource, type: GraphQLInputType, depth: number): unknown {
  if (!isNonNullType(type)) {
    if (random.chance(0.1)) return undefined;
    if (random.chance(0.1)) return null;
  }
  const bare = getNullableType(type);
  if (isListType(bare)) return Array.from({ length: random.integer(0, 3) }, () => randomValue(random, bare.ofType, depth) ?? null);
  if (isEnumType(bare)) return random.pick(bare.getValues()).name;
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields());
    const required = fields.filter((field) => isNonNullType(field.type));
    const isOneKey = /(OrderBy|GroupBy|GroupOrder|GroupKeyOrder)/.test(bare.name);
    const optional = isOneKey || depth > 0 ? random.sample(fields, isOneKey ? 1 : random.integer(0, 2)) : [];
    const chosen = [...new Set([...required, ...optional])];
    return Object.fromEntries(chosen.map((field) => [field.name, randomValue(random, field.type, depth - 1)]));
  }
  return randomLeaf(random, String(bare));
}

function randomLeaf(random: RandomSource, name: string): unknown {
  const encode = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64');
  const elements = () => Array.from({ length: random.integer(1, 3) }, () => random.pick([1, '2', null]));
  switch (name) {
    case 'Cursor':
      return encode(elements());
    case 'ID':
      return encode(['s1', random.pick(['tag', 'n']), random.pick([1, '2', null])]);
    case 'Boolean':
      return random.chance(0.5);
    case 'Int':
      return random.integer(0, 3);
    case 'Float':
      return 0.5;
    default:
      return random.pick(['1', '2']);
  }
}
