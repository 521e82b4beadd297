/** What functions answer that are no collections: computed fields with arguments, lists and rows that are always the same, and the argument itself. */

import type { ColumnType } from './column-types.ts';
import { inputText } from './compare-values.ts';
import { type CompositeSource, showValue } from './evaluate-composites.ts';
import { type LoadedRoutine, type LoadedRow, valueOf, type World } from './loaded-tables.ts';
import { type LoadedValue, loadedValue, type RawValue, valueJson } from './loaded-values.ts';
import { RefusalError } from './property-failure.ts';
import type { RoutineBody } from './schema-description.ts';
import type { ValueOracle } from './value-oracle.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The answer of a function; of a computed field, of a row. */
export async function callRoutine(
  world: World,
  routine: LoadedRoutine,
  args: Arguments,
  oracle: ValueOracle,
  row: LoadedRow | null,
): Promise<unknown> {
  const { body } = routine.description;
  switch (body.kind) {
    case 'text of a column': {
      const { text } = valueOf(row!, body.column);
      return text === null || args.sep === null ? null : `${text}${args.sep}`;
    }
    case 'copies of a column':
      return pageOf(routine, args, Array(countOf(args.times)).fill(valueOf(row!, body.column).text));
    case 'echo':
      return echo(world, body.type, args.given, oracle);
    case 'constants':
      return constants(world, routine, body, args);
    case 'set column':
    case 'all rows':
      throw new Error('A collection is no value.');
  }
}

function countOf(argument: unknown): number {
  return Math.max(0, Number(argument ?? 0));
}

/** Those of a page, which has at most so many as a directive says. */
function pageOf<Item>({ maxRows }: LoadedRoutine, { first, offset }: Arguments, items: readonly Item[]): readonly Item[] {
  if ([first, offset].some((count) => Number(count ?? 0) < 0)) throw new RefusalError('a negative count');
  return items.slice(Number(offset ?? 0)).slice(0, Math.min(Number(first ?? maxRows), maxRows));
}

async function echo(world: World, type: ColumnType, given: unknown, oracle: ValueOracle): Promise<unknown> {
  if (given === null) throw new RefusalError('a required argument');
  const [raw] = await oracle.list([inputText(world, type, given)], valueJson(`(value::${withoutModifier(type.sql)})`, type));
  const value = loadedValue(world, type, raw as RawValue);
  return isEmpty([...(value.members?.values() ?? [value])]) ? null : showValue(world, type, value, {}, false);
}

function constants(
  world: World,
  routine: LoadedRoutine,
  { returns, columns }: Extract<RoutineBody, { kind: 'constants' }>,
  args: Arguments,
): unknown {
  const show = (row: readonly LoadedValue[]) => {
    const [first] = columns;
    if (returns === 'setof') return showValue(world, first!.type, ofSet(first!.type, row[0]!), {}, false);
    const members = new Map(columns.map(({ name }, index) => [name, row[index]!]));
    return {
      kind: 'composite',
      world,
      names: routine.columns,
      attributes: columns,
      value: { text: '', json: null, jsonb: '', members },
    } satisfies CompositeSource;
  };
  if (returns !== 'out') return pageOf(routine, args, routine.rows.slice(0, countOf(args.most))).map(show);
  const row = routine.rows[Number(args.most ?? 0) - 1];
  return row && !isEmpty(row) ? show(row) : null;
}

/** In a set, a value of a composite type that is null is one of nulls. */
function ofSet({ composite, isArray }: ColumnType, value: LoadedValue): LoadedValue {
  if (!composite || isArray || value.text !== null) return value;
  return { ...value, text: '', members: new Map(composite.attributes.map(({ name }) => [name, value])) };
}

/** Arguments of functions have none. Some types have another name without one, as SQL takes them for one character or bit. */
export function withoutModifier(sql: string): string {
  const [, name = sql, array = ''] = /^(numeric|character varying|character|bit)\([\d,]+\)(.*)$/.exec(sql) ?? [];
  return `${
    new Map([
      ['character', 'pg_catalog.bpchar'],
      ['bit', 'pg_catalog."bit"'],
    ]).get(name) ?? name
  }${array}`;
}

/** A single result is null if all its members are. */
function isEmpty(members: readonly LoadedValue[]): boolean {
  return members.every(({ text }) => text === null);
}
