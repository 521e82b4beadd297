/**
 * Writes random operations twice: as strict coercion takes them, and with scalars and enums that do not match their places. Both mean the
 * same. In: a source of random choices; out: the two requests.
 */
import type { GraphQLRequest } from '../../src/index.ts';
import type { RandomSource } from '../property/random-source.ts';

export interface Twins {
  readonly strict: GraphQLRequest;
  readonly lenient: GraphQLRequest;
}

/** A part of a document, as each of the twins has it. */
interface Part {
  readonly strict: string;
  readonly lenient: string;
}

interface DeclaredVariable {
  readonly name: string;
  readonly declaration: string;
}

/** A variable of the lenient twin, which later values that are equal may use too. */
interface Shared extends DeclaredVariable {
  readonly value: string;
  readonly isRequired: boolean;
  readonly isList: boolean;
}

const uuid = (number: number) => `10000000-0000-4000-8000-00000000000${number}`;

/** Values by type; those of the second list fit no place of the type. */
const values: Readonly<Record<string, readonly [fitting: readonly unknown[], other: readonly unknown[]]>> = {
  BigInt: [
    [1, 2, '2', '3'],
    [true, 'many', ['1']],
  ],
  UUID: [
    [uuid(1), uuid(2)],
    [5, 'nobody'],
  ],
  direction: [
    ['UP', 'DOWN'],
    ['SIDEWAYS', 5, true],
  ],
  BigFloat: [
    ['1.5', '2.25'],
    [true, 'much'],
  ],
  Datetime: [['2026-01-02T03:04:05Z'], [5, 'later']],
  Date: [['2026-01-02', '2026-02-02'], [20260102]],
  Time: [['03:04:05'], [3]],
  Float: [
    [0.5, 1, 1.5],
    ['0.5', true],
  ],
  Boolean: [
    [true, false],
    ['true', 1],
  ],
  String: [
    ['a', 'UP', 'DOWN', '2026-01-02', uuid(1)],
    [5, false],
  ],
  Int: [
    [10, 20],
    ['10', 1.5, 1e10],
  ],
  Opaque: [['10.0.0.1'], [{}]],
};

const columns: Readonly<Record<string, string>> = {
  id: 'BigInt',
  owner: 'UUID',
  direction: 'direction',
  weight: 'BigFloat',
  cast_at: 'Datetime',
  day: 'Date',
  hour: 'Time',
  ratio: 'Float',
  counted: 'Boolean',
  note: 'String',
  seconds: 'Int',
  address: 'Opaque',
};

/** Columns that may have the same values, so that one variable serves several of them. */
const alike = ['direction', 'note', 'owner'];

/** What variables of the lenient twin are declared as. */
const declaredTypes = [...Object.keys(values), 'ID', 'JSON', 'Cursor', 'OrderByDirection', 'timestamptz', 'uuid', 'Vote_direction'];
const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'];

export class TwinDocuments {
  readonly #random: RandomSource;
  /** The columns that the current pair uses. */
  #columnNames: readonly string[] = [];
  #strict: DeclaredVariable[] = [];
  #lenient: DeclaredVariable[] = [];
  #shared: Shared[] = [];
  #strictValues: Record<string, unknown> = {};
  #lenientValues: Record<string, unknown> = {};

  constructor(random: RandomSource) {
    this.#random = random;
  }

  /** The next pair of requests. */
  next(kind: 'query' | 'mutation'): Twins {
    this.#columnNames = this.#random.chance(0.4) ? alike : Object.keys(columns);
    this.#strict = [];
    this.#lenient = [];
    this.#shared = [];
    this.#strictValues = {};
    this.#lenientValues = {};
    const fields = Array.from({ length: this.#random.integer(1, 3) }, (_, index) => this.#root(kind, `f${index}`));
    const { strict, lenient } = join(fields, ' ');
    const usesFragment = this.#random.chance(0.4);
    const write = (selection: string, declared: readonly DeclaredVariable[]): string => {
      const variables = declared.length > 0 ? `(${declared.map(({ declaration }) => declaration).join(', ')})` : '';
      if (!usesFragment) return `${kind} ${variables} { ${selection} }`;
      return `${kind} One${variables} { ...Part } fragment Part on ${kind === 'query' ? 'Query' : 'Mutation'} { ${selection} }`;
    };
    return {
      strict: { query: write(strict, this.#strict), variables: this.#strictValues },
      lenient: { query: write(lenient, this.#lenient), variables: this.#lenientValues },
    };
  }

  #root(kind: 'query' | 'mutation', key: string): Part {
    if (kind === 'query') return this.#random.chance(0.15) ? this.#lookup(key) : this.#collection(key);
    const filter = () => prefix('filter: ', this.#object(this.#filter()));
    const records = '{ affectedCount records { id direction owner weight note seconds details } }';
    const atMost = 'atMost: 100';
    switch (this.#random.integer(0, 2)) {
      case 0: {
        const objects = this.#objects(key);
        return wrap(`${key}: insertIntovoteCollection(`, prefix('objects: ', objects), `) ${records}`);
      }
      case 1: {
        const set = prefix('set: ', this.#object(this.#columns(1, 3, false)));
        return wrap(`${key}: updatevoteCollection(`, join([set, filter(), same(atMost)], ', '), `) ${records}`);
      }
      default:
        return wrap(`${key}: deleteFromvoteCollection(`, join([filter(), same(atMost)], ', '), `) ${records}`);
    }
  }

  #lookup(key: string): Part {
    return wrap(`${key}: voteByPk(id: `, this.#value('BigInt!', this.#valueOf('BigInt')), ') { id note direction }');
  }

  #collection(key: string): Part {
    const args: Part[] = [];
    if (this.#random.chance(0.8)) args.push(prefix('filter: ', this.#filterValue()));
    if (this.#random.chance(0.3)) args.push(prefix('first: ', this.#value('Int', this.#random.pick([1, 2, 3, null]))));
    if (this.#random.chance(0.2)) args.push(prefix('after: ', this.#value('Cursor', this.#random.pick(['WzFd', null]))));
    else if (this.#random.chance(0.4)) {
      const direction = this.#random.chance(0.9) ? this.#random.pick(directions) : 'Sideways';
      args.push(prefix('orderBy: ', wrap('[{id: ', this.#value('OrderByDirection', direction), '}]')));
    }
    const condition = this.#random.chance(0.2) ? wrap(' @include(if: ', this.#condition(), ')') : same('');
    const list = args.length > 0 ? wrap('(', join(args, ', '), ')') : same('');
    const head = join([same(`${key}: voteCollection`), list, condition], '');
    return wrap('', head, ' { edges { cursor node { id direction owner weight note } } pageInfo { hasNextPage } }');
  }

  /** `@include` takes Boolean alone, but a nullable one. */
  #condition(): Part {
    const value = this.#random.chance(0.7);
    const name = `c${this.#strict.length}`;
    this.#strict.push({ name, declaration: `$${name}: Boolean!` });
    this.#strictValues[name] = value;
    this.#lenient.push({ name, declaration: `$${name}: Boolean` });
    this.#lenientValues[name] = value;
    return same(`$${name}`);
  }

  #filter(depth = 0): Part[] {
    const members = this.#random.sample(this.#columnNames, this.#random.integer(1, 2)).map((column) => {
      const type = columns[column]!;
      if (this.#random.chance(0.15)) return wrap(`${column}: {is: `, this.#value('FilterIs', this.#random.pick(['NULL', 'NOT_NULL'])), '}');
      if (type !== 'Boolean' && type !== 'Opaque' && this.#random.chance(0.35)) {
        const items = Array.from({ length: this.#random.integer(1, 3) }, () => this.#valueOf(type));
        return wrap(`${column}: {in: `, this.#value(`[${type}!]`, items), '}');
      }
      return wrap(
        `${column}: {${type === 'Opaque' || type === 'Boolean' ? 'eq' : this.#random.pick(['eq', 'neq'])}: `,
        this.#value(type, this.#valueOf(type)),
        '}',
      );
    });
    if (depth > 1 || this.#random.chance(0.6)) return members;
    const inner = Array.from({ length: this.#random.integer(1, 2) }, () => this.#filterElement(depth + 1));
    return [...members, wrap(`${this.#random.pick(['and', 'or'])}: [`, join(inner, ', '), ']')];
  }

  #filterElement(depth: number): Part {
    return this.#random.chance(0.4) ? this.#objectVariable('voteFilter', '!', '', this.#filterJson()) : this.#object(this.#filter(depth));
  }

  #filterValue(): Part {
    if (this.#random.chance(0.15)) return this.#objectVariable('voteFilter', '', '', this.#filterJson());
    return this.#object(this.#filter());
  }

  #filterJson(): Record<string, unknown> {
    const column = this.#random.pick(this.#columnNames);
    return { [column]: { eq: this.#valueOf(columns[column]!) } };
  }

  #objects(key: string): Part {
    const id = 100 + Number(key.slice(1)) * 10;
    if (this.#random.chance(0.3)) {
      const object = { id, direction: 'UP', weight: '7.5', details: '{"k": 1}' };
      return this.#objectVariable('[voteInsertInput!]', '!', '', [object], [{ ...object, weight: 7.5 }]);
    }
    const required = [
      wrap('id: ', this.#value('BigInt', id), ''),
      wrap('direction: ', this.#value('direction', this.#valueOf('direction')), ''),
    ];
    const more = this.#random.chance(0.5) ? [wrap('details: ', this.#value('JSON', '{"k": 2}'), '')] : [];
    return wrap('[', this.#object([...required, ...this.#columns(0, 3, true), ...more]), ']');
  }

  #columns(least: number, most: number, isInsert: boolean): Part[] {
    const names = this.#columnNames.filter((name) => name !== 'id' && !(isInsert && name === 'direction'));
    return this.#random.sample(names, this.#random.integer(least, most)).map((column) => {
      return wrap(`${column}: `, this.#value(columns[column]!, this.#valueOf(columns[column]!)), '');
    });
  }

  #object(members: readonly Part[]): Part {
    return wrap('{', join(members, ', '), '}');
  }

  /** A value of a type, which rarely fits none of its places. */
  #valueOf(type: string): unknown {
    const [fitting, other] = values[type]!;
    return this.#random.pick(this.#random.chance(0.04) ? other : fitting);
  }

  /** Objects match by name; the lenient twin may only leave out that they are required. */
  #objectVariable(type: string, strictMark: string, lenientMark: string, value: unknown, lenientValue = value): Part {
    const name = `o${this.#strict.length}`;
    this.#strict.push({ name, declaration: `$${name}: ${type}${strictMark}` });
    this.#strictValues[name] = value;
    this.#lenient.push({ name, declaration: `$${name}: ${type}${lenientMark}` });
    this.#lenientValues[name] = lenientValue;
    return same(`$${name}`);
  }

  #value(type: string, value: unknown): Part {
    if (this.#random.chance(0.5)) return this.#variable(type, value);
    if (Array.isArray(value) && type.startsWith('['))
      return wrap(
        '[',
        join(
          value.map((item) => this.#value(type.slice(1, -1), item)),
          ', ',
        ),
        ']',
      );
    const named = type.replaceAll(/[[\]!]/g, '');
    return { strict: literal(named, value, false), lenient: literal(named, value, this.#random.chance(0.7)) };
  }

  #variable(type: string, value: unknown): Part {
    const strictName = `s${this.#strict.length}`;
    const isRequired = type.endsWith('!');
    const isFallback = value !== null && !isObject(value) && this.#random.chance(0.15);
    const named = type.replaceAll(/[[\]!]/g, '');
    const mark = isFallback ? ` = ${literal(named, value, false)}` : '';
    this.#strict.push({ name: strictName, declaration: `$${strictName}: ${type}${mark}` });
    const isSent = !isFallback && !this.#random.chance(0.03);
    if (isSent) this.#strictValues[strictName] = value;
    return { strict: `$${strictName}`, lenient: `$${this.#lenientVariable(type, value, { isFallback, isSent, isRequired })}` };
  }

  #lenientVariable(
    type: string,
    value: unknown,
    { isFallback, isSent, isRequired }: { readonly isFallback: boolean; readonly isSent: boolean; readonly isRequired: boolean },
  ): string {
    const isList = type.startsWith('[');
    // One value may stand for a list of it.
    const isBare = isList && Array.isArray(value) && value.length === 1 && this.#random.chance(0.3);
    const given = isBare ? (value as unknown[])[0] : value;
    const identity = JSON.stringify(given);
    const known = this.#shared.filter((each) => each.value === identity && (isList || !each.isList) && (isSent || !isRequired));
    if (isSent && known.length > 0 && this.#random.chance(0.7)) return this.#random.pick(known).name;
    const name = `l${this.#lenient.length}`;
    const named = type.replaceAll(/[[\]!]/g, '');
    const declared = this.#random.chance(0.3) ? named : this.#random.pick(declaredTypes);
    const listed = isList && !isBare ? `[${declared}${this.#random.pick(['', '!'])}]` : declared;
    const required = value !== null && isSent && this.#random.chance(0.4) ? '!' : '';
    const mark = isFallback ? ` = ${literal(named, given, true)}` : '';
    const declaration = `$${name}: ${listed}${required}${mark}`;
    this.#lenient.push({ name, declaration });
    if (isSent) this.#lenientValues[name] = given;
    if (isSent) this.#shared.push({ name, declaration, value: identity, isRequired: required !== '', isList: isList && !isBare });
    return name;
  }
}

const enums: ReadonlySet<string> = new Set(['direction', 'OrderByDirection', 'FilterIs']);

/** A literal of a value; a lenient one writes enums as strings, and texts of numbers for BigFloat as numbers. */
function literal(type: string, value: unknown, isLenient: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => literal(type, item, isLenient)).join(', ')}]`;
  if (isObject(value)) return '{}';
  if (typeof value === 'string' && enums.has(type) && !isLenient) return value;
  if (typeof value === 'string' && type === 'BigFloat' && isLenient && Number(value) > 0) return value;
  return JSON.stringify(value);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(text: string): Part {
  return { strict: text, lenient: text };
}

function prefix(text: string, part: Part): Part {
  return wrap(text, part, '');
}

function wrap(before: string, { strict, lenient }: Part, after: string): Part {
  return { strict: before + strict + after, lenient: before + lenient + after };
}

function join(parts: readonly Part[], separator: string): Part {
  return { strict: parts.map(({ strict }) => strict).join(separator), lenient: parts.map(({ lenient }) => lenient).join(separator) };
}
