/** Random selections of a schema that introspection told, with their arguments: valid, and mostly of rows that exist. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Examples } from './examples.ts';
import { OperationWriter } from './operation-writer.ts';
import { randomFinding } from './random-finding.ts';
import { pathOf, randomGroups } from './random-groups.ts';
import { randomPath } from './random-json.ts';
import type { RandomSource } from './random-source.ts';
import { RandomValues } from './random-values.ts';

export interface RandomOperation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether inputs hold related rows. */
  readonly isNested?: boolean;
}

type Field = GraphQLField<unknown, unknown>;

/** What of a document's size is left. */
const largest = 60;

export class SelectionMaker {
  readonly random: RandomSource;
  readonly examples: Examples;
  readonly writer: OperationWriter;
  readonly values: RandomValues;
  readonly #schema: GraphQLSchema;
  /** What the groups are by whose keys are selected. */
  #groupedBy: readonly Readonly<Record<string, unknown>>[] = [];
  #fieldsLeft = largest;

  constructor(random: RandomSource, schema: GraphQLSchema, examples: Examples) {
    this.random = random;
    this.#schema = schema;
    this.examples = examples;
    this.writer = new OperationWriter(random);
    this.values = new RandomValues(random, examples);
  }

  /** A query of one to three root fields. */
  query(): RandomOperation {
    return { query: this.writer.document('query', this.querySelection(3)), variables: this.writer.variables };
  }

  /** A selection of Query. */
  querySelection(depth: number): string {
    const type = this.#schema.getQueryType()!;
    const fields = Object.values(type.getFields()).filter((field) => field.name !== 'node' || this.examples.nodeIds().length > 0);
    const chosen = fields.length > 0 ? Array.from({ length: this.random.integer(1, 3) }, () => this.random.pick(fields)) : [];
    const parts = chosen.map((field) => this.field(field, depth)).filter((part) => part !== undefined);
    return `{ ${[...parts, ...(parts.length === 0 || this.random.chance(0.1) ? ['__typename'] : [])].join(' ')} }`;
  }

  /** A selection of an object, never empty. */
  selection(type: GraphQLObjectType, depth: number, must: readonly string[] = []): string {
    const all = Object.values(type.getFields());
    const wanted = this.random.sample(all, this.random.integer(1, 4));
    const important = all.filter(({ name }) => must.includes(name) || (name === 'edges' && this.random.chance(0.8)));
    const parts = [...new Set([...important, ...wanted])].map((field) => this.field(field, depth)).filter((part) => part !== undefined);
    // A field may be asked for twice, and is answered once.
    const again = all.find((field) => field.args.length === 0 && isLeafType(getNamedType(field.type)));
    if (again && this.random.chance(0.1)) parts.push(again.name);
    if (parts.length === 0 || this.random.chance(0.07)) parts.push(`${this.writer.alias('__typename', false)}__typename`);
    const cut = this.random.integer(0, parts.length - 1);
    if (this.random.chance(0.2)) return `{ ${[...parts.slice(0, cut), this.writer.group(type.name, parts.slice(cut))].join(' ')} }`;
    return `{ ${parts.join(' ')} }`;
  }

  /** A field with alias, arguments, condition and selection; undefined where the document is large or deep enough. */
  field(field: Field, depth: number): string | undefined {
    const type = getNamedType(field.type);
    if (this.#fieldsLeft <= 0 || (depth <= 0 && !isLeafType(type))) return undefined;
    this.#fieldsLeft -= 1;
    const args = this.#arguments(field);
    if (args === undefined) return undefined;
    const head = `${this.writer.alias(field.name, field.args.length > 0)}${field.name}${args}${this.writer.condition()}`;
    if (isLeafType(type)) return head;
    if (isObjectType(type)) return `${head} ${this.selection(type, depth - (field.args.length > 0 ? 1 : 0.34))}`;
    return `${head} ${this.#nodeSelection(args, depth)}`;
  }

  #nodeSelection(args: string, depth: number): string {
    const nodeId = /"([^"]+)"/.exec(args)?.[1] ?? Object.values(this.writer.variables).at(-1);
    const typeName = this.random.chance(0.1) ? undefined : this.examples.typeOfNode(String(nodeId));
    const type = typeName === undefined ? undefined : this.#schema.getType(typeName);
    const parts = ['nodeId', ...(isObjectType(type) ? [`... on ${type.name} ${this.selection(type, depth - 1)}`] : [])];
    return `{ ${parts.join(' ')} __typename }`;
  }

  #arguments(field: Field): string | undefined {
    if (field.args.length === 0 || (field.args.every(({ name }) => name === 'exact') && this.random.chance(0.5))) return '';
    const path = field.args.find(({ name }) => name === 'path');
    if (path?.description?.startsWith('Which path')) return this.#keyPath(field);
    if (path) return this.random.chance(0.4) ? '' : this.#written([[path, randomPath(this.random, 0)]]);
    if (field.name === 'groups' && field.args.some(({ name }) => name === 'having')) return this.#groupsArguments(field);
    if (field.args.some(({ name, type }) => name === 'filter' && !isNonNullType(type))) return this.#collectionArguments(field);
    const given = field.args.filter(({ type }) => isNonNullType(type) || this.random.chance(0.5));
    const values = given.map((argument) => [argument, this.#keyValue(field, argument)] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    return this.#written(values);
  }

  #written(values: readonly (readonly [argument: GraphQLArgument, value: unknown])[]): string {
    if (values.length === 0) return '';
    return `(${values.map(([argument, value]) => `${argument.name}: ${this.writer.value(argument.type, value)}`).join(', ')})`;
  }

  #groupsArguments(field: Field): string | undefined {
    const args = randomGroups(this.random, field);
    this.#groupedBy = [args?.get('by') ?? []].flat() as Record<string, unknown>[];
    // Which of several paths is meant is said in the same words, so not by variables.
    const isLiteral = new Set(this.#groupedBy.flatMap(Object.keys)).size < this.#groupedBy.length;
    const written = [...(args ?? [])].map(([name, value]) => {
      const { type } = field.args.find((argument) => argument.name === name)!;
      return `${name}: ${isLiteral ? this.writer.literal(type, value) : this.writer.value(type, value)}`;
    });
    return args && `(${written.join(', ')})`;
  }

  /** The path of a group's key, if there are several of the column. */
  #keyPath({ name }: Field): string {
    const paths = this.#groupedBy.filter((element) => name in element).map(pathOf);
    return paths.length > 1 ? `(path: ${JSON.stringify(this.random.pick(paths))})` : '';
  }

  #keyValue(field: Field, argument: GraphQLArgument): unknown {
    const typeName = getNamedType(field.type).name;
    const type = getNamedType(argument.type);
    // The column of a snippet, how long it is, and its marks.
    if (isEnumType(type) && argument.name === 'column') return this.random.pick(type.getValues()).name;
    if (argument.name === 'words') return this.random.pick([0, 1, 2, 3, 10, 100]);
    if (argument.name === 'start' || argument.name === 'stop') return this.random.pick(['', '[', '<i>', '&', '$&\\1']);
    if (argument.name === 'fraction' && typeName.endsWith('AggregateResult')) return this.random.pick([0, 0.25, 0.5, 0.9, 1]);
    if (type.name === 'Int' && ['first', 'offset', 'most', 'times'].includes(argument.name)) return this.random.pick([0, 1, 1, 2, 3, 5]);
    if (argument.name === 'given') return this.values.value(argument.type, '', '') ?? undefined;
    if (getNamedType(argument.type).name !== 'ID') return this.values.key(argument.type, typeName, argument.name) ?? undefined;
    const nodeIds = this.examples.nodeIds();
    return nodeIds.length > 0 ? this.random.pick(nodeIds) : undefined;
  }

  #collectionArguments(field: Field): string | undefined {
    const typeName = getNamedType(field.type).name;
    const chosen = new Map<string, unknown>();
    for (const argument of field.args.filter(({ type }) => isNonNullType(type))) {
      const value = this.#keyValue(field, argument) ?? null;
      if (value === null) return undefined;
      chosen.set(argument.name, value);
    }
    const filterType = field.args.find(({ name }) => name === 'filter')!.type;
    if (this.random.chance(0.45)) chosen.set('filter', this.values.filter(getNamedType(filterType) as GraphQLInputObjectType, typeName));
    const orderBy = field.args.find(({ name }) => name === 'orderBy');
    if (orderBy && this.random.chance(0.5)) chosen.set('orderBy', this.values.orderBy(orderBy.type));
    const isLineage = field.args.some(({ name }) => name === 'maxDepth');
    if (isLineage && this.random.chance(0.5)) chosen.set('maxDepth', this.random.pick([0, 1, 1, 2, 3, 100]));
    const distinctOn = this.random.chance(0.15) ? this.values.distinctOn(field) : null;
    if (distinctOn) chosen.set('distinctOn', distinctOn);
    const finding = randomFinding(this.random, field, typeName, this.examples).filter(([name]) => !distinctOn || name === 'search');
    for (const [name, value] of finding) chosen.set(name, value);
    // The cursors of a lineage begin with the depth, and those of what is near with the distance.
    this.#addPage(chosen, isLineage || finding.length > 0 ? [] : this.examples.cursors(typeName, chosen.get('orderBy'), distinctOn ?? []));
    const written = this.random.shuffled([...chosen]).map(([name, value]) => {
      const { type } = field.args.find((argument) => argument.name === name)!;
      return `${name}: ${this.writer.value(type, value)}`;
    });
    for (const argument of field.args) {
      if (!chosen.has(argument.name) && this.random.chance(0.03))
        written.push(`${argument.name}: ${this.random.chance(0.5) ? 'null' : this.writer.absent(argument.type)}`);
    }
    return written.length > 0 ? `(${written.join(', ')})` : '';
  }

  #addPage(chosen: Map<string, unknown>, cursors: readonly string[]): void {
    const isBackward = this.random.chance(0.35);
    if (this.random.chance(0.6)) chosen.set(isBackward ? 'last' : 'first', this.random.pick([0, 1, 1, 2, 2, 3, 5, 10, 100]));
    if (cursors.length > 0 && this.random.chance(0.4)) chosen.set(isBackward ? 'before' : 'after', this.random.pick(cursors));
    if (!isBackward && this.random.chance(0.15)) chosen.set('offset', this.random.integer(0, 4));
  }
}
