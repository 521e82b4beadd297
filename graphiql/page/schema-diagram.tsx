/**
 * The schema that the caller sees as a diagram: tables as boxes, relations as lines. It can be searched, zoomed and dragged; a click on a
 * table writes a query.
 */
import { useGraphiQL } from '@graphiql/react';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type Box, layOutTables } from './lay-out-tables.ts';
import type { ViewProps } from './page-context.ts';
import { centre, fit, type Part, zoom } from './pan-and-zoom.ts';
import { type ApiTable, readTables } from './read-tables.ts';
import { RelationLines } from './relation-lines.tsx';
import { SchemaNotice } from './schema-notice.tsx';
import { TableBox } from './table-box.tsx';
import { writeTableQuery } from './write-first-query.ts';

/** In pixels: a shorter movement counts as a click. */
const clickDistance = 4;

export function SchemaDiagram({ onOpenQuery }: ViewProps) {
  const schema = useGraphiQL((state) => state.schema);
  const tables = useMemo(() => (schema ? readTables(schema) : []), [schema]);
  const [moved, setMoved] = useState<ReadonlyMap<string, Box>>(new Map());
  const boxes = useMemo(() => new Map([...layOutTables(tables), ...moved]), [tables, moved]);
  const [search, setSearch] = useState('');
  const { svg, part, setPart, size } = usePart(boxes, tables);
  const drag = useDrag();
  const isFaint = (table: ApiTable): boolean => search !== '' && !matches(table, search);
  const showFirst = (): void => {
    const found = tables.find(({ type }) => type.toLowerCase() === search.toLowerCase()) ?? tables.find((table) => matches(table, search));
    const box = found && boxes.get(found.type);
    if (search !== '' && box) setPart(centre(box, size()));
  };
  const zoomBy = (factor: number): void => setPart(zoom(part, factor, { x: size().width / 2, y: size().height / 2 }));
  return (
    <div className="diagram">
      <SchemaNotice />
      {schema && tables.length === 0 && <p className="part-notice">The API of this role has no tables.</p>}
      <search className="view-bar">
        <input
          type="search"
          aria-label="Find a table or column"
          placeholder="Find a table or column"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={({ key }) => key === 'Enter' && showFirst()}
        />
        <button type="button" className="page-button" aria-label="Smaller" onClick={() => zoomBy(0.8)}>
          −
        </button>
        <button type="button" className="page-button" aria-label="Larger" onClick={() => zoomBy(1.25)}>
          +
        </button>
        <button type="button" className="page-button" onClick={() => setPart(fit(boxes.values(), size()))}>
          Fit
        </button>
        <span>{tables.length === 1 ? '1 table' : `${tables.length} tables`}</span>
      </search>
      <svg
        ref={svg}
        aria-label="Diagram of the schema"
        onPointerDown={(event) => drag.begin(event, (dx, dy) => setPart({ ...part, x: part.x + dx, y: part.y + dy }))}
        onPointerMove={drag.move}
        onPointerUp={drag.end}
        onPointerCancel={drag.end}
      >
        <g transform={`translate(${part.x} ${part.y}) scale(${part.scale})`}>
          <RelationLines tables={tables} boxes={boxes} isFaint={isFaint} />
          {tables.map((table) => {
            const box = boxes.get(table.type)!;
            const open = (): void => onOpenQuery(writeTableQuery(table, tables));
            const move = (dx: number, dy: number): void =>
              setMoved(new Map([...moved, [table.type, { ...box, x: box.x + dx / part.scale, y: box.y + dy / part.scale }]]));
            return (
              <TableBox
                key={table.type}
                table={table}
                box={box}
                isFaint={isFaint(table)}
                onOpen={open}
                onPointerDown={(event) => drag.begin(event, move, open)}
              />
            );
          })}
        </g>
      </svg>
    </div>
  );
}

function matches({ type, collection, columns, relations }: ApiTable, search: string): boolean {
  const names = [type, collection, ...columns.map(({ name }) => name), ...relations.map(({ field }) => field)];
  return names.some((name) => name.toLowerCase().includes(search.toLowerCase()));
}

/** The visible part: all tables at first, and again whenever the tables change. The wheel zooms. */
function usePart(boxes: ReadonlyMap<string, Box>, tables: readonly ApiTable[]) {
  const svg = useRef<SVGSVGElement>(null);
  const [part, setPart] = useState<Part>({ x: 0, y: 0, scale: 1 });
  const size = () => svg.current?.getBoundingClientRect() ?? { width: 0, height: 0 };
  // biome-ignore lint/correctness/useExhaustiveDependencies: dragging boxes must not reset the view.
  useEffect(() => setPart(fit(boxes.values(), size())), [tables]);
  useEffect(() => {
    const element = svg.current;
    const turn = (event: WheelEvent): void => {
      // React's own listeners are passive and cannot keep the page from scrolling.
      event.preventDefault();
      const { left, top } = element!.getBoundingClientRect();
      setPart((before) => zoom(before, Math.exp(-event.deltaY / 400), { x: event.clientX - left, y: event.clientY - top }));
    };
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, []);
  return { svg, part, setPart, size };
}

interface Dragged {
  readonly x: number;
  readonly y: number;
  readonly move: (dx: number, dy: number) => void;
  readonly click: (() => void) | undefined;
  isMoved: boolean;
}

/** Follows a pointer from where it went down; `move` receives the distance from there in pixels. A tiny movement counts as a click. */
function useDrag() {
  const dragged = useRef<Dragged | null>(null);
  return {
    begin(event: PointerEvent, move: Dragged['move'], click?: () => void): void {
      if (event.button !== 0) return;
      event.stopPropagation();
      event.currentTarget.closest('svg')?.setPointerCapture(event.pointerId);
      dragged.current = { x: event.clientX, y: event.clientY, move, click, isMoved: false };
    },
    move({ clientX, clientY }: PointerEvent): void {
      const { current } = dragged;
      if (current === null) return;
      const [dx, dy] = [clientX - current.x, clientY - current.y];
      current.isMoved ||= Math.hypot(dx, dy) > clickDistance;
      if (current.isMoved) current.move(dx, dy);
    },
    end({ type }: PointerEvent): void {
      const { current } = dragged;
      dragged.current = null;
      if (type === 'pointerup' && current !== null && !current.isMoved) current.click?.();
    },
  };
}
