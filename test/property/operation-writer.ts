/**
 * Writes the parts of a random document: values as literals or through variables with and without defaults, conditions, fragments.
 * Collects the variables and fragments that the document has to define.
 */
import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { RandomSource } from './random-source.ts';

export class OperationWriter {
  readonly #random: RandomSource;
  readonly #declarations: string[] = [];
  readonly #values: Record<string, unknown> = {};
  readonly #fragments: string[] = [];
  readonly #usedKeys = new Set<string>();
  #count = 0;

  constructor(random: RandomSource) {
    this.#random = random;
  }

  /** The variables to send. */
  get variables(): Readonly<Record<string, unknown>> {
    return this.#values;
  }

  /** The document with this selection of the root type. */
  document(kind: 'query' | 'mutation', selection: string): string {
    const declarations = this.#declarations.length > 0 ? `(${this.#declarations.join(', ')})` : '';
    const isShort = kind === 'query' && declarations === '' && this.#random.chance(0.5);
    const operation = isShort ? selection : `${kind}${this.#random.chance(0.5) ? ' Named' : ''}${declarations} ${selection}`;
    return this.#random.shuffled([operation, ...this.#fragments]).join('\n');
  }

  /** A value of an argument or input field, of which parts may become variables. */
  value(type: GraphQLInputType, value: unknown): string {
    if (this.#random.chance(0.12)) return this.#variable(type, value);
    if (isNonNullType(type)) return this.#bare(type.ofType, value);
    return this.#bare(type, value);
  }

  /** A variable that is not sent and has no default: what it stands for is absent. */
  absent(type: GraphQLInputType): string {
    const name = this.#freshName('absent');
    this.#declarations.push(`$${name}: ${isNonNullType(type) ? type.ofType : type}`);
    return `$${name}`;
  }

  /** `@skip` or `@include`, or mostly nothing. */
  condition(): string {
    if (!this.#random.chance(0.08)) return '';
    const value = this.#random.chance(0.6);
    const directive = this.#random.pick(['skip', 'include']);
    return ` @${directive}(if: ${this.#random.chance(0.5) ? value : this.#conditionVariable(value)})`;
  }

  /** Puts fields into a fragment at random: `... { }`, `... on T { }` or a named one. */
  group(typeName: string, fields: readonly string[]): string {
    const body = `{ ${fields.join(' ')} }`;
    const kind = this.#random.integer(0, 2);
    if (kind === 0) return `...${this.condition()} ${body}`;
    if (kind === 1) return `... on ${typeName}${this.condition()} ${body}`;
    const name = this.#freshName('Part');
    this.#fragments.push(`fragment ${name} on ${typeName} ${body}`);
    return `...${name}${this.condition()}`;
  }

  /** A key for the response, with a colon, or nothing. A field that takes arguments keeps its own name only once. */
  alias(fieldName: string, hasArguments: boolean): string {
    const isFirst = !this.#usedKeys.has(fieldName);
    this.#usedKeys.add(fieldName);
    if ((!hasArguments || isFirst) && this.#random.chance(0.7)) return '';
    return `${this.#freshName(this.#random.pick(['a', 'edges', 'count_', '_n', 'x']))}: `;
  }

  #freshName(stem: string): string {
    this.#count += 1;
    return `${stem}${this.#count}`;
  }

  #conditionVariable(value: boolean): string {
    const name = this.#freshName('if');
    const isDefault = this.#random.chance(0.4);
    this.#declarations.push(`$${name}: Boolean${isDefault ? ` = ${value}` : '!'}`);
    if (!isDefault) this.#values[name] = value;
    return `$${name}`;
  }

  #variable(type: GraphQLInputType, value: unknown): string {
    const name = this.#freshName('v');
    const bare = isNonNullType(type) ? type.ofType : type;
    const isRequired = isNonNullType(type) || (value !== null && this.#random.chance(0.3));
    const mode = this.#random.integer(0, 3);
    const isDefault = mode === 0 && value !== null;
    const literal = isDefault ? ` = ${this.literal(bare, value)}` : mode === 1 && !isRequired ? ' = null' : '';
    this.#declarations.push(`$${name}: ${bare}${isRequired ? '!' : ''}${literal}`);
    if (!isDefault) this.#values[name] = value;
    return `$${name}`;
  }

  #bare(type: GraphQLInputType, value: unknown): string {
    if (value === null) return 'null';
    if (isListType(type) && Array.isArray(value)) {
      const [only] = value;
      if (value.length === 1 && only !== null && this.#random.chance(0.2)) return this.#bare(nullable(type.ofType), only);
      return `[${value.map((item) => this.value(type.ofType, item)).join(', ')}]`;
    }
    // One value stands for a list of it.
    if (isListType(type)) return this.#bare(nullable(type.ofType), value);
    if (isInputObjectType(type)) {
      const fields = Object.entries(value as Record<string, unknown>).map(
        ([name, item]) => `${name}: ${this.value(type.getFields()[name]!.type, item)}`,
      );
      return `{${fields.join(', ')}}`;
    }
    return leafLiteral(type, value);
  }

  /** The value without any variable in it. */
  literal(type: GraphQLInputType, value: unknown): string {
    if (value === null) return 'null';
    if (isNonNullType(type)) return this.literal(type.ofType, value);
    if (isListType(type)) return `[${(Array.isArray(value) ? value : [value]).map((item) => this.literal(type.ofType, item)).join(', ')}]`;
    if (!isInputObjectType(type)) return leafLiteral(type, value);
    const fields = Object.entries(value as Record<string, unknown>).map(
      ([name, item]) => `${name}: ${this.literal(type.getFields()[name]!.type, item)}`,
    );
    return `{${fields.join(', ')}}`;
  }
}

function nullable(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) ? type.ofType : type;
}

function leafLiteral(type: GraphQLInputType, value: unknown): string {
  // The members of GeoJSON have plain names.
  if (String(type) === 'GeoJSON') return JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:');
  return isEnumType(type) ? String(value) : JSON.stringify(value);
}
