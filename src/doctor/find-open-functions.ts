/** Functions that run with the privileges of their owner, and procedures, whose fields always fail. */
import { functionName } from '../model/object-names.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

export function findOpenFunctions(examination: Examination): Finding[] {
  return [...findDefiners(examination), ...findProcedures(examination)];
}

function findDefiners(examination: Examination): Finding[] {
  const { catalog, model, facts } = examination;
  if (facts.bypassesRowSecurity) return [];
  return catalog.functions.flatMap((source) => {
    const definer = facts.definerFunctions.get(source.id);
    if (!definer) return [];
    const { owner, ownerBypassesRowSecurity, fixedSearchPath, grantees } = definer;
    const name = functionName(catalog, source);
    const routine = examination.routineSql(source);
    const power = ownerBypassesRowSecurity ? ', who bypasses row level security' : '';
    const message = `${model.role} can execute it with the privileges of ${owner}${power}; if that is not intended, revoke the privilege or make it security invoker`;
    const remedy = grantees.length > 0 ? `revoke execute on ${routine} from ${grantees.join(', ')};` : null;
    const open = finding('open-definer-function', 'function', name, message, { remedy });
    if (fixedSearchPath) return [open];
    const danger = `it runs with the privileges of ${owner} but looks up names in the search path of its caller; set its search path`;
    const fix = `alter ${routine} set search_path = ${examination.quote(source.schema)}, pg_temp;`;
    return [open, finding('definer-search-path', 'function', name, danger, { remedy: fix })];
  });
}

/** As in pg_graphql, procedures are fields, but calling one fails. */
function findProcedures({ catalog, model }: Examination): Finding[] {
  const fields = new Set(model.routines.map(({ id }) => id));
  return catalog.functions.flatMap((source) => {
    if (!fields.has(source.id) || source.kind !== 'p') return [];
    return finding(
      'call-fails',
      'function',
      functionName(catalog, source),
      'it is a procedure, so its field always fails; make it a function',
    );
  });
}
