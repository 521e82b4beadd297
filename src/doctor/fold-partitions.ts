/** Folds equal findings of a partitioned table and its partitions, or of several partitions of one table, into one. */
import type { Examination } from './examination.ts';
import type { Finding } from './report.ts';

/** Folds findings of partitions into that of their table, or else into that of the first partition. */
export function foldPartitions(examination: Examination, findings: readonly Finding[]): Finding[] {
  const { catalog, facts } = examination;
  if (facts.partitionRoots.size === 0) return [...findings];
  const names = new Map(catalog.tables.map((table) => [table.id, examination.name(table)]));
  const roots = new Map<string, string>();
  for (const [id, rootId] of facts.partitionRoots) roots.set(names.get(id) ?? '', names.get(rootId) ?? `${rootId}`);
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
