/** Compares the answers to one operation that two callers get: as lines of JSON, each with who got it. */
import {
  type DocumentNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { idFieldOf } from '../read-tables.ts';
import { mergeKeys, type SeenBy } from './compare-rows.ts';

/** The alias under which rows are asked for their identity, which the operation need not select itself. */
export const identityKey = 'rowgraphIdentity';

/** The document with the identity of each row that it selects, for a caller with this schema. */
export function selectIdentities(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const types = new TypeInfo(schema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      SelectionSet(node: SelectionSetNode) {
        const type = types.getParentType();
        const name = isObjectType(type) ? idFieldOf(type) : null;
        if (name === null) return undefined;
        const alias = { kind: Kind.NAME, value: identityKey } as const;
        return { ...node, selections: [...node.selections, { kind: Kind.FIELD, alias, name: { kind: Kind.NAME, value: name } }] };
      },
    }),
  );
}

export interface AnswerLine {
  readonly depth: number;
  readonly text: string;
  readonly seenBy: SeenBy;
}

export interface AnswerComparison {
  readonly lines: readonly AnswerLine[];
  /** Rows that the answers contain, each counted once. */
  readonly counts: Readonly<Record<SeenBy, number>>;
}

export function compareAnswers(one: unknown, other: unknown): AnswerComparison {
  const lines: AnswerLine[] = [];
  writeBoth({ lines, depth: 0, label: '' }, one, other);
  const [ofOne, ofOther] = [identitiesIn(one), identitiesIn(other)];
  const both = [...ofOne].filter((key) => ofOther.has(key)).length;
  return { lines, counts: { both, one: ofOne.size - both, other: ofOther.size - both } };
}

interface Place {
  readonly lines: AnswerLine[];
  readonly depth: number;
  /** `"name": `, or '' in a list. */
  readonly label: string;
}

function writeBoth(place: Place, one: unknown, other: unknown): void {
  const { lines, depth, label } = place;
  if (Array.isArray(one) && Array.isArray(other)) {
    lines.push({ depth, text: `${label}[`, seenBy: 'both' });
    writeItems({ ...place, depth: depth + 1, label: '' }, one, other);
    lines.push({ depth, text: ']', seenBy: 'both' });
  } else if (isObject(one) && isObject(other)) {
    lines.push({ depth, text: `${label}{`, seenBy: 'both' });
    const names = mergeKeys(Object.keys(one), Object.keys(other)).filter((name) => name !== identityKey);
    for (const name of names) {
      const inner = { lines, depth: depth + 1, label: `${JSON.stringify(name)}: ` };
      if (!(name in one)) writeAll(inner, other[name], 'other');
      else if (!(name in other)) writeAll(inner, one[name], 'one');
      else writeBoth(inner, one[name], other[name]);
    }
    lines.push({ depth, text: '}', seenBy: 'both' });
  } else if (JSON.stringify(one) === JSON.stringify(other)) writeAll(place, one, 'both');
  else {
    writeAll(place, one, 'one');
    writeAll(place, other, 'other');
  }
}

function writeItems(place: Place, one: readonly unknown[], other: readonly unknown[]): void {
  const [ofOne, ofOther] = [keyItems(one), keyItems(other)];
  for (const key of mergeKeys([...ofOne.keys()], [...ofOther.keys()])) {
    if (!ofOther.has(key)) writeAll(place, ofOne.get(key), 'one');
    else if (!ofOne.has(key)) writeAll(place, ofOther.get(key), 'other');
    else writeBoth(place, ofOne.get(key), ofOther.get(key));
  }
}

/** The items by their identities, or else by their values; equal ones are told apart by number. */
function keyItems(items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const keyed = new Map<string, unknown>();
  for (const item of items) {
    const key = identityOf(item) ?? JSON.stringify(item);
    let unique = key;
    for (let number = 2; keyed.has(unique); number += 1) unique = `${key} ${number}`;
    keyed.set(unique, item);
  }
  return keyed;
}

/** Of a row, or of the row in an edge. */
function identityOf(item: unknown): string | null {
  if (!isObject(item)) return null;
  const own = item[identityKey];
  if (typeof own === 'string') return own;
  const inner = Object.values(item).filter((value) => isObject(value) && typeof value[identityKey] === 'string');
  return inner.length === 1 ? identityOf(inner[0]) : null;
}

function writeAll({ lines, depth, label }: Place, value: unknown, seenBy: SeenBy): void {
  const write = (text: string, at: number): unknown => lines.push({ depth: at, text, seenBy });
  const isList = Array.isArray(value);
  if (isList ? value.length > 0 : isObject(value)) {
    write(`${label}${isList ? '[' : '{'}`, depth);
    for (const [name, item] of Object.entries(value as object))
      if (name !== identityKey) writeAll({ lines, depth: depth + 1, label: isList ? '' : `${JSON.stringify(name)}: ` }, item, seenBy);
    write(isList ? ']' : '}', depth);
  } else write(`${label}${JSON.stringify(value) ?? 'null'}`, depth);
}

function identitiesIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) identitiesIn(item, found);
  else if (isObject(value)) {
    if (typeof value[identityKey] === 'string') found.add(value[identityKey]);
    for (const item of Object.values(value)) identitiesIn(item, found);
  }
  return found;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
