import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLFloat } from 'graphql';
import { scalarTypes } from '../../schema/value-types.ts';
import { readScalar } from './coerce-leaf.ts';

describe('readScalar', () => {
  it('keeps every digit of an integer where PostgreSQL reads it', () => {
    for (const type of [scalarTypes.BigInt, scalarTypes.Opaque]) {
      assert.equal(readScalar(type, 9007199254740993n), '9007199254740993');
      assert.equal(readScalar(type, -9007199254740993n), '-9007199254740993');
    }
    assert.equal(readScalar(scalarTypes.Opaque, 1.5), '1.5');
  });

  it('says how to write an object as the text of an Opaque', () => {
    assert.throws(
      () => readScalar(scalarTypes.Opaque, { a: 1 }),
      /Opaque cannot represent an object\. Pass a string in the format of .*"\(1,blue\)" for a composite/,
    );
  });

  it('rounds it for a Float, and refuses it for a text', () => {
    assert.equal(readScalar(GraphQLFloat, 9007199254740993n), '9007199254740992');
    assert.throws(() => readScalar(scalarTypes.UUID, 9007199254740993n), /UUID cannot represent 9007199254740993/);
  });
});
