import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLObjectType, GraphQLString, parse, validate } from 'graphql';
import { LazySchema } from '../../schema/lazy/lazy-schema.ts';
import { TypeRegistry } from '../../schema/lazy/type-registry.ts';
import { KnownTypeNamesRule } from './parse-document.ts';

describe('KnownTypeNamesRule', () => {
  const built: string[] = [];
  const registry = new TypeRegistry();
  for (const name of ['Query', 'Named', 'Unnamed']) {
    registry.define(name, () => {
      built.push(name);
      return new GraphQLObjectType({ name, fields: { text: { type: GraphQLString } } });
    });
  }
  const schema = new LazySchema(registry);

  it('reports unknown type names, with their position', () => {
    const errors = validate(schema, parse('query ($a: Gone, $b: [String!]) { text }\nfragment f on Lost { text }'), [KnownTypeNamesRule]);
    assert.deepEqual(
      errors.map(({ message, locations }) => [message, locations?.[0]?.line]),
      [
        ['Unknown type "Gone".', 1],
        ['Unknown type "Lost".', 2],
      ],
    );
  });

  it('does not take inherited property names for types', () => {
    const errors = validate(schema, parse('fragment f on constructor { text } fragment g on __proto__ { text }'), [KnownTypeNamesRule]);
    assert.equal(errors.length, 2);
  });

  it('builds only the types that are named', () => {
    assert.deepEqual(validate(schema, parse('fragment f on Named { text }'), [KnownTypeNamesRule]), []);
    assert.deepEqual(built, ['Query', 'Named']);
  });
});
