/** Random types that a schema declares: enums, domains, and composite types with all of these, JSON, arrays and each other in them. */
import {
  type AttributeDescription,
  type ColumnType,
  type CompositeDescription,
  compositeType,
  type DomainDescription,
  type EnumDescription,
  enumType,
  integerType,
  jsonbType,
  ofDomain,
  randomAttributeType,
  textType,
} from './column-types.ts';
import { FreshNames, randomName } from './hostile-names.ts';
import { addShape } from './random-shapes.ts';
import type { RandomSource } from './random-source.ts';
import type { Directive } from './schema-description.ts';
import { quoteIdentifier } from './schema-sql.ts';

/** The types, each after those that it is made of; and what columns can have of them. */
export interface DeclaredTypes {
  readonly enums: readonly EnumDescription[];
  readonly domains: DomainDescription[];
  readonly composites: readonly CompositeDescription[];
  readonly types: readonly ColumnType[];
}

/** Makes up types. Tables have row types, so that all of them share a name space. */
export function randomTypes(random: RandomSource, schema: string, names: FreshNames): DeclaredTypes {
  const enums = Array.from({ length: random.integer(0, 2) }, () => randomEnum(random, names.take(random, 0.15)));
  const enumTypes = enums.map((each) => enumType(quoteIdentifier(schema, each.name), each));
  const domains: DomainDescription[] = [];
  const composites: CompositeDescription[] = [];
  const types: ColumnType[] = [];
  const members: ColumnType[] = [...enumTypes];
  const count = random.pick([0, 1, 1, 2, 3]);
  for (let number = 0; number < count; number += 1) {
    if (random.chance(0.4)) {
      const domain = randomDomain(random, names.take(random, 0.15));
      domains.push(domain);
      const type = ofDomain(quoteIdentifier(schema, domain.name), domain);
      members.push(type);
      types.push(type);
    }
    const composite = randomComposite(random, names.take(random, 0.15), members, composites);
    const type = compositeType(random, quoteIdentifier(schema, composite.name), composite);
    composites.push(composite);
    members.push(type);
    types.push(type);
    // Over a type without a legal name, it is a text.
    if (random.chance(0.3) && /^[A-Za-z]\w*$/.test(String(composite.directive?.name ?? composite.name))) {
      const domain = { name: names.take(random, 0.15), base: type, checkSql: null };
      domains.push(domain);
      types.push(ofDomain(quoteIdentifier(schema, domain.name), domain));
    }
  }
  return { enums, domains, composites, types: [...enumTypes, ...types] };
}

function randomEnum(random: RandomSource, name: string): EnumDescription {
  const names = new FreshNames();
  const labels = Array.from({ length: random.integer(1, 4) }, () => names.take(random, 0.25));
  const mapped = random.subset(labels, 0.4);
  const directive: Directive = {
    ...(random.chance(0.3) && { mappings: Object.fromEntries(mapped.map((label) => [label, randomName(random, 0.05)])) }),
    ...(random.chance(0.15) && { name: randomName(random, 0.1) }),
  };
  return { name, labels, directive: Object.keys(directive).length > 0 ? directive : null };
}

function randomDomain(random: RandomSource, name: string): DomainDescription {
  const [base, checkSql] = random.pick([
    [integerType, 'value > -10'],
    [integerType, null],
    [textType, "value <> 'b'"],
    [textType, null],
    [jsonbType, "jsonb_typeof(value) <> 'string'"],
    [jsonbType, null],
  ] as const);
  return { name, base, checkSql };
}

function randomComposite(
  random: RandomSource,
  name: string,
  members: readonly ColumnType[],
  composites: readonly CompositeDescription[],
): CompositeDescription {
  const names = new FreshNames();
  // One without a field would be no object.
  const attributes: AttributeDescription[] = Array.from({ length: random.integer(1, 4) }, (_, index) => ({
    name: names.take(random, 0.15),
    type: random.chance(0.15) ? jsonbType : randomAttributeType(random, members),
    directive: index > 0 && random.chance(0.1) ? { name: randomName(random, 0.1) } : null,
    shape: null,
  }));
  for (const attribute of attributes) addShape(random, attribute, `${name}.${attribute.name}`, composites);
  return { name, attributes, directive: random.chance(0.15) ? { name: randomName(random, 0.1) } : null };
}
