/** Which part of the diagram is visible, and at which scale. */
import type { Box } from './lay-out-tables.ts';

/** A point of the diagram appears at `x + scale * point`. */
export interface Part {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const smallest = 0.05;
const largest = 2.5;
const margin = 24;

/** Zooms while the point `at` stays where it is on the screen. */
export function zoom({ x, y, scale }: Part, factor: number, at: { readonly x: number; readonly y: number }): Part {
  const next = Math.min(largest, Math.max(smallest, scale * factor));
  const change = next / scale;
  return { x: at.x - (at.x - x) * change, y: at.y - (at.y - y) * change, scale: next };
}

/** The part that shows all boxes, but not enlarged. */
export function fit(boxes: Iterable<Box>, { width, height }: Size): Part {
  const all = [...boxes];
  if (all.length === 0) return { x: margin, y: margin, scale: 1 };
  const left = Math.min(...all.map((box) => box.x));
  const top = Math.min(...all.map((box) => box.y));
  const wide = Math.max(...all.map((box) => box.x + box.width)) - left;
  const high = Math.max(...all.map((box) => box.y + box.height)) - top;
  const scale = Math.max(smallest, Math.min(1, (width - 2 * margin) / wide, (height - 2 * margin) / high));
  return { x: (width - wide * scale) / 2 - left * scale, y: (height - high * scale) / 2 - top * scale, scale };
}

/** The part with a box in the centre, at its natural size. */
export function centre(box: Box, { width, height }: Size): Part {
  return { x: width / 2 - box.x - box.width / 2, y: height / 2 - box.y - box.height / 2, scale: 1 };
}
