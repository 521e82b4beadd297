import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coerceVariableValues, parseDocument } from '../../../test/support/request-stages.ts';
import { sampleModel } from '../../../test/support/sample-model.ts';
import { noLimits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { buildSchema } from '../../schema/build-schema.ts';
import { parseDocument as parseWithLimits, RequestErrors } from '../validate/parse-document.ts';

const schema = runAtOnce(buildSchema(sampleModel));

/** A query for accounts with these declarations and arguments. */
const accounts = (variables: string, args: string) =>
  `query ${variables && `(${variables})`} { accountCollection(${args}) { totalCount } }`;

function mismatchesOf(text: string): readonly string[] {
  return parseDocument(schema, text, 'lenient').mismatches;
}

/** The messages of a document's errors. */
function errorsOf(text: string): string[] {
  try {
    parseDocument(schema, text, 'lenient');
  } catch (error) {
    assert.ok(error instanceof RequestErrors, String(error));
    return error.errors.map(({ message }) => message);
  }
  return [];
}

/** Name, name in the request, and type of each variable of each operation. */
function declared(text: string): string[][] {
  return parseDocument(schema, text, 'lenient').operations.map(({ variables }) =>
    variables.map(({ name, sentName, type }) => `${name} ${sentName} ${type}`),
  );
}

function coerce(text: string, sent: Readonly<Record<string, unknown>>): { readonly bound: readonly unknown[]; readonly names: string[] } {
  const [operation] = parseDocument(schema, text, 'lenient').operations;
  const { bindValues, values } = coerceVariableValues(operation!.variables, sent, 'lenient');
  return { bound: bindValues, names: [...values.keys()] };
}

describe('adaptDocument', () => {
  it('leaves a valid document as it is', () => {
    const text = accounts('$n: Int = 2, $m: Mood!', 'first: $n, filter: {mood: {eq: $m}, balance: {eq: "1"}}');
    assert.deepEqual(mismatchesOf(text), []);
    assert.deepEqual(declared(text), [['n n Int', 'm m Mood!']]);
  });

  it('says how to write what does not match', () => {
    const cases: readonly (readonly [text: string, mismatch: string])[] = [
      [accounts('', 'filter: {mood: {eq: "calm"}}'), 'filter.mood.eq of "accountCollection" takes Mood: write calm without quotes'],
      [accounts('', 'filter: {name: {is: "NULL"}}'), 'filter.name.is of "accountCollection" takes FilterIs: write NULL without quotes'],
      [
        accounts('$m: String', 'filter: {mood: {eq: $m}}'),
        '$m is declared String, but filter.mood.eq of "accountCollection" takes Mood: declare it as Mood',
      ],
      [
        accounts('$m: [String!]', 'filter: {mood: {in: $m}}'),
        '$m is declared [String!], but filter.mood.in of "accountCollection" takes [Mood!]: declare it as [Mood!]',
      ],
      [
        accounts('$b: bigint!', 'filter: {balance: {eq: $b}}'),
        '$b is declared bigint!, but filter.balance.eq of "accountCollection" takes BigInt: declare it as BigInt!',
      ],
      [
        accounts('$f: AccountFilter', 'filter: {and: [$f]}'),
        '$f is declared AccountFilter, but filter.and of "accountCollection" takes AccountFilter!: declare it as AccountFilter!',
      ],
      [
        accounts('$f: AccountFilter!', 'filter: {and: $f}'),
        '$f is declared AccountFilter!, but filter.and of "accountCollection" takes [AccountFilter!]: declare it as [AccountFilter!]!',
      ],
      [
        accounts('$t: String', 'filter: {name: {eq: $t}, mood: {eq: $t}}'),
        '$t is declared String, but filter.mood.eq of "accountCollection" takes Mood: pass the value in a variable of its own, of type Mood',
      ],
      [
        'query ($n: String) { __type(name: $n) { name } }',
        '$n is declared String, but name of "__type" takes String!: declare it as String!',
      ],
      [
        'query ($c: Boolean) { __typename @include(if: $c) }',
        '$c is declared Boolean, but if of "@include" takes Boolean!: declare it as Boolean!',
      ],
    ];
    for (const [text, mismatch] of cases) assert.deepEqual(mismatchesOf(text), [mismatch], text);
  });

  it('names what does not match in defaults too', () => {
    assert.deepEqual(mismatchesOf(accounts('$m: Mood = "calm"', 'filter: {mood: {eq: $m}}')), [
      'the default of "$m" takes Mood: write calm without quotes',
    ]);
    assert.deepEqual(mismatchesOf(accounts('$m: String = "calm"', 'filter: {mood: {eq: $m}}')), [
      '$m is declared String, but filter.mood.eq of "accountCollection" takes Mood: declare it as Mood',
      'filter.mood.eq of "accountCollection" takes Mood: write calm without quotes',
    ]);
  });

  it('reads one value at each place by the type of that place', () => {
    const text = accounts('$x: String!, $n: Int', 'filter: {name: {eq: $x}, balance: {eq: $x}, tags: {contains: $x}}, first: $n');
    assert.deepEqual(declared(text), [['x x String!', 'x:BigInt x BigInt!', 'x:[String!] x [String!]!', 'n n Int']]);
    assert.deepEqual(coerce(text, { x: '5', n: 1 }), { bound: ['5', '5', ['5'], '1'], names: ['x', 'x:BigInt', 'x:[String!]', 'n'] });
  });

  it('requires a value if one place does, and applies the default at each', () => {
    const required = accounts('$b: BigInt', 'filter: {balance: {in: [$b]}}');
    assert.throws(() => coerce(required, {}), { code: 'BAD_USER_INPUT', message: 'Variable "$b" is required: its type is BigInt!.' });
    assert.throws(
      () => coerce(required, { b: null }),
      /Variable "\$b" got an invalid value: Expected non-nullable type "BigInt!" not to be null/,
    );
    assert.deepEqual(coerce(required, { b: 5 }).bound, ['5']);
    assert.deepEqual(coerce(accounts('$m: String = "calm"', 'filter: {mood: {eq: $m}}'), {}).names, ['m:Mood']);
    assert.deepEqual(coerce(accounts('$m: String = null', 'filter: {mood: {in: [$m]}}'), { m: 'calm' }).bound, ['calm']);
    assert.throws(() => coerce(accounts('$m: String = null', 'filter: {mood: {in: [$m]}}'), {}), /is required/);
  });

  it('says what to send for a value that does not fit', () => {
    const cases: readonly (readonly [text: string, sent: unknown, message: string])[] = [
      [
        accounts('$x: String', 'filter: {mood: {eq: $x}}'),
        'angry',
        'Variable "$x" got an invalid value: Value "angry" does not exist in "Mood" enum. Send "calm" or "wild" for filter.mood.eq of "accountCollection".',
      ],
      [
        accounts('$x: String', 'first: $x'),
        '10',
        'Variable "$x" got an invalid value: Int cannot represent non-integer value: "10". Send a whole number, without quotes, for first of "accountCollection".',
      ],
      [
        accounts('$x: Int', 'filter: {balance: {eq: $x}}'),
        true,
        'Variable "$x" got an invalid value: BigInt cannot represent true. Pass a string or an integer. It is the value for filter.balance.eq of "accountCollection".',
      ],
    ];
    for (const [text, x, message] of cases) assert.throws(() => coerce(text, { x }), { code: 'BAD_USER_INPUT', message });
  });

  it('gives each operation its own declarations for a fragment that several use', () => {
    const text = `query A($x: String!) { ...f } query B($x: Mood) { ...f } query C($x: [String]) { accountCollection(filter: {mood: {in: $x}}) { totalCount } }
      fragment f on Query { accountCollection(filter: {mood: {eq: $x}}) { totalCount } }`;
    assert.deepEqual(declared(text), [['x:Mood x Mood!'], ['x:Mood x Mood'], ['x:[Mood!] x [Mood!]']]);
    assert.deepEqual(mismatchesOf(text), [
      '$x is declared String!, but filter.mood.eq of "accountCollection" takes Mood: declare it as Mood!',
      '$x is declared [String], but filter.mood.in of "accountCollection" takes [Mood!]: declare it as [Mood!]',
    ]);
  });

  it('recognizes conditions', () => {
    const [operation] = parseDocument(schema, 'query ($c: Boolean) { __typename @skip(if: $c) }', 'lenient').operations;
    assert.deepEqual(
      operation?.variables.map(({ isCondition }) => isCondition),
      [true],
    );
  });

  it('refuses what no value could make right', () => {
    const cases: readonly (readonly [text: string, ...messages: string[]])[] = [
      [
        accounts('$f: PostFilter', 'filter: $f'),
        'Variable "$f" of type "PostFilter" used in position expecting type "AccountFilter". Declare the variable as AccountFilter, which filter of "accountCollection" takes.',
      ],
      [
        accounts('$f: account_bool_exp!', 'filter: $f'),
        'Unknown type "account_bool_exp". Declare the variable as AccountFilter, which filter of "accountCollection" takes.',
      ],
      [
        accounts('$x: [BigInt!]', 'filter: {balance: {eq: $x}}'),
        'Variable "$x" of type "[BigInt!]" used in position expecting type "BigInt". Declare the variable as BigInt, which filter.balance.eq of "accountCollection" takes.',
      ],
      [
        accounts('$f: AccountFilter', 'filter: {balance: {eq: $f}}'),
        'Variable "$f" of type "AccountFilter" used in position expecting type "BigInt". Declare the variable as BigInt, which filter.balance.eq of "accountCollection" takes.',
      ],
      [
        'query ($c: String!) { __typename @include(if: $c) }',
        'Variable "$c" of type "String!" used in position expecting type "Boolean!". Declare the variable as Boolean!, which if of "@include" takes.',
      ],
      [
        'query ($c: bool) { __typename @skip(if: $c) }',
        'Unknown type "bool". Declare the variable as Boolean!, which if of "@skip" takes.',
      ],
      [accounts('$x: Account', 'filter: {name: {eq: $x}}'), 'Variable "$x" cannot be non-input type "Account".'],
      [accounts('$x: nothing', 'first: 1'), 'Variable "$x" is never used.', 'Unknown type "nothing".'],
      [accounts('$x: String', 'first: 1'), 'Variable "$x" is never used.'],
      [accounts('$x: String, $x: Int', 'filter: {mood: {eq: $x}}'), 'There can be only one variable named "$x".'],
      [
        accounts('$x: String', 'filter: {mood: {eq: $x}, name: {eq: $y}}'),
        'Variable "$y" is not defined. Declare the variable as String, which filter.name.eq of "accountCollection" takes.',
      ],
      [
        accounts('$x: String', 'filter: {mood: {eq: "angry"}, name: {eq: $x}}'),
        'Value "angry" does not exist in "Mood" enum. Write calm or wild, without quotes, for filter.mood.eq of "accountCollection".',
      ],
      [
        accounts('$x: String', 'filter: {mood: {eq: $x}}, first: "1"'),
        'Int cannot represent non-integer value: "1". Write a whole number, without quotes, for first of "accountCollection".',
      ],
      [
        accounts('$x: String', 'filter: {mood: {eq: $x, no: $x}}'),
        'Expected value of type "MoodFilter" not to include unknown field "no", found: { eq: $x, no: $x }.',
      ],
    ];
    for (const [text, ...messages] of cases) assert.deepEqual(errorsOf(text).slice(0, messages.length), messages, text);
  });

  it('names no values of an enum where messages may suggest nothing', () => {
    const literal = accounts('$x: String', 'filter: {mood: {eq: "angry"}, name: {eq: $x}}');
    assert.throws(
      () => parseDocument(schema, literal, 'lenient', false),
      /Value "angry" does not exist in "Mood" enum. Write a value of this enum, without quotes, for filter.mood.eq of "accountCollection".$/,
    );
    const [operation] = parseDocument(schema, accounts('$x: String', 'filter: {mood: {eq: $x}}'), 'lenient', false).operations;
    assert.throws(
      () => coerceVariableValues(operation!.variables, { x: 'angry' }, 'lenient'),
      /Value "angry" does not exist in "Mood" enum. Send a value of this enum for filter.mood.eq of "accountCollection".$/,
    );
  });

  it('does not multiply the defaults of variables beyond the limits', () => {
    const places = ['name: {in: $x}', 'mood: {in: $x}', 'balance: {in: $x}', 'id: {in: $x}'];
    const text = accounts(`$x: [nothing] = [${'null '.repeat(300)}]`, `filter: {${places.join(' ')}}`);
    const parse = (limits: Partial<typeof noLimits>) =>
      runAtOnce(parseWithLimits(schema, text, { limits: { ...noLimits, ...limits }, coercion: 'lenient', suggests: true }));
    assert.throws(() => parse({ inputValues: 1000 }), { code: 'TOO_MANY_VALUES' });
    assert.throws(() => parse({ listElements: 1000 }), { code: 'TOO_MANY_ELEMENTS' });
    assert.throws(() => parse({}), RequestErrors, 'the elements must not be null');
  });
});
