/** The shapes of JSON columns (docs/additions/json.md): as comment directives declare them, and what of a document is read and written by one. */

import { arrayText, type ColumnType, type CompositeDescription, jsonbType, jsonTypeOf, type Shape, textType } from './column-types.ts';
import { isDay, isMoment, valueAs } from './evaluate-json.ts';
import { isArray, isObject, type Json, jsonText } from './json-documents.ts';
import { type LoadedValue, type NamedTypes, namesOf, valueNames } from './loaded-values.ts';
import { RefusalError } from './property-failure.ts';

/** As `shape` has it: a JSON Schema. */
export function schemaOf(shape: Shape): Record<string, unknown> {
  if (shape.kind === 'value') return shape.schema;
  if (shape.kind === 'list') return { type: 'array', items: schemaOf(shape.element) };
  const properties = Object.fromEntries(shape.members.map((member) => [member.name, schemaOf(member.shape)]));
  return { type: 'object', properties, ...(shape.title !== null && { title: shape.title }) };
}

/** The shape that the name of a composite type stands for: domains count as what they are based on. */
export function shapeOfComposite({ attributes }: CompositeDescription, place: string): Shape {
  const members = attributes.map(({ name, type }) => ({ name, shape: shapeOfType(type, `${place} ${name}`) }));
  return { kind: 'object', place, title: null, members };
}

function shapeOfType(type: ColumnType, place: string): Shape {
  if (type.isArray) return { kind: 'list', element: shapeOfType({ ...type, isArray: false }, place) };
  if (type.composite) return shapeOfComposite(type.composite, place);
  if (type.domain) return shapeOfType(type.domain.base, place);
  return { kind: 'value', type: type.enum ? type : jsonTypeOf(type.scalar), schema: {} };
}

/** The type that values of a shape have: objects are composite values. An array of arrays is JSON. */
export function shapeType(types: NamedTypes, shape: Shape): ColumnType {
  if (shape.kind === 'value') return shape.type.enum && !types.enums.has(shape.type.enum.name) ? textType : shape.type;
  if (shape.kind === 'list') {
    const element = shapeType(types, shape.element);
    return element.isArray ? jsonbType : { ...element, sql: `${element.sql}[]`, isArray: true, isOrdered: false };
  }
  const attributes = shape.members.map(({ name, shape: inner }) => ({ name, type: shapeType(types, inner), directive: null, shape: null }));
  return { ...jsonbType, scalar: 'composite', composite: { name: shape.place, attributes, directive: null } };
}

const none: LoadedValue = { text: null, json: null, jsonb: 'null' };

/** What a document has by the type of a shape: nothing where it is not as the shape says. */
export function shapedValue(types: NamedTypes, type: ColumnType, json: Json | undefined): LoadedValue {
  if (json === undefined) return none;
  if (type.isArray) return isArray(json) ? shapedList(types, type, json) : none;
  if (type.composite) {
    if (!isObject(json)) return none;
    const members = type.composite.attributes.map((each) => [each.name, shapedValue(types, each.type, json.get(each.name))] as const);
    return { text: jsonText(json), json: null, jsonb: jsonText(json), members: new Map(members) };
  }
  if (type.scalar === 'JSON') return { text: jsonText(json), json: jsonText(json), jsonb: jsonText(json) };
  return json === null ? none : shapedScalar(types, type, json);
}

function shapedList(types: NamedTypes, type: ColumnType, json: readonly Json[]): LoadedValue {
  const items = json.map((item) => shapedValue(types, { ...type, sql: type.sql.replace(/\[\]$/, ''), isArray: false }, item));
  if (type.composite) return { text: jsonText(json), json: null, jsonb: jsonText(json), items };
  return { text: arrayText(items.map(({ text }) => text)), json: items.map((item) => item.json), jsonb: '' };
}

function shapedScalar(types: NamedTypes, type: ColumnType, json: Json): LoadedValue {
  const plain = typeof json === 'string' ? json : jsonText(json);
  if (type.enum) {
    if (!type.enum.labels.includes(plain)) return none;
    return { text: plain, json: valueNames(types, type).get(plain) ?? plain, jsonb: JSON.stringify(plain) };
  }
  const as = (text: string | null, shown: (text: string) => unknown, jsonb: (text: string) => string): LoadedValue =>
    text === null ? none : { text, json: shown(text), jsonb: jsonb(text) };
  const whole = (least: bigint, most: bigint) => {
    const number = /^(-?\d+)(\.0+)?$/.exec(valueAs(json, 'NUMBER') ?? '')?.[1];
    return number !== undefined && BigInt(number) >= least && BigInt(number) <= most ? String(BigInt(number)) : null;
  };
  switch (type.scalar) {
    case 'Int':
      return as(whole(-(2n ** 31n), 2n ** 31n - 1n), Number, String);
    case 'BigInt':
      return as(whole(-(2n ** 63n), 2n ** 63n - 1n), String, String);
    case 'BigFloat':
      return as(valueAs(json, 'NUMBER'), String, String);
    case 'Float':
      return as(valueAs(json, 'NUMBER'), Number, (text) => String(Number(text)));
    case 'Boolean':
      return as(valueAs(json, 'BOOLEAN'), (text) => text === 'true', String);
    case 'Date':
      return as(valueAs(json, 'DATE'), String, JSON.stringify);
    case 'Datetime': {
      const text = valueAs(json, 'DATETIME');
      return as(text && momentText(text), String, JSON.stringify);
    }
    case 'UUID':
      return as(isUuid(plain) ? plain.toLowerCase() : null, String, JSON.stringify);
    default:
      return as(plain, String, JSON.stringify);
  }
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** A point in time as PostgreSQL writes it in JSON; the time zone of the sessions here is UTC. */
function momentText(text: string): string {
  const [, day, time = '00:00', seconds = ':00', fraction = '', zone = 'Z'] =
    /^(\S{10})(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?(.+)?)?$/.exec(text) ?? [];
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const moment = new Date(`${day}T${time}${seconds}${sign ? `${sign}${hours}:${minutes}` : 'Z'}`);
  return `${moment.toISOString().slice(0, 19)}${fraction.replace(/\.?0*$/, '')}+00:00`;
}

/** A document with the members of an object of its shape, those of objects inside one by one, or with the elements of a list. */
export function documentWith(json: Json, { isArray: isList, composite }: ColumnType, given: Json): Json {
  if (isList) return isArray(json) && isArray(given) ? [...json, ...given] : given;
  if (!composite || !isObject(json) || !isObject(given)) return given;
  const inner = (key: string, member: Json): Json => {
    const attribute = composite.attributes.find(({ name }) => name === key);
    return attribute && !attribute.type.isArray ? documentWith(json.get(key) ?? null, attribute.type, member) : member;
  };
  return new Map([...json, ...[...given].map(([key, member]) => [key, inner(key, member)] as const)]);
}

/** The document that an object of a shape's input stands for. Members that are left out are not in it. */
export function shapedText(types: NamedTypes, type: ColumnType, value: unknown): string {
  if (value === null) return 'null';
  if (type.isArray) {
    const items = Array.isArray(value) ? value : [value];
    return `[${items.map((item) => shapedText(types, { ...type, isArray: false }, item)).join(',')}]`;
  }
  if (type.composite) {
    const { names, attributes } = namesOf(types, type);
    const members = Object.entries(value as object).map(([field, member]) => {
      const { name } = names.find(({ fieldName }) => fieldName === field)!;
      return `${JSON.stringify(name)}:${shapedText(types, attributes.find((each) => each.name === name)!.type, member)}`;
    });
    return `{${members.join(',')}}`;
  }
  if (type.enum) return JSON.stringify(type.enum.labels.find((label) => (valueNames(types, type).get(label) ?? label) === value) ?? value);
  return scalarText(type, String(value));
}

function scalarText({ scalar }: ColumnType, text: string): string {
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(text) ?? [];
  switch (scalar) {
    // A column of json keeps it as it is.
    case 'JSON':
    case 'BigInt':
    case 'BigFloat':
      return `${sign.replace('+', '')}${digits.replace(/^0*(?=[0-9])/, '').replace(/^\./, '0.')}`;
    case 'Int':
    case 'Float':
    case 'Boolean':
      return text;
    case 'Date':
      if (!isDay(text)) throw new RefusalError('no date');
      return JSON.stringify(text);
    case 'Datetime':
      if (!isMoment(text)) throw new RefusalError('no point in time');
      return JSON.stringify(text);
    default:
      return JSON.stringify(text);
  }
}
