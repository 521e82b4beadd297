/**
 * The lines of the diagram: from a field of a table to the table whose row it returns. The reverse relation, a collection, has no line of
 * its own.
 */
import type { Box } from './lay-out-tables.ts';
import type { ApiTable } from './read-tables.ts';
import { heightOfRelation } from './table-box.tsx';

interface RelationLinesProps {
  readonly tables: readonly ApiTable[];
  readonly boxes: ReadonlyMap<string, Box>;
  readonly showsColumns: boolean;
  /** Its relations stand out. */
  readonly chosen: string | null;
  readonly isFaint: (table: ApiTable) => boolean;
}

export function RelationLines({ tables, boxes, showsColumns, chosen, isFaint }: RelationLinesProps) {
  return tables.flatMap((table) =>
    table.relations.flatMap(({ field, target, isMany }) => {
      const [from, to] = [boxes.get(table.type), boxes.get(target)];
      if (isMany || from === undefined || to === undefined) return [];
      const isOfChosen = table.type === chosen || target === chosen;
      const className = isFaint(table) ? 'relation faint' : isOfChosen ? 'relation chosen' : 'relation';
      const height = showsColumns ? heightOfRelation(table, field) : from.height / 2;
      return [<path key={`${table.type}.${field}`} className={className} d={drawLine(from, height, to)} />];
    }),
  );
}

/** From the side of a box to the nearer side of the other. */
function drawLine(from: Box, height: number, to: Box): string {
  const isRight = to.x > from.x + from.width / 2;
  const isBeside = Math.abs(to.x - from.x) < from.width;
  const startX = isRight || isBeside ? from.x + from.width : from.x;
  const endX = isBeside ? to.x + to.width : isRight ? to.x : to.x + to.width;
  const [startY, endY] = [from.y + height, to.y + 16];
  const reach = isBeside ? 40 : Math.max(40, Math.abs(endX - startX) / 2);
  const startReach = startX + (isRight || isBeside ? reach : -reach);
  const endReach = endX + (isBeside || !isRight ? reach : -reach);
  return `M${startX} ${startY}C${startReach} ${startY} ${endReach} ${endY} ${endX} ${endY}`;
}
