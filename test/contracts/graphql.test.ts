/** What rowgraph needs of graphql-js beyond its documentation. */
import assert from 'node:assert/strict';
import {
  buildSchema,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  getNullableType,
  introspectionTypes,
  isListType,
  isObjectType,
  parse,
  SchemaMetaFieldDef,
  specifiedRules,
  TypeMetaFieldDef,
  validate,
} from 'graphql';
import { documentSource, isAborted, readOfSchema } from '../../src/schema/lazy/graphql-internals.ts';
import { LazySchema } from '../../src/schema/lazy/lazy-schema.ts';
import { TypeRegistry } from '../../src/schema/lazy/type-registry.ts';
import { contract } from './contract.ts';

/** A schema of `Query`, one type that it leads to, and types that nobody asks for. */
function lazySchema(built: string[] = []): LazySchema {
  const registry = new TypeRegistry();
  const define = (name: string, fields: () => GraphQLFieldConfigMap<unknown, unknown>) =>
    registry.defineAlways(name, (): GraphQLNamedType => {
      built.push(name);
      return new GraphQLObjectType({ name, fields });
    });
  define('Query', () => ({ one: { type: registry.object('One'), args: { text: { type: GraphQLString } } } }));
  define('One', () => ({ number: { type: GraphQLInt }, one: { type: registry.object('One') } }));
  for (let index = 0; index < 100; index += 1) define(`Other${index}`, () => ({ number: { type: GraphQLInt } }));
  return new LazySchema(registry);
}

const document = `query ($text: String) { one(text: $text) { ...F one { ... on One { number } } } } fragment F on One { number }`;

contract('graphql', 'schema/lazy/lazy-schema.ts', 'validation builds only the types that a document uses', () => {
  const built: string[] = [];
  const schema = lazySchema(built);
  for (const text of [
    document,
    '{ one { gone } }',
    '{ ... on Gone { x } }',
    'query ($x: Gone) { one { number(x: $x) } }',
    '{ __schema { types { name } } }',
  ]) {
    // The rules that `parse-document.ts` replaces do ask for more.
    const rules = specifiedRules.filter(({ name }) => name !== 'KnownTypeNamesRule');
    validate(schema, parse(text), rules, { hideSuggestions: true });
  }
  assert.deepEqual(built.sort(), ['One', 'Query']);
  assert.deepEqual(validate(schema, parse(document)), []);
});

contract('graphql', 'schema/lazy/graphql-internals.ts', 'a document that spreads too many fragments is said to be aborted', () => {
  const count = 400;
  const fragments = Array.from(
    { length: count },
    (_, index) => `fragment F${index} on One { number ${index > 0 ? `...F${index - 1}` : ''} }`,
  );
  const operations = Array.from({ length: count }, (_, index) => `query Q${index} { one { ...F${index} } }`);
  const errors = validate(lazySchema(), parse([...fragments, ...operations].join('\n')));
  assert.ok(errors.some(isAborted));
});

contract('graphql', 'schema/lazy/graphql-internals.ts', 'errors have positions in a text that was taken away', () => {
  const text = '{\n one {\n  gone\n } }';
  const { source, dropText } = documentSource(text);
  const node = parse(source);
  dropText();
  const [error] = validate(lazySchema(), node, specifiedRules, { hideSuggestions: true });
  assert.deepEqual(error?.positions, [text.indexOf('gone')]);
  assert.equal(error?.message, 'Cannot query field "gone" on type "One".');
});

contract('graphql', 'schema/lazy/graphql-internals.ts', 'introspection has these types, fields and descriptions', () => {
  const named = new Map(introspectionTypes.map((type) => [type.name, type]));
  assert.deepEqual([...named.keys()].sort(), [
    '__Directive',
    '__DirectiveLocation',
    '__EnumValue',
    '__Field',
    '__InputValue',
    '__Schema',
    '__Type',
    '__TypeKind',
  ]);
  assert.match(named.get('__Directive')!.description!, /GraphQL's execution/);
  assert.match(named.get('__Type')!.description!, /\.$/);
  assert.deepEqual(Object.keys(SchemaMetaFieldDef.toConfig().args ?? {}), []);
  assert.deepEqual(Object.keys(TypeMetaFieldDef.toConfig().args ?? {}), ['name']);
});

/** An object of which nothing else may be read. */
function onlyWith<Value extends object>(value: Value, name: string, isKnown: (member: string | symbol) => boolean): Value {
  return new Proxy(value, {
    get: (target, member) => {
      assert.ok(isKnown(member), `${name}.${String(member)}`);
      const found: unknown = Reflect.get(target, member);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

/** Fields whose resolvers in graphql-js are never called. */
const replaced = new Set(['__Schema.types', '__Type.possibleTypes']);

contract(
  'graphql',
  'schema/lazy/graphql-internals.ts',
  'resolvers of introspection are synchronous, and read of info the schema and the type, of the schema few members',
  () => {
    const schema = buildSchema('"text" type Query { one(text: String = "a"): [E!] @deprecated } enum E { A } input I @oneOf { a: E }');
    const described = onlyWith(schema, 'schema', (name) => readOfSchema.some((known) => known === name));
    const infoOf = (parentType: GraphQLObjectType) => {
      const info = { schema: described, parentType };
      return onlyWith(info, 'info', (name) => name in info) as unknown as GraphQLResolveInfo;
    };
    /** Resolves all fields of a value, to a depth at which everything has been seen. */
    const resolve = (type: GraphQLOutputType, value: unknown, depth: number): void => {
      assert.ok(!(value instanceof Promise), String(type));
      if (value === null || value === undefined || depth === 0) return;
      const nullable = getNullableType(type);
      if (isListType(nullable)) for (const each of value as Iterable<unknown>) resolve(nullable.ofType, each, depth);
      if (!isObjectType(nullable)) return;
      for (const field of Object.values(nullable.getFields())) {
        if (replaced.has(`${nullable.name}.${field.name}`)) continue;
        resolve(field.type, field.resolve!(value, { includeDeprecated: true }, undefined, infoOf(nullable)), depth - 1);
      }
    };
    const query = schema.getQueryType()!;
    resolve(SchemaMetaFieldDef.type, SchemaMetaFieldDef.resolve!(undefined, {}, undefined, infoOf(query)), 6);
    for (const name of ['Query', 'E', 'I', 'String', '__Type'])
      resolve(TypeMetaFieldDef.type, TypeMetaFieldDef.resolve!(undefined, { name }, undefined, infoOf(query)), 6);
  },
);
