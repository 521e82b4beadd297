/**
 * The comment directives of a catalog: those that cannot be read, which break every request, and members that say nothing. Out: a finding
 * for each, and the catalog without the comments that cannot be read, from which a model can be built.
 */
import type { Catalog } from '../catalog/catalog.ts';
import { ApiError } from '../errors.ts';
import { directiveText, readDirective, readMaxRows } from '../model/directives.ts';
import { functionName, qualifiedName } from '../model/object-names.ts';
import { tableKinds } from '../model/table-kinds.ts';
import { type DirectiveHolder, findIgnored } from './ignored-members.ts';
import { type Finding, finding } from './report.ts';

export interface ExaminedDirectives {
  readonly catalog: Catalog;
  readonly findings: readonly Finding[];
}

/** Reads each directive of the exposed schemas as the model would. */
export function examineDirectives(catalog: Catalog): ExaminedDirectives {
  const findings: Finding[] = [];
  const check = (comment: string | null, holder: DirectiveHolder): string | null => {
    if (comment === null) return null;
    const problem = whyBroken(comment, holder);
    if (problem === undefined) findings.push(...findIgnored(comment, holder));
    else findings.push(finding('broken-directive', holder.object, holder.name, problem));
    return problem === undefined ? comment : null;
  };
  return { catalog: { ...catalog, ...withCheckedComments(catalog, check) }, findings };
}

type Check = (comment: string | null, holder: DirectiveHolder) => string | null;

function withCheckedComments(catalog: Catalog, check: Check): Omit<Catalog, 'setting'> {
  const schemaNames = new Map(catalog.schemas.map(({ id, name }) => [id, name]));
  const tableNames = new Map(catalog.tables.map(({ id, schemaId, name }) => [id, qualifiedName(schemaNames.get(schemaId) ?? '', name)]));
  const checked = <T extends { readonly comment: string | null }>(source: T, holder: DirectiveHolder): T => {
    return { ...source, comment: check(source.comment, holder) };
  };
  return {
    schemas: catalog.schemas.map((schema) => checked(schema, { kind: 'schema', object: 'schema', name: schema.name })),
    tables: catalog.tables.map((table) => {
      const name = tableNames.get(table.id) ?? '';
      const columns = table.columns.map((column) =>
        checked(column, { kind: 'column', object: 'column', name: qualifiedName(name, column.name) }),
      );
      return { ...checked(table, { kind: 'table', object: tableKinds[table.kind], name }), columns };
    }),
    foreignKeys: catalog.foreignKeys.map((key) => {
      const name = qualifiedName(tableNames.get(key.tableId) ?? '', key.name);
      return checked(key, { kind: 'relation', object: 'relation', name });
    }),
    functions: catalog.functions.map((source) =>
      checked(source, { kind: 'function', object: 'function', name: functionName(catalog, source) }),
    ),
    types: new Map(
      [...catalog.types].map(([id, type]) => {
        const name = qualifiedName(type.schema, type.name);
        return [id, checked(type, { kind: 'enum', object: 'enum', name, labels: type.labels ?? [] })];
      }),
    ),
  };
}

/** Why the model cannot be built with a comment; undefined where it can. */
function whyBroken(comment: string, { kind }: DirectiveHolder): string | undefined {
  try {
    const directive = readDirective(comment);
    if (kind === 'schema' || kind === 'table') readMaxRows(directive);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!(error.cause instanceof SyntaxError)) return `its "max_rows" is no number of rows (${error.message}): correct the comment`;
    if (!isCutShort(comment)) return `its comment directive is no JSON (${error.cause.message}): correct the comment`;
    return 'its comment directive reaches to the last parenthesis of the comment: take the parentheses after the directive away';
  }
}

/** Whether the directive would be JSON if it ended with an earlier parenthesis. */
function isCutShort(comment: string): boolean {
  const text = directiveText(comment) ?? '';
  return [...text.matchAll(/\)/g)].some(({ index }) => {
    try {
      JSON.parse(text.slice(0, index));
      return true;
    } catch {
      return false;
    }
  });
}
