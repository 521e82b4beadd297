/**
 * The doctor: examines the exposed schemas as one role sees them, and reports what is not in the API and why, what is dangerous, and what
 * is slow or has no effect. It only reads.
 */

import { runInSlices } from '../budget/turns.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import { loadPrivileges } from '../catalog/load-privileges.ts';
import type { Database } from '../database/database.ts';
import { buildReportedModel } from '../model/build-model.ts';
import { checkDirectives } from '../model/check-directives.ts';
import type { ModelSettings } from '../model/model-settings.ts';
import { automatic, defaultRequestHeaders } from '../settings/request-settings.ts';
import { Examination } from './examination.ts';
import { findClashingGroups } from './find-clashing-groups.ts';
import { findClashingRelations } from './find-clashing-relations.ts';
import { findComputedColumns } from './find-computed-columns.ts';
import { findExclusions } from './find-exclusions.ts';
import { findHiddenColumns } from './find-hidden-columns.ts';
import { findInferredKeys } from './find-inferred-keys.ts';
import { findInheritedKeys } from './find-inherited-keys.ts';
import { findMislabelledFunctions } from './find-mislabelled-functions.ts';
import { findMissingSearchPath } from './find-missing-search-path.ts';
import { findOpenFunctions } from './find-open-functions.ts';
import { findOpenTables } from './find-open-tables.ts';
import { findOpenViews } from './find-open-views.ts';
import { findPowers } from './find-powers.ts';
import { findRefusedWrites } from './find-refused-writes.ts';
import { findSlowKeys } from './find-slow-keys.ts';
import { findUnsetSettings, type SetByRequests } from './find-unset-settings.ts';
import type { Severity } from './finding-codes.ts';
import { foldPartitions } from './fold-partitions.ts';
import { loadFacts } from './load-facts.ts';
import { compareFindings, type DoctorReport } from './report.ts';
import { reportDirectives } from './report-directives.ts';

/** What depends on settings of the graph, beside the schema. */
export interface ExaminedSettings extends SetByRequests {
  readonly extraSearchPath: readonly string[];
}

const defaults: ExaminedSettings = { extraSearchPath: [], requestSettings: [automatic], requestHeaders: defaultRequestHeaders };

/** Examines the database. Rejects with UNAUTHENTICATED if the role does not exist. */
export async function examineDatabase(
  database: Database,
  schemas: readonly string[],
  role: string,
  settings: ModelSettings = {},
  examined: ExaminedSettings = defaults,
): Promise<DoctorReport> {
  const catalog = await loadCatalog(database, schemas);
  const privileges = await loadPrivileges(database, catalog, role);
  const examination = new Examination(
    catalog,
    await runInSlices(buildReportedModel(catalog, privileges, settings)),
    await loadFacts(database, catalog, role),
  );
  const examine = [
    findPowers,
    findOpenTables,
    findOpenViews,
    findOpenFunctions,
    findMislabelledFunctions,
    findSlowKeys,
    findHiddenColumns,
    findRefusedWrites,
    findComputedColumns,
    findInheritedKeys,
    findExclusions,
    findClashingRelations,
    findClashingGroups,
    findInferredKeys,
  ];
  const problems = await runInSlices(checkDirectives(catalog));
  const missing = await findMissingSearchPath(database, examined.extraSearchPath);
  const unset = await findUnsetSettings(database, examined);
  const found = [...missing, ...unset, ...reportDirectives(problems), ...examine.flatMap((find) => find(examination))];
  const findings = foldPartitions(examination, found).sort(compareFindings);
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { role, schemas, summary: { error: count('error'), warning: count('warning'), info: count('info') }, findings };
}
