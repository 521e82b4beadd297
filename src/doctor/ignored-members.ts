/** What comment directives may say of each kind of object, and what in them says nothing. */
import { directiveText, readDirective } from '../model/directives.ts';
import { type Finding, type FindingObject, finding } from './report.ts';

/** Something that has a comment directive. */
export interface DirectiveHolder {
  readonly kind: keyof typeof members;
  readonly object: FindingObject;
  readonly name: string;
  /** Of an enum. */
  readonly labels?: readonly string[];
}

/** What a member has to be; null where the value is one. */
type Expectation = (value: unknown, holder: DirectiveHolder) => string | null;

const anything: Expectation = () => null;
const text: Expectation = (value) => (typeof value === 'string' ? null : 'text');
const flag: Expectation = (value) => (typeof value === 'boolean' ? null : 'true or false');
const count: Expectation = (value) => (Number(value) >= 0 ? null : 'a number from 0 on');
const enabled: Expectation = (value) =>
  isObject(value) && ['true', 'false'].includes(String(value.enabled)) ? null : '{"enabled": true} or {"enabled": false}';
const columnNames: Expectation = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string') ? null : 'a list of names of columns';
const list: Expectation = (value) => (Array.isArray(value) ? null : 'a list');
const mappings: Expectation = (value, { labels = [] }) => {
  if (!isObject(value) || Object.values(value).some((name) => typeof name !== 'string')) return 'an object of names by label';
  const unknown = Object.keys(value).find((label) => !labels.includes(label));
  return unknown === undefined ? null : `about labels that exist, which "${unknown}" does not`;
};

const members = {
  schema: { inflect_names: flag, max_rows: count, introspection: flag },
  table: {
    name: anything,
    description: text,
    max_rows: count,
    totalCount: enabled,
    aggregate: enabled,
    primary_key_columns: columnNames,
    foreign_keys: list,
  },
  column: { name: anything, description: text },
  relation: { local_name: anything, foreign_name: anything },
  function: { name: anything, description: text },
  enum: { name: anything, description: text, mappings },
} as const satisfies Record<string, Record<string, Expectation>>;

/** A finding for each member of a readable directive that says nothing, or for the directive itself. */
export function findIgnored(comment: string, holder: DirectiveHolder): Finding[] {
  const report = (message: string): Finding => finding('ignored-directive', holder.object, holder.name, message);
  const source = directiveText(comment);
  if (source === undefined) return [report('its comment has "@graphql(" but no directive that a parenthesis closes: complete it')];
  if (!isObject(JSON.parse(source))) return [report('its comment directive is no JSON object: write {"name": value}')];
  const known: Readonly<Record<string, Expectation>> = members[holder.kind];
  return Object.entries(readDirective(comment)).flatMap(([key, value]) => {
    const expectation = Object.hasOwn(known, key) ? known[key] : undefined;
    if (!expectation)
      return report(`its comment directive has "${key}", which means nothing here: it may have ${Object.keys(known).join(', ')}`);
    const expected = value === null ? null : expectation(value, holder);
    return expected === null ? [] : report(`"${key}" of its comment directive is not understood: it has to be ${expected}`);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
