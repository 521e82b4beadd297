/**
 * That the schema says what can be asked: of tables, types and functions with odd names and of all kinds, every field can be selected, and
 * every member of the arguments of collections is taken, alike in the document and in a variable. What PostgreSQL cannot use, such as "a" as
 * an address, is the client's error.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parseValue,
  printType,
  validateSchema,
  valueFromASTUntyped,
} from 'graphql';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

/** Names that JavaScript, GraphQL or the additions have a use for. */
const names = ['true', 'null', 'constructor', 'toString', '__proto__', 'then', 'select', 'a b', 'ключ', 'search', 'nearest', 'distance'];
const texts = (type: string): string => names.map((name) => `"${name}" ${type}`).join(', ');

const schemaSql = `
  comment on schema public is '@graphql({"introspection": true})';
  create extension pg_trgm; create extension ltree; create extension citext;
  create type "constructor" as (${texts('text')}, "__x" int);
  create type "toString" as enum ('true', 'b-c', '2', 'ok');
  create type "IntRange" as range (subtype = float8);
  create domain "valueOf" as int check (value > 0);
  create domain "PageInfo" as jsonb;
  create table "SearchInput" (id int primary key, t tsvector);
  create table "odd table" (
    id int primary key, ${texts('text')}, c "constructor", cs "constructor"[], e "toString", es "toString"[], d "valueOf", p "PageInfo",
    "a_b" jsonb, "filter" json, "is" int4range, "isBounds" text, "and" int4multirange, "or" text[], "not" "IntRange", "back\\slash" inet,
    "new\nline" ltree, ci citext unique, "path" interval, "first" timestamptz, "depth" int, up int references "odd table",
    by int references "odd table", shape jsonb, pt point, unique ("true", "null"), constraint "null" unique ("then")
  );
  comment on table "odd table" is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "search": {"columns": ["true", "a b", "search"]}})';
  comment on column "odd table".shape is '@graphql({"shape": {"type": "object", "properties": {
    "or": {"type": "integer"}, "not": {"type": "string"}, "constructor": {"type": "string"}, "quote''s": {"type": "number"},
    "select": {"type": "object", "title": "String", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}}}}})';
  insert into "odd table" (id, "true", c, e, es, up, by, shape)
    select n, 'fox ' || n, row(${names.map((name) => `'${name}'`).join(', ')}, n)::"constructor", 'b-c', '{true,ok}', nullif(n - 1, 0), 1, '{"or": 1}'
    from generate_series(1, 4) as n;
  create function "toString"("true" "constructor", "select" int default 1, first int default null) returns setof "constructor" immutable language sql as 'select $1';
  create function "constructor"("odd table", sep text default '-') returns text stable language sql as 'select $1."true" || sep';
  create function columns() returns table ("a b" int, a_b int, "ключ" "toString", id int) stable language sql as $$ select 1, 2, 'ok'::"toString", 3 $$;
  create function "then"(a int) returns int stable language sql as 'select a';
  create function "then"(b int4range default '[1,2)') returns int4range stable language sql as 'select b';`;

let started: TestGraph;
let schema: GraphQLSchema;
before(async () => {
  started = await startTestGraph(schemaSql);
  schema = buildSchema(await started.graph.sdl({ role: 'service_role' }));
});
after(() => started.stop());

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: Readonly<Record<string, unknown>> }[];
}
const answer = async (query: string, variables?: Readonly<Record<string, unknown>>): Promise<Answer> =>
  JSON.parse(JSON.stringify(await started.graph.execute({ query, variables }, { role: 'service_role' })));

test('the schema is valid, and introspection describes the same types', async () => {
  assert.deepEqual(validateSchema(schema), []);
  const seen = buildClientSchema(
    (await started.ask(getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true }))) as never,
  );
  assert.deepEqual(validateSchema(seen), []);
  const printed = (of: GraphQLSchema): string[] =>
    Object.values(of.getTypeMap())
      .filter(({ name }) => !name.startsWith('__'))
      .map((type) => printType(type))
      .sort();
  assert.deepEqual(printed(seen), printed(schema));
});

test('every field can be selected', async () => {
  const selection = (type: GraphQLOutputType, levels: number): string => {
    const named = getNamedType(type);
    if (!isObjectType(named)) return isLeafType(named) ? '' : ' { __typename }';
    const fields = Object.values(named.getFields()).filter((field) => !field.args.some(isRequiredArgument));
    const inner = fields.filter((field) => levels > 0 || isLeafType(getNamedType(field.type)));
    return ` { __typename ${inner.map((field) => field.name + selection(field.type, levels - 1)).join(' ')} }`;
  };
  for (const field of Object.values(schema.getQueryType()!.getFields())) {
    if (field.args.some(isRequiredArgument)) continue;
    const { errors } = await answer(`{ ${field.name}${selection(field.type, 3)} }`);
    assert.equal(errors, undefined, `${field.name}: ${errors?.[0]?.message}`);
  }
});

test('every member of an argument is taken, alike as a literal and in a variable', async () => {
  const seen = new Set<string>();
  const errorCodes: readonly unknown[] = ['BAD_USER_INPUT', 'INVALID_VALUE'];
  for (const field of Object.values(schema.getQueryType()!.getFields())) {
    if (!field.name.endsWith('Collection')) continue;
    for (const argument of field.args) {
      for (const literal of literalsOf(argument.type, 4, seen)) {
        const written = await answer(`{ ${field.name}(${argument.name}: ${literal}) { edges { cursor } } }`);
        const code = written.errors?.[0]?.extensions['code'];
        if (code !== undefined) assert.ok(errorCodes.includes(code), `${argument.name}: ${literal}: ${written.errors?.[0]?.message}`);
        assert.deepEqual(await inVariable(field.name, argument, literal), code ?? written.data, `${argument.name}: ${literal}`);
      }
    }
  }
});

/** The data, or the code of the error. */
async function inVariable(field: string, { name, type }: GraphQLArgument, literal: string): Promise<unknown> {
  const query = `query ($value: ${type}) { ${field}(${name}: $value) { edges { cursor } } }`;
  const { data, errors } = await answer(query, { value: valueFromASTUntyped(parseValue(literal)) });
  return errors?.[0]?.extensions['code'] ?? data;
}

const scalarLiterals: ReadonlyMap<string, string> = new Map([
  ['Int', '1'],
  ['Float', '1.5'],
  ['Boolean', 'true'],
  ['JSON', '"{}"'],
  ['ID', '"WyJwdWJsaWMiLCAib2RkIHRhYmxlIiwgMV0="'],
]);

/**
 * Literals of a type that have each member of the objects in it. Only the first object of a type has all of them: further ones, such as the
 * filters of other texts, have one.
 */
function literalsOf(type: GraphQLInputType, levels: number, seen: Set<string>): readonly string[] {
  if (isNonNullType(type)) return literalsOf(type.ofType, levels, seen);
  if (isListType(type)) return literalsOf(type.ofType, levels, seen).map((literal) => `[${literal}]`);
  if (isEnumType(type)) return type.getValues().map(({ name }) => name);
  if (!isInputObjectType(type)) return [scalarLiterals.get(type.name) ?? '"a"'];
  const fields = levels > 0 ? Object.values(type.getFields()) : [];
  const shown = seen.has(type.name) ? fields.slice(0, 1) : fields;
  seen.add(type.name);
  return shown.flatMap((field) => {
    const others = fields.filter((other) => other !== field && isRequiredInputField(other));
    const required = others.map((other) => `${other.name}: ${literalsOf(other.type, levels - 1, seen)[0]}`);
    return literalsOf(field.type, levels - 1, seen).map((literal) => `{${[...required, `${field.name}: ${literal}`].join(', ')}}`);
  });
}
