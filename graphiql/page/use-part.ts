/** Which part of the diagram is visible: the wheel zooms, dragging moves, and a tiny movement counts as a click. */
import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { Box } from './lay-out-tables.ts';
import { fit, type Part, type Size, zoom } from './pan-and-zoom.ts';

interface VisiblePart {
  readonly svg: RefObject<SVGSVGElement | null>;
  readonly part: Part;
  readonly setPart: (part: Part) => void;
  readonly size: () => Size;
}

/** All boxes at first, and again whenever `subject` changes. */
export function usePart(boxes: ReadonlyMap<string, Box>, subject: object): VisiblePart {
  const svg = useRef<SVGSVGElement>(null);
  const [part, setPart] = useState<Part>({ x: 0, y: 0, scale: 1 });
  const size = (): Size => svg.current?.getBoundingClientRect() ?? { width: 0, height: 0 };
  // biome-ignore lint/correctness/useExhaustiveDependencies: dragging boxes must not reset the view.
  useEffect(() => setPart(fit(boxes.values(), size())), [subject]);
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

/** In pixels: a shorter movement counts as a click. */
const clickDistance = 4;

interface Dragged {
  readonly x: number;
  readonly y: number;
  readonly move: (dx: number, dy: number) => void;
  readonly click: (() => void) | undefined;
  isMoved: boolean;
}

/** Follows a pointer from where it went down; `move` receives the distance from there in pixels. */
export function useDrag() {
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
