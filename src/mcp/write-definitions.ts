/** Types as fragments of the schema definition language, which models read well and which take little room. */
import { Kind, print } from 'graphql';
import { type DescribedField, type DescribedInput, type DescribedType, writeReference } from './introspect.ts';

/** A text of at most so many characters, and what had to be left out. */
interface Excerpt {
  readonly text: string;
  readonly shown: number;
  readonly total: number;
}

/** The definition of a type, with its members whose names or descriptions contain a word (all if it is ''). */
export function writeDefinition(type: DescribedType, word: string): string {
  const { name, kind } = type;
  const described = describe(type.description, '');
  const members = membersOf(type).filter((member) => hasWord(word, member.name, member.description));
  const body = members.length === 0 ? ' {}' : ` {\n${members.map(({ text }) => text).join('\n')}\n}`;
  switch (kind) {
    case 'SCALAR':
      return `${described}scalar ${name}`;
    case 'ENUM':
      return `${described}enum ${name}${body}`;
    case 'INPUT_OBJECT':
      return `${described}input ${name}${body}`;
    case 'UNION':
      return `${described}union ${name} = ${(type.possibleTypes ?? []).map(writeReference).join(' | ')}`;
    case 'INTERFACE':
      return `${described}interface ${name}${body}\n# implemented by ${(type.possibleTypes ?? []).map(writeReference).join(', ')}`;
    default: {
      const interfaces = (type.interfaces ?? []).map(writeReference);
      return `${described}type ${name}${interfaces.length > 0 ? ` implements ${interfaces.join(' & ')}` : ''}${body}`;
    }
  }
}

interface Member {
  readonly name: string;
  readonly description: string | null;
  readonly text: string;
}

function membersOf({ fields, inputFields, enumValues }: DescribedType): readonly Member[] {
  const values = (enumValues ?? []).map((value) => ({ ...value, text: `${describe(value.description, '  ')}  ${value.name}` }));
  const inputs = (inputFields ?? []).map((input) => ({ ...input, text: `${describe(input.description, '  ')}  ${writeInput(input)}` }));
  const others = (fields ?? []).map((field) => ({ ...field, text: `${describe(field.description, '  ')}  ${writeField(field)}` }));
  return [...others, ...inputs, ...values];
}

/** A field on one line, without its description. */
export function writeField({ name, args, type, isDeprecated, deprecationReason }: DescribedField): string {
  const listed = args.length === 0 ? '' : `(${args.map(writeInput).join(', ')})`;
  const deprecated = isDeprecated ? ` @deprecated(reason: ${JSON.stringify(deprecationReason ?? '')})` : '';
  return `${name}${listed}: ${writeReference(type)}${deprecated}`;
}

function writeInput({ name, type, defaultValue }: DescribedInput): string {
  return `${name}: ${writeReference(type)}${defaultValue === null ? '' : ` = ${defaultValue}`}`;
}

/** The description as a line or a block of its own; '' if there is none. */
function describe(description: string | null, indent: string): string {
  if (description === null || description === '') return '';
  const text = print({ kind: Kind.STRING, value: description, block: true });
  const short = description.includes('\n') || /["\\]/.test(description) ? text : JSON.stringify(description);
  return `${short.replaceAll(/^/gm, indent)}\n`;
}

/** Whether a name or a description contains a word, whatever its case. */
export function hasWord(word: string, name: string, description: string | null): boolean {
  const wanted = word.toLowerCase();
  return name.toLowerCase().includes(wanted) || (description ?? '').toLowerCase().includes(wanted);
}

/** As many of the texts as fit into so many characters together; a first one that is too long is cut. */
export function takeFitting(texts: readonly string[], most: number, separator: string): Excerpt {
  let length = 0;
  let shown = 0;
  for (const text of texts) {
    length += text.length + separator.length;
    if (length > most) break;
    shown += 1;
  }
  const [first] = texts;
  if (shown === 0 && first !== undefined) return { text: `${first.slice(0, most).toWellFormed()}\n…`, shown: 0, total: texts.length };
  return { text: texts.slice(0, shown).join(separator), shown, total: texts.length };
}
