/** What Ctrl-K finds: views, tables, roles, users, saved operations, and the types and fields of the schema. Matched as people abbreviate. */
import { defaultFilter } from 'cmdk';
import { type GraphQLField, type GraphQLNamedType, type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import type { CallerChoices, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import type { ViewName } from './page-location.ts';
import { readTables } from './read-tables.ts';

export type PaletteAction =
  | { readonly kind: 'view'; readonly view: ViewName }
  | { readonly kind: 'table'; readonly table: string }
  | { readonly kind: 'operation'; readonly operation: SavedOperation }
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'docs'; readonly type: GraphQLNamedType; readonly field: GraphQLField<unknown, unknown> | null };

/** In the order in which they are shown if they match equally well. */
const groups = ['Views', 'Tables', 'Saved operations', 'Roles', 'Users', 'Fields', 'Docs'] as const;
export type PaletteGroup = (typeof groups)[number];

export interface PaletteItem {
  readonly id: string;
  readonly group: PaletteGroup;
  readonly label: string;
  /** Shown beside it: what happens, or a type. */
  readonly detail: string;
  readonly action: PaletteAction;
}

interface Contents {
  readonly views: readonly ViewName[];
  readonly schema: GraphQLSchema | null | undefined;
  readonly operations: readonly SavedOperation[];
  readonly choices: CallerChoices;
}

export function listItems({ views, schema, operations, choices }: Contents): readonly PaletteItem[] {
  const item = (group: PaletteGroup, label: string, detail: string, action: PaletteAction): PaletteItem => {
    return { id: `${group} ${label} ${detail}`, group, label, detail, action };
  };
  return [
    ...views.map((view) => item('Views', view, 'view', { kind: 'view', view })),
    ...(schema ? readTables(schema) : []).map(({ type, collection }) => item('Tables', type, collection, { kind: 'table', table: type })),
    ...operations.map((operation) => item('Saved operations', operation.name, 'open', { kind: 'operation', operation })),
    ...choices.roles.map((role) => item('Roles', role, 'act as this role', { kind: 'role', role })),
    ...choices.users.map(({ id, label }) => item('Users', label, id === label ? 'act as this user' : id, { kind: 'user', id })),
    ...Object.values(schema?.getTypeMap() ?? {}).flatMap((type) => listDocs(type, item)),
  ];
}

function listDocs(type: GraphQLNamedType, item: (...given: [PaletteGroup, string, string, PaletteAction]) => PaletteItem): PaletteItem[] {
  if (type.name.startsWith('__')) return [];
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
  const kind = isInputObjectType(type) ? 'input' : (type.astNode?.kind ?? 'type');
  return [
    item('Docs', type.name, type.description?.split('\n')[0] ?? kind, { kind: 'docs', type, field: null }),
    ...fields.map((field) => item('Fields', `${type.name}.${field.name}`, String(field.type), { kind: 'docs', type, field })),
  ];
}

/** How many of a group are shown. */
const mostOfGroup = { all: 6, found: 12 };
/** Worse matches are letters of unrelated words. */
const worstScore = 0.04;

/** The best matches by group, the group with the best one first; without a search, the first ones of what is not documentation. */
export function findItems(items: readonly PaletteItem[], search: string): readonly (readonly [PaletteGroup, readonly PaletteItem[]])[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = items.flatMap((item) => {
    if (words.length === 0) return item.group === 'Fields' || item.group === 'Docs' ? [] : [{ item, score: 1 }];
    const score = words.reduce((product, word) => (product === 0 ? 0 : product * scoreOf(item, word)), 1);
    return score > worstScore ** words.length ? [{ item, score }] : [];
  });
  const best = scored.toSorted((one, other) => other.score - one.score);
  const most = words.length === 0 ? mostOfGroup.all : mostOfGroup.found;
  const found = groups.flatMap((group) => {
    const inside = best.filter(({ item }) => item.group === group).slice(0, most);
    return inside.length === 0 ? [] : [{ group, score: inside[0]?.score ?? 0, items: inside.map(({ item }) => item) }];
  });
  return found.toSorted((one, other) => other.score - one.score).map(({ group, items: inside }) => [group, inside] as const);
}

function scoreOf({ label, detail, group }: PaletteItem, word: string): number {
  const named = hasLetters(label, word) ? defaultFilter(label, word) : 0;
  // A table beats what belongs to it, and that what is derived from it: aggregates, inputs.
  const isDerived = /(?:Result|Key|Connection|Edge|Response|Filter|Input|OrderBy)(?:\.|$)/.test(label);
  const weight = group === 'Fields' || group === 'Docs' ? (isDerived ? 0.5 : 0.9) : 1;
  const beside = group !== 'Docs' && detail.toLowerCase().includes(word) ? 0.1 : 0;
  return Math.max(named * weight, beside);
}

/** Whether a text has the letters of a word in their order: cheap, and false for most texts. */
function hasLetters(text: string, word: string): boolean {
  const lower = text.toLowerCase();
  let place = -1;
  for (const letter of word) {
    place = lower.indexOf(letter, place + 1);
    if (place < 0) return false;
  }
  return true;
}
