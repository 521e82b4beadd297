/**
 * The schema that the caller sees as a diagram: tables as boxes, relations as lines. It can be searched, limited to a schema, a kind or the
 * neighbours of a table, zoomed and dragged. A table that is chosen opens in the editor, in Rows and in Policies.
 */
import { useGraphiQL } from '@graphiql/react';
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import { chooseTables, type DiagramChoice, findInDirection, findTable, matchesSearch } from './choose-tables.ts';
import { ChosenTable, DiagramBar } from './diagram-bar.tsx';
import { type Box, layOutTables } from './lay-out-tables.ts';
import type { ViewProps } from './page-context.ts';
import { readLocation, writeLocation } from './page-location.ts';
import { centre, fit, zoom } from './pan-and-zoom.ts';
import { type ApiTable, readTables } from './read-tables.ts';
import { RelationLines } from './relation-lines.tsx';
import { SchemaNotice } from './schema-notice.tsx';
import { TableBox } from './table-box.tsx';
import { useOrigins } from './use-origins.ts';
import { useDrag, usePart } from './use-part.ts';
import { writeTableQuery } from './write-first-query.ts';

/** Of more tables than this, the names alone are shown at first. */
const mostWithColumns = 60;

export function SchemaDiagram({ onOpenQuery, onShow }: ViewProps) {
  const schema = useGraphiQL((state) => state.schema);
  const all = useMemo(() => (schema ? readTables(schema) : []), [schema]);
  const origins = useOrigins();
  const [choice, setChoice] = useState<DiagramChoice>(() => readLocation('diagram') ?? {});
  useEffect(() => writeLocation('diagram', Object.keys(choice).length === 0 ? null : choice), [choice]);
  const tables = useMemo(() => chooseTables(all, choice, origins), [all, choice, origins]);
  const [wantsColumns, setWantsColumns] = useState<boolean | null>(null);
  const showsColumns = wantsColumns ?? tables.length <= mostWithColumns;
  const [chosen, setChosen] = useState<string | null>(choice.table ?? null);
  const [search, setSearch] = useState('');
  const chosenTable = tables.find(({ type }) => type === chosen);
  const change = (part: Partial<DiagramChoice>): void => setChoice((before) => dropUndefined({ ...before, ...part }));
  const drawing = useMemo(() => ({ tables, showsColumns }), [tables, showsColumns]);
  return (
    <div className="diagram">
      <SchemaNotice />
      {schema && all.length === 0 && <p className="part-notice">The API of this role has no tables.</p>}
      <Drawing
        drawing={drawing}
        search={search}
        chosen={chosen}
        onChoose={setChosen}
        bar={(controls) => (
          <>
            <DiagramBar
              {...controls}
              search={search}
              onSearch={setSearch}
              onFind={() => {
                const found = findTable(tables, search);
                setChosen(found?.type ?? null);
                return found?.type ?? null;
              }}
              all={all}
              count={tables.length}
              origins={origins}
              choice={choice}
              onChange={change}
              showsColumns={showsColumns}
              onColumns={setWantsColumns}
            />
            {chosenTable !== undefined && (
              <ChosenTable
                table={chosenTable}
                choice={choice}
                onChange={change}
                onQuery={() => onOpenQuery(writeTableQuery(chosenTable, all))}
                onShow={(view) => onShow(view, chosenTable.type)}
                onClose={() => setChosen(null)}
              />
            )}
          </>
        )}
      />
    </div>
  );
}

function dropUndefined(choice: DiagramChoice): DiagramChoice {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}

export interface DrawingControls {
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
  readonly onCentre: (type: string) => void;
}

interface DrawingProps {
  readonly drawing: { readonly tables: readonly ApiTable[]; readonly showsColumns: boolean };
  readonly search: string;
  readonly chosen: string | null;
  readonly onChoose: (type: string | null) => void;
  /** What stands above the drawing, and steers it. */
  readonly bar: (controls: DrawingControls) => React.ReactNode;
}

function Drawing({ drawing, search, chosen, onChoose, bar }: DrawingProps) {
  const { tables, showsColumns } = drawing;
  const [moved, setMoved] = useState<ReadonlyMap<string, Box>>(new Map());
  const laidOut = useMemo(() => layOutTables(tables, showsColumns), [tables, showsColumns]);
  const boxes = useMemo(() => {
    const kept = [...moved].flatMap(([type, { x, y }]) => (laidOut.has(type) ? [[type, { ...laidOut.get(type)!, x, y }] as const] : []));
    return new Map([...laidOut, ...kept]);
  }, [laidOut, moved]);
  const { svg, part, setPart, size } = usePart(boxes, drawing);
  const drag = useDrag();
  const isFaint = (table: ApiTable): boolean => search.trim() !== '' && !matchesSearch(table, search);
  const show = (type: string): void => {
    const box = boxes.get(type);
    if (box) setPart(centre(box, size()));
  };
  const controls: DrawingControls = {
    onZoom: (factor) => setPart(zoom(part, factor, { x: size().width / 2, y: size().height / 2 })),
    onFit: () => setPart(fit(boxes.values(), size())),
    onCentre: show,
  };
  /** One table is reached by Tab, the others from there by arrows. */
  const first = tables.some(({ type }) => type === chosen) ? chosen : tables[0]?.type;
  const press = (event: KeyboardEvent, type: string): void => {
    if (event.key === 'Enter' || event.key === ' ') onChoose(type);
    else if (event.key === 'Escape') onChoose(null);
    else if (event.key === '+' || event.key === '-') controls.onZoom(event.key === '+' ? 1.25 : 0.8);
    else if (event.key === '0') controls.onFit();
    else {
      const next = findInDirection(boxes, type, event.key);
      if (next === null) return;
      const box = boxes.get(next)!;
      if (!isInside(box, part, size())) show(next);
      svg.current?.querySelector<SVGGElement>(`[data-table="${next}"] > .table-button`)?.focus();
    }
    event.preventDefault();
  };
  return (
    <>
      {bar(controls)}
      <svg
        ref={svg}
        aria-label="Diagram of the schema"
        className={showsColumns ? undefined : 'names-alone'}
        onPointerDown={(event) => drag.begin(event, (dx, dy) => setPart({ ...part, x: part.x + dx, y: part.y + dy }))}
        onPointerMove={drag.move}
        onPointerUp={drag.end}
        onPointerCancel={drag.end}
      >
        <g transform={`translate(${part.x} ${part.y}) scale(${part.scale})`}>
          <RelationLines tables={tables} boxes={boxes} showsColumns={showsColumns} chosen={chosen} isFaint={isFaint} />
          {tables.map((table) => {
            const box = boxes.get(table.type)!;
            const choose = (): void => onChoose(table.type);
            const move = (dx: number, dy: number): void =>
              setMoved(new Map([...moved, [table.type, { ...box, x: box.x + dx / part.scale, y: box.y + dy / part.scale }]]));
            return (
              <TableBox
                key={table.type}
                table={table}
                box={box}
                showsColumns={showsColumns}
                isFaint={isFaint(table)}
                isChosen={table.type === chosen}
                isReached={table.type === first}
                onKeyDown={(event) => press(event, table.type)}
                onPointerDown={(event) => drag.begin(event, move, choose)}
              />
            );
          })}
        </g>
      </svg>
    </>
  );
}

function isInside(box: Box, part: { x: number; y: number; scale: number }, { width, height }: { width: number; height: number }): boolean {
  const [left, top] = [part.x + box.x * part.scale, part.y + box.y * part.scale];
  return left >= 0 && top >= 0 && left + box.width * part.scale <= width && top + box.height * part.scale <= height;
}
