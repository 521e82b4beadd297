import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GraphQLInt, GraphQLObjectType, parse, validate } from 'graphql';
import { LazySchema } from './lazy-schema.ts';
import { TypeRegistry } from './type-registry.ts';

/**
 * A registry of object types with these names, which records in `built` each type that it builds. `Query` has a field of each other type.
 */
function registryOf(names: readonly string[], built: string[]): TypeRegistry {
  const registry = new TypeRegistry();
  for (const name of names) {
    const define = name === 'Query' || name === 'Mutation' ? registry.defineAlways : registry.define;
    define.call(registry, name, () => {
      built.push(name);
      const fields = () => {
        const others = name === 'Query' ? names.filter((other) => other !== 'Query') : [];
        return {
          number: { type: GraphQLInt },
          ...Object.fromEntries(others.map((other) => [other.toLowerCase(), { type: registry.object(other) }])),
        };
      };
      return new GraphQLObjectType({ name, fields });
    });
  }
  return registry;
}

describe('LazySchema', () => {
  let built: string[];
  let schema: LazySchema;

  beforeEach(() => {
    built = [];
    schema = new LazySchema(registryOf(['Query', 'One', 'Two', 'Mutation'], built));
  });

  it('builds nothing when constructed', () => {
    assert.equal(schema.getRootType('subscription'), undefined);
    assert.deepEqual(built, []);
  });

  it('builds a type on first use, once', () => {
    assert.equal(schema.getType('One'), schema.getType('One'));
    assert.equal(schema.getQueryType(), schema.getRootType('query'));
    assert.deepEqual(built, ['One', 'Query']);
  });

  it('builds nothing for unknown names, inherited properties or introspection types', () => {
    for (const name of ['Gone', 'constructor', '__proto__', 'toString']) assert.equal(schema.getType(name), undefined, name);
    assert.equal(schema.getType('__Type')?.name, '__Type');
    assert.deepEqual(built, []);
  });

  it('builds every type if all are requested', () => {
    const names = Object.keys(schema.getTypeMap());
    for (const name of ['Query', 'One', 'Two', 'Mutation', '__Schema']) assert.ok(names.includes(name), name);
    assert.deepEqual([...new Set(built)].sort(), ['Mutation', 'One', 'Query', 'Two']);
  });

  it('lists types only if something leads to them', () => {
    const registry = registryOf(['Query', 'One'], built);
    for (const [name, leadsTo] of [
      ['Far', 'Query'],
      ['Near', 'Far'],
    ] as const)
      registry.define(name, () => new GraphQLObjectType({ name, fields: { to: { type: registry.object(leadsTo) } } }));
    const names = new LazySchema(registry).typeNames();
    assert.deepEqual(
      ['Far', 'Near', 'One', 'Query'].filter((name) => names.includes(name)),
      ['One', 'Query'],
    );
  });

  it('validates documents, and has a Mutation type only if it is defined', () => {
    assert.deepEqual(validate(schema, parse('query a { one { number } } mutation b { number }')), []);
    const readOnly = new LazySchema(registryOf(['Query'], []));
    assert.equal(readOnly.getMutationType(), undefined);
    assert.equal(readOnly.getRootType('mutation'), undefined);
  });
});
