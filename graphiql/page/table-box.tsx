/** A table of the diagram: its name and, unless names are all that is shown, its columns and relations. A click or Enter chooses it; dragging moves it. */
import type { KeyboardEvent, PointerEvent } from 'react';
import { type Box, lineHeight, linesOf, titleHeight } from './lay-out-tables.ts';
import type { ApiTable } from './read-tables.ts';

/** In characters: as many as fit into the width of a box. */
const longestName = 18;
const longestLine = 26;

interface TableBoxProps {
  readonly table: ApiTable;
  readonly box: Box;
  readonly showsColumns: boolean;
  readonly isFaint: boolean;
  readonly isChosen: boolean;
  /** Whether Tab leads to it. */
  readonly isReached: boolean;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onPointerDown: (event: PointerEvent) => void;
}

export function TableBox({ table, box, showsColumns, isFaint, isChosen, isReached, onKeyDown, onPointerDown }: TableBoxProps) {
  const { x, y, width, height } = box;
  return (
    <g
      className={['table-box', ...(isFaint ? ['faint'] : []), ...(isChosen ? ['chosen'] : [])].join(' ')}
      data-table={table.type}
      transform={`translate(${x} ${y})`}
      onPointerDown={onPointerDown}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: SVG has no buttons. */}
      <g
        className="table-button"
        aria-label={table.type}
        aria-pressed={isChosen}
        role="button"
        tabIndex={isReached ? 0 : -1}
        onKeyDown={onKeyDown}
      >
        <rect className="table-frame" width={width} height={height} rx={8} />
        {showsColumns && (
          <path className="table-title" d={`M0 8a8 8 0 0 1 8-8h${width - 16}a8 8 0 0 1 8 8v${titleHeight - 8}h-${width}z`} />
        )}
        <text className={showsColumns ? 'table-name' : 'table-name alone'} x={12} y={showsColumns ? 21 : height / 2 + 7}>
          {clip(table.type, showsColumns ? 26 : 20)}
        </text>
      </g>
      {(showsColumns ? linesOfTable(table) : []).map(([name, type, isRelation], line) => (
        <g
          key={name}
          transform={`translate(0 ${titleHeight + (line + 1) * lineHeight - 4})`}
          className={isRelation ? 'relation-line' : 'column-line'}
        >
          <text x={12}>{clip(name, longestName)}</text>
          <text x={width - 12} textAnchor="end" className="line-type">
            {clip(type, longestLine - Math.min(name.length, longestName))}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Where the line of a relation begins, from the top of the box. */
export function heightOfRelation(table: ApiTable, field: string): number {
  const place = table.columns.length + table.relations.findIndex((relation) => relation.field === field);
  return titleHeight + (Math.min(place, linesOf(table) - 1) + 0.5) * lineHeight;
}

type Line = readonly [name: string, type: string, isRelation: boolean];

function linesOfTable(table: ApiTable): readonly Line[] {
  const columns = table.columns.map(({ name, type }): Line => [name, type, false]);
  const relations = table.relations.map(({ field, target, isMany }): Line => [field, isMany ? `[${target}]` : target, true]);
  const lines = [...columns, ...relations];
  const count = linesOf(table);
  return lines.length <= count ? lines : [...lines.slice(0, count - 1), [`${lines.length - count + 1} more`, '', false]];
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}
