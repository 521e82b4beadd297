/** The tools that describe what a role may use: types, root fields, and the definition of a type. */
import { ApiError, quote } from '../errors/api-error.ts';
import { readSchemaHead, readTypes, type SchemaHead } from './introspect.ts';
import type { AgentSession, AgentSettings } from './session.ts';
import { type Arguments, makeTool, type Tool, type ToolResult, textArgument, textResult } from './tool.ts';
import { hasWord, takeFitting, writeDefinition, writeField } from './write-definitions.ts';

const search = { type: 'string', description: 'Only those whose name or description contains this word' };
const after = { type: 'integer', minimum: 0, description: 'How many to skip, to read on' };
const kinds: Readonly<Record<string, string>> = {
  OBJECT: 'type',
  INPUT_OBJECT: 'input',
  ENUM: 'enum',
  SCALAR: 'scalar',
  INTERFACE: 'interface',
  UNION: 'union',
};
/** What there is for each table would hide the tables: pages and responses by their names, inputs and scalars by their kinds. */
const derived = /(Connection|Edge|Aggregate|AggregateResult|InsertResponse|UpdateResponse|DeleteResponse)$/;
const firstKinds: readonly string[] = ['OBJECT', 'INTERFACE', 'UNION', 'ENUM'];
/** How much of a result descriptions take at most, in characters: all of them would be more than a model can use. */
const longestText = 24_000;
const mostSkipped = 1_000_000;
const mostNames = 20;

export function makeSchemaTools(session: AgentSession, settings: AgentSettings): readonly Tool[] {
  const most = Math.min(longestText, Math.floor(settings.resultSize / 3));
  return [makeListTypes(session, most), makeListFields(session, settings, most), makeDescribeType(session, most)];
}

function makeListTypes(session: AgentSession, most: number): Tool {
  return makeTool({
    name: 'list_types',
    title: 'List types',
    description:
      'Lists the types of the GraphQL schema that this role sees, one a line: tables are object types. Begin with "search", then describe_type.',
    properties: {
      search,
      kind: { type: 'string', enum: Object.values(kinds), description: 'Only types of this kind; all kinds otherwise' },
      after,
    },
    effect: 'reads',
    call: async (values) => {
      const word = textArgument(values, 'search') ?? '';
      const kind = kindArgument(values);
      const { types } = await readSchemaHead(session);
      const chosen = types.filter((type) => (kind === null || kinds[type.kind] === kind) && hasWord(word, type.name, type.description));
      const isOverview = word === '' && kind === null;
      const shown = isOverview ? chosen.filter((type) => firstKinds.includes(type.kind) && !derived.test(type.name)) : chosen;
      const lines = shown.map(({ kind: of, name, description }) => `${kinds[of] ?? of} ${name}${describeShortly(description)}`);
      const left = chosen.length - shown.length;
      const note = left === 0 ? '' : `\n# Not shown: ${left} inputs, scalars, pages and responses; "search" or "kind" shows them.`;
      return listResult(lines, values, { most, things: 'types', note });
    },
  });
}

function kindArgument(values: Arguments): string | null {
  const kind = textArgument(values, 'kind') ?? null;
  if (kind === null || Object.values(kinds).includes(kind)) return kind;
  throw new ApiError('BAD_USER_INPUT', `There is no kind ${quote(kind)}. The kinds are ${Object.values(kinds).join(', ')}.`);
}

function makeListFields(session: AgentSession, { allowsWrites }: AgentSettings, most: number): Tool {
  const roots = allowsWrites ? ['Query', 'Mutation'] : ['Query'];
  return makeTool({
    name: 'list_fields',
    title: 'List root fields',
    description: `Lists the fields of ${roots.join(' or ')} with their arguments, one a line: where an operation begins.`,
    properties: { root: { type: 'string', enum: roots, description: 'Default: Query' }, search, after },
    effect: 'reads',
    call: async (values) => {
      const root = textArgument(values, 'root') ?? 'Query';
      if (!roots.includes(root))
        throw new ApiError('BAD_USER_INPUT', `The argument "root" must be ${roots.join(' or ')}: this server runs no others.`);
      const word = textArgument(values, 'search') ?? '';
      const name = rootName(await readSchemaHead(session), root);
      const [type] = name === null ? [] : await readTypes(session, [name]);
      const fields = (type?.fields ?? []).filter((field) => hasWord(word, field.name, field.description));
      const lines = fields.map((field) => `${writeField(field)}${describeShortly(field.description)}`);
      return listResult(lines, values, { most, things: 'fields', note: '' });
    },
  });
}

/** Null if the role may not write anything. */
function rootName({ queryType, mutationType }: SchemaHead, root: string): string | null {
  return root === 'Query' ? queryType.name : (mutationType?.name ?? null);
}

function makeDescribeType(session: AgentSession, most: number): Tool {
  const names = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: mostNames, description: 'Names of types' };
  return makeTool({
    name: 'describe_type',
    title: 'Describe types',
    description: 'Defines types in the GraphQL schema definition language: their fields with arguments and descriptions, or their values.',
    properties: { names, search: { ...search, description: 'Only fields and values whose name or description contains this word' } },
    required: ['names'],
    effect: 'reads',
    call: async (values) => {
      const asked = namesArgument(values);
      const types = await readTypes(session, asked);
      const missing = asked.filter((name) => !types.some((type) => type.name === name));
      if (types.length === 0)
        throw new ApiError(
          'BAD_USER_INPUT',
          `The schema of this role has no type ${missing.map(quote).join(', ')}. list_types finds names.`,
        );
      const word = textArgument(values, 'search') ?? '';
      const definitions = types.map((type) => writeDefinition(type, word));
      const { text, shown, total } = takeFitting(definitions, most, '\n\n');
      const notes = [
        ...(missing.length > 0 ? [`# There is no type ${missing.join(', ')}.`] : []),
        ...(shown === total ? [] : [`# Cut: ${shown} of ${total} types fit. Ask for fewer names, or for fields by "search".`]),
      ];
      return textResult([text, ...notes].join('\n\n'), { definitions: text, missing, isComplete: shown === total });
    },
  });
}

function namesArgument(values: Arguments): readonly string[] {
  const given = typeof values.names === 'string' ? [values.names] : values.names;
  const isList = Array.isArray(given) && given.length > 0 && given.length <= mostNames;
  if (!isList || !given.every((name): name is string => typeof name === 'string'))
    throw new ApiError('BAD_USER_INPUT', `The argument "names" must be a list of 1 to ${mostNames} names of types.`);
  const wrong = given.find((name) => !/^[_A-Za-z]\w*$/.test(name));
  if (wrong !== undefined) throw new ApiError('BAD_USER_INPUT', `${quote(wrong)} is not the name of a type.`);
  return [...new Set(given)];
}

/** The first line of a description, which says most. */
function describeShortly(description: string | null): string {
  const [line = ''] = (description ?? '').split('\n', 1);
  return line === '' ? '' : ` # ${line.slice(0, 200).toWellFormed()}`;
}

interface Listing {
  /** In characters. */
  readonly most: number;
  /** What the lines are. */
  readonly things: string;
  /** To follow the lines. */
  readonly note: string;
}

/** How many lines the argument `after` skips. */
function skippedOf({ after }: Arguments): number {
  const skipped = after ?? 0;
  if (typeof skipped === 'number' && Number.isInteger(skipped) && skipped >= 0 && skipped <= mostSkipped) return skipped;
  throw new ApiError('BAD_USER_INPUT', `The argument "after" must be a whole number from 0 to ${mostSkipped}.`);
}

function listResult(lines: readonly string[], values: Arguments, { most, things, note }: Listing): ToolResult {
  const skipped = skippedOf(values);
  const left = lines.slice(skipped);
  if (left.length === 0)
    return textResult(`There are no${skipped > 0 ? ' more' : ' such'} ${things}.`, { [things]: [], total: lines.length });
  const { text, shown } = takeFitting(left, most, '\n');
  const isComplete = shown === left.length;
  const next = skipped + Math.max(1, shown);
  const remaining = isComplete ? '' : `\n# ${left.length - shown} more: narrow "search", or read on with "after": ${next}`;
  const more = isComplete ? {} : { nextAfter: next };
  return textResult(text + remaining + note, { [things]: text.split('\n'), total: lines.length, ...more });
}
