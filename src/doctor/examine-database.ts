/**
 * The doctor: examines the exposed schemas as one role sees them, and reports what is not in the API and why, what is dangerous, and what
 * is slow or has no effect. It only reads.
 */
import { runInSlices } from '../budget/turns.ts';
import { loadCatalog } from '../catalog/load-catalog.ts';
import { loadPrivileges } from '../catalog/privileges.ts';
import type { Database } from '../database/database.ts';
import type { ModelSettings } from '../model/additions.ts';
import { buildReportedModel } from '../model/build-model.ts';
import { checkDirectives } from '../model/check-directives.ts';
import { automatic, defaultRequestHeaders } from '../settings/check-settings.ts';
import { Examination } from './examination.ts';
import { findExclusions, reportDirectives } from './find-exclusions.ts';
import { findKeys } from './find-keys.ts';
import { findOpenAccess } from './find-open-access.ts';
import { findPlacements } from './find-placements.ts';
import { type ExaminedSettings, findSettings } from './find-settings.ts';
import { findUnannounced } from './find-unannounced.ts';
import { findWrites } from './find-writes.ts';
import { compareFindings, type DoctorReport, type Finding, type Severity } from './finding-codes.ts';
import { loadSafety } from './safety.ts';

const defaults: ExaminedSettings = { extraSearchPath: [], requestSettings: [automatic], requestHeaders: defaultRequestHeaders };

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
    await loadSafety(database, catalog, role),
  );
  const problems = await runInSlices(checkDirectives(catalog));
  const found = [
    ...(await findSettings(database, examined)),
    ...(await findUnannounced(database, examination)),
    ...(await findPlacements(database, examination)),
    ...reportDirectives(problems),
    ...[findOpenAccess, findKeys, findWrites, findExclusions].flatMap((find) => find(examination)),
  ];
  const findings = foldPartitions(examination, found).sort(compareFindings);
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { role, schemas, summary: { error: count('error'), warning: count('warning'), info: count('info') }, findings };
}

/** Folds findings of partitions into that of their table, or else into that of the first partition. */
function foldPartitions(examination: Examination, findings: readonly Finding[]): Finding[] {
  const { catalog, safety } = examination;
  if (safety.partitionRoots.size === 0) return [...findings];
  const names = new Map(catalog.tables.map((table) => [table.id, examination.name(table)]));
  const roots = new Map<string, string>();
  for (const [id, rootId] of safety.partitionRoots) roots.set(names.get(id) ?? '', names.get(rootId) ?? `${rootId}`);
  const groups = Map.groupBy(findings, (finding) => {
    const partition = partitionOf(finding.name, roots);
    const whole = partition === undefined ? finding.name : `${roots.get(partition)}${finding.name.slice(partition.length)}`;
    // A function or enum may have the same name as a table.
    return [finding.code, isOfTable(finding) ? '' : finding.object, whole].join(' ');
  });
  return [...groups.values()].map((group) => fold(group, roots));
}

function isOfTable({ object }: Finding): boolean {
  return /table$|view$/.test(object) || ['column', 'relation', 'policy'].includes(object);
}

/** The partition that a finding is about: the finding's name, or a part of it before a dot. */
function partitionOf(name: string, roots: ReadonlyMap<string, string>): string | undefined {
  if (roots.has(name)) return name;
  for (let end = name.lastIndexOf('.'); end > 0; end = name.lastIndexOf('.', end - 1)) {
    if (roots.has(name.slice(0, end))) return name.slice(0, end);
  }
  return undefined;
}

function fold(group: readonly Finding[], roots: ReadonlyMap<string, string>): Finding {
  const main = group.find(({ name }) => partitionOf(name, roots) === undefined) ?? group[0]!;
  const others = group.filter((finding) => finding !== main);
  if (others.length === 0) return main;
  const remedies = [main, ...others].flatMap(({ remedy }) => remedy ?? []);
  return {
    ...main,
    remedy: remedies.length > 0 ? remedies.join('\n') : null,
    partitions: others.map(({ object, name }) => `${object} ${name}`),
  };
}
