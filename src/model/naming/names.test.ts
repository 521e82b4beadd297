import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  argumentNameOf,
  columnFieldName,
  enumValueNames,
  isEnumValueName,
  isFreeName,
  legalName,
  qualifiedFieldName,
  routineFieldName,
  toManyFieldName,
  toOneFieldName,
  typeNameOf,
} from './names.ts';

describe('names', () => {
  it('gives enum values unique legal names, and keeps those that are legal', () => {
    const names = ['odd-key', 'odd key', 'odd_key', '2nd', '_2nd', 'null', 'true', '__proto__', '__', 'é', 'Null', 'constructor'];
    const given = ['odd_key2', 'odd_key3', 'odd_key', '_2nd2', '_2nd', '_null', '_true', '_proto__', '_', 'e', 'Null', 'constructor'];
    assert.deepEqual(enumValueNames(names), given);
    assert.ok(given.every(isEnumValueName));
  });

  it('inflects table names', () => {
    const inflected = {
      account: 'Account',
      account_holder: 'AccountHolder',
      account_BY_email: 'AccountBYEmail',
      art_object_2: 'ArtObject2',
      MixedTable: 'MixedTable',
      SHOUT: 'SHOUT',
      _hidden: 'Hidden',
      trailing_: 'Trailing',
      many__under: 'ManyUnder',
      x1_y2: 'X1Y2',
      'has-dash': 'Has-Dash',
      émigré_ñu: 'ÉmigréÑu',
      '': '',
    };
    for (const [name, expected] of Object.entries(inflected)) assert.equal(typeNameOf(name, true), expected);
    for (const name of Object.keys(inflected)) assert.equal(typeNameOf(name, false), name);
  });

  it('names columns, arguments and functions', () => {
    assert.equal(columnFieldName('UPPER_CASE', true), 'uPPERCASE');
    assert.equal(columnFieldName('UpperCol', false), 'UpperCol');
    assert.equal(argumentNameOf('x2y_3z', true), 'x2y3z');
    assert.equal(argumentNameOf('A_b', false), 'a_b');
    assert.equal(routineFieldName('_full_name', true), 'fullName');
    assert.equal(routineFieldName('__twice', false), '_twice');
    assert.equal(routineFieldName('GetMe', false), 'getMe');
  });

  it('names relations after the column or the target', () => {
    assert.equal(toOneFieldName('Person', ['host_id'], true), 'host');
    assert.equal(toOneFieldName('Person', ['host'], true), 'person');
    assert.equal(toOneFieldName('Person', ['hostId'], true), 'person');
    assert.equal(toOneFieldName('Person', ['hostId'], false), 'host');
    assert.equal(toOneFieldName('Person', ['host_id'], false), 'person');
    assert.equal(toOneFieldName('Person', ['_id'], true), 'person');
    assert.equal(toOneFieldName('Person', ['a_id', 'b_id'], true), 'person');
    assert.equal(toManyFieldName('Person'), 'personCollection');
    assert.equal(qualifiedFieldName('person', ['host_id', 'at'], true), 'personByHostIdAt');
    assert.equal(qualifiedFieldName('person', ['host_id'], false), 'personByHost_id');
  });

  it('makes legal names of illegal ones, and keeps the others', () => {
    const derived = (inflection: boolean) => (name: string) => legalName(name, (own) => typeNameOf(own, inflection));
    const names = [
      'user-role',
      'has space',
      '2nd',
      'naïve',
      'nai\u0308ve',
      'Größe',
      'Straße',
      'ключ',
      '表',
      'x²',
      '🚀x',
      '__a',
      '',
      '%',
      'a–b',
      'Ñandú_x',
      'a_b',
    ];
    assert.deepEqual(names.map(derived(false)), [
      ...[
        'user_role',
        'has_space',
        '_2nd',
        'naive',
        'naive',
        'Grosse',
        'Strasse',
        'u043au043bu044eu0447',
        'u8868',
        'x2',
        'u1f680x',
        '_a',
        '_',
        '_',
      ],
      ...['a_b', 'Nandu_x', 'a_b'],
    ]);
    assert.deepEqual(names.map(derived(true)), [
      ...[
        'UserRole',
        'HasSpace',
        '_2nd',
        'Naive',
        'Naive',
        'Grosse',
        'Strasse',
        'U043au043bu044eu0447',
        'U8868',
        'X2',
        'U1f680x',
        'A',
        '_',
        '_',
      ],
      ...['AB', 'NanduX', 'AB'],
    ]);
    for (const inflection of [true, false]) assert.ok(names.map(derived(inflection)).every(isFreeName));
  });

  it('recognizes legal GraphQL names', () => {
    for (const name of ['a', '_', '_a__', 'A9']) assert.ok(isFreeName(name), name);
    for (const name of ['', '9', 'a b', 'a-b', 'ñ', 'a$', 'a\n', '__', '__a']) assert.ok(!isFreeName(name), JSON.stringify(name));
    assert.ok(isEnumValueName('TRUE'));
    for (const name of ['true', 'false', 'null', '__A', '']) assert.ok(!isEnumValueName(name), name);
  });
});
