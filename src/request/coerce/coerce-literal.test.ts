import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  parseValue,
} from 'graphql';
import { account, sampleModel } from '../../../test/support/sample-model.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { cursorScalar, orderByDirection, scalarTypes } from '../../schema/value-types.ts';
import type { InputValue } from '../operation.ts';
import { coerceInputLiteral } from './coerce-literal.ts';

const filter = runAtOnce(buildSchema(sampleModel)).getType('AccountFilter') as GraphQLInputType;
const constant = (value: string | boolean) => ({ kind: 'constant', value }) as const;
const encode = (json: string) => Buffer.from(json).toString('base64');

function read(type: GraphQLInputType, text: string, variables: Record<string, InputValue> = {}): InputValue | undefined {
  return coerceInputLiteral(type, parseValue(text), new Map(Object.entries(variables)));
}

describe('coerceInputLiteral', () => {
  it('keeps the text of scalars as written in the document', () => {
    assert.deepEqual(read(GraphQLInt, '7'), constant('7'));
    assert.deepEqual(read(scalarTypes.BigInt, '12345678901234567890'), constant('12345678901234567890'));
    assert.deepEqual(read(scalarTypes.Float, '1.10e5'), constant('1.10e5'));
    assert.deepEqual(read(scalarTypes.String, '"a\\n\\u0041"'), constant('a\nA'));
    assert.deepEqual(read(GraphQLBoolean, 'false'), constant(false));
    assert.equal(read(GraphQLInt, 'null'), null);
  });

  it('coerces lists, including a single item', () => {
    const list = new GraphQLList(GraphQLInt);
    assert.deepEqual(read(list, '[1, null]'), { kind: 'list', items: [constant('1'), null] });
    assert.deepEqual(read(list, '1'), { kind: 'list', items: [constant('1')] });
    assert.deepEqual(read(list, '[]'), { kind: 'list', items: [] });
    assert.equal(read(list, 'null'), null);
  });

  it('coerces objects, with the bindings of their fields', () => {
    assert.deepEqual(read(filter, '{ name: { eq: "x" } }'), {
      kind: 'object',
      entries: [
        {
          name: 'name',
          binding: { at: 'filter', kind: 'column', column: account.columns[1] },
          value: {
            kind: 'object',
            entries: [{ name: 'eq', binding: { at: 'operators', kind: 'operator', operator: 'eq' }, value: constant('x') }],
          },
        },
      ],
    });
  });

  it('coerces values that change the SQL to choices', () => {
    assert.deepEqual(read(orderByDirection, 'AscNullsFirst'), { kind: 'choice', name: 'AscNullsFirst' });
  });

  it('decodes cursors and nodeIds', () => {
    assert.deepEqual(read(cursorScalar, JSON.stringify(encode('[1, null]'))), { kind: 'cursor', elements: [constant('1'), null] });
    assert.deepEqual(read(GraphQLID, JSON.stringify(encode('["s", "t", 1]'))), {
      kind: 'identifier',
      schema: 's',
      table: 't',
      elements: [constant('1')],
    });
    assert.throws(() => read(cursorScalar, '"?"'), { code: 'BAD_USER_INPUT' });
  });

  it('takes the coerced values of variables', () => {
    const bindValue = { kind: 'variable', index: 0 } as const;
    assert.deepEqual(read(GraphQLInt, '$v', { v: bindValue }), bindValue);
    assert.deepEqual(read(new GraphQLList(GraphQLInt), '[$v, $absent]', { v: bindValue }), { kind: 'list', items: [bindValue, null] });
    assert.equal(read(GraphQLInt, '$v', { v: null }), null);
  });

  it('omits fields whose variable was not sent', () => {
    assert.equal(read(GraphQLInt, '$absent'), undefined);
    assert.deepEqual(read(filter, '{ name: $absent }'), { kind: 'object', entries: [], unsent: ['name'] });
  });

  it('omits a null variable if the field is non-null and has a default', () => {
    const fields = { least: { type: new GraphQLNonNull(GraphQLInt), default: { value: 1 } }, name: { type: GraphQLInt } };
    const type = new GraphQLInputObjectType({ name: 'Choice', fields });
    const entries = [{ name: 'name', binding: undefined, value: null }];
    assert.deepEqual(read(type, '{ least: $v, name: $v }', { v: null }), { kind: 'object', entries });
  });

  it('rejects a null variable for a non-null argument', () => {
    assert.throws(() => read(new GraphQLNonNull(GraphQLInt), '$v', { v: null }), {
      code: 'BAD_USER_INPUT',
      message: 'Variable "$v" is null, but Int! is expected.',
    });
  });
});
