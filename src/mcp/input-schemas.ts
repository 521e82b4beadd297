/**
 * JSON schemas of variables. Scalars are described by name; enums and input objects as introspection shows them to the role, or only named
 * where it may not introspect. GraphQL checks the values, so a schema that says too little does no harm.
 */
import { Kind, type TypeNode } from 'graphql';
import { type DescribedType, readTypes, type TypeReference, writeReference } from './introspect.ts';
import type { AgentSession } from './session.ts';
import type { JsonSchema } from './tool.ts';

/** How many types the schemas of one role describe: filters refer to one another until they have described everything. */
const mostTypes = 240;
/** How many input objects the schema of one tool defines. */
const mostDefinitions = 12;

const scalars: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  String: { type: 'string' },
  ID: { type: 'string' },
  Boolean: { type: 'boolean' },
  BigInt: { type: ['string', 'integer'], description: 'A whole number; as a string if it is large' },
  BigFloat: { type: ['string', 'number'], description: 'A decimal number; as a string to be exact' },
  UUID: { type: 'string', format: 'uuid' },
  Date: { type: 'string', format: 'date' },
  Time: { type: 'string', description: 'A time, such as 14:30:00' },
  Datetime: { type: 'string', description: 'A time, such as 2026-01-31T14:30:00Z' },
  JSON: { type: 'string', description: 'The text of a JSON value' },
  Cursor: { type: 'string', description: 'A cursor of a page' },
  Opaque: { description: "Text as PostgreSQL's type reads it" },
};

/** The types that variables can have, as far as the role may know them. */
export class InputTypes {
  readonly #types: ReadonlyMap<string, DescribedType>;

  private constructor(types: ReadonlyMap<string, DescribedType>) {
    this.#types = types;
  }

  /** Reads the types with these names and those that they refer to, the nearest first. `isKnown`: whether the role may introspect. */
  static async read(session: AgentSession, names: ReadonlySet<string>, isKnown: boolean): Promise<InputTypes> {
    const types = new Map<string, DescribedType>();
    const seen = new Set(Object.keys(scalars));
    let level = isKnown ? [...names] : [];
    while (level.length > 0 && types.size < mostTypes) {
      const asked = level.filter((name) => !seen.has(name)).slice(0, mostTypes - types.size);
      for (const name of asked) seen.add(name);
      const found = await readTypes(session, asked);
      for (const type of found) types.set(type.name, type);
      level = [...new Set(found.flatMap(({ inputFields }) => (inputFields ?? []).map(({ type }) => namedIn(type))))];
    }
    return new InputTypes(types);
  }

  /** A writer of the schemas of one tool. */
  writer(): InputSchemaWriter {
    return new InputSchemaWriter(this.#types);
  }
}

class InputSchemaWriter {
  readonly #types: ReadonlyMap<string, DescribedType>;
  /** The input objects that schemas refer to, by name. */
  readonly definitions: Record<string, JsonSchema> = {};
  readonly #queue: DescribedType[] = [];
  readonly #defined = new Set<string>();

  constructor(types: ReadonlyMap<string, DescribedType>) {
    this.#types = types;
  }

  /** The schema of a variable's type. */
  ofVariable(type: TypeNode): JsonSchema {
    if (type.kind === Kind.NON_NULL_TYPE) return this.ofVariable(type.type);
    if (type.kind === Kind.LIST_TYPE) return { type: 'array', items: this.ofVariable(type.type) };
    return this.#ofName(type.name.value);
  }

  /** Writes the definitions that the schemas so far refer to, the nearest first, as many as are allowed. */
  finish(): void {
    for (let type = this.#queue.shift(); type !== undefined; type = this.#queue.shift()) {
      const fields = type.inputFields ?? [];
      const required = fields.filter((field) => field.type.kind === 'NON_NULL' && field.defaultValue === null).map(({ name }) => name);
      this.definitions[type.name] = {
        type: 'object',
        ...(type.description && { description: type.description }),
        properties: Object.fromEntries(
          fields.map(({ name, description, type: of }) => [name, { ...this.#ofReference(of), ...(description && { description }) }]),
        ),
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      };
    }
  }

  #ofReference(reference: TypeReference): JsonSchema {
    const { kind, name, ofType } = reference;
    if (ofType === null || ofType === undefined) return this.#ofName(name ?? '');
    return kind === 'NON_NULL' ? this.#ofReference(ofType) : { type: 'array', items: this.#ofReference(ofType) };
  }

  #ofName(name: string): JsonSchema {
    const scalar = scalars[name];
    if (scalar !== undefined) return scalar;
    const type = this.#types.get(name);
    if (type === undefined) return { description: `A value of the GraphQL type ${name}` };
    if (type.kind === 'ENUM') return { type: 'string', enum: (type.enumValues ?? []).map((value) => value.name) };
    if (type.kind !== 'INPUT_OBJECT') return { description: type.description ?? `A value of the GraphQL type ${name}` };
    if (!this.#defined.has(name)) {
      if (this.#defined.size >= mostDefinitions) return { type: 'object', description: `${name}; describe_type defines it` };
      this.#defined.add(name);
      this.#queue.push(type);
    }
    return { $ref: `#/$defs/${name}` };
  }
}

/** The name at the core of a variable's type. */
export function namedOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedOf(type.type);
}

function namedIn(reference: TypeReference): string {
  return writeReference(reference).replace(/[[\]!]/g, '');
}
