/**
 * Places of PostGIS (docs/types.md): points and boxes with whole numbers as coordinates in SRID 4326, so that what filters say of them is exact.
 */
import type { RandomSource } from './random-source.ts';
import type { Truth } from './truth.ts';

type Position = readonly [x: number, y: number];

/** A box by two corners, which are one of a point. */
interface Place {
  readonly least: Position;
  readonly most: Position;
}

const positions: readonly Position[] = [
  [0, 0],
  [1, 0],
  [3, 4],
  [-2, 1],
  [2, 2],
  [4, 4],
];

/** The points as text of PostGIS. */
export const pointTexts = positions.map((position) => wktOf({ least: position, most: position }));
/** The same and boxes. */
export const placeTexts = [...pointTexts, ...boxes().map(wktOf)];

function boxes(): Place[] {
  return [
    { least: [0, 0], most: [4, 4] },
    { least: [0, 0], most: [2, 2] },
    { least: [1, 1], most: [3, 3] },
    { least: [-2, 0], most: [0, 4] },
    { least: [2, 2], most: [5, 5] },
  ];
}

function isPoint({ least, most }: Place): boolean {
  return least[0] === most[0] && least[1] === most[1];
}

function ringOf({ least: [x1, y1], most: [x2, y2] }: Place): Position[] {
  return [
    [x1, y1],
    [x2, y1],
    [x2, y2],
    [x1, y2],
    [x1, y1],
  ];
}

function wktOf(place: Place): string {
  const text = (points: readonly Position[]) => points.map((point) => point.join(' ')).join(', ');
  return isPoint(place) ? `SRID=4326;POINT(${text([place.least])})` : `SRID=4326;POLYGON((${text(ringOf(place))}))`;
}

function placeOf(points: readonly Position[]): Place {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return { least: [Math.min(...xs), Math.min(...ys)], most: [Math.max(...xs), Math.max(...ys)] };
}

/** A place as PostgreSQL writes it: EWKB in hexadecimal digits, of little endian with an SRID. */
function storedPlace(hex: string): Place {
  const bytes = Buffer.from(hex, 'hex');
  const isPolygon = bytes.readUInt32LE(1) % 256 === 3;
  const count = isPolygon ? bytes.readUInt32LE(13) : 1;
  const start = isPolygon ? 17 : 9;
  const points = Array.from(
    { length: count },
    (_, index): Position => [bytes.readDoubleLE(start + 16 * index), bytes.readDoubleLE(start + 16 * index + 8)],
  );
  return placeOf(points);
}

/** A place that a client gives: GeoJSON, or a text with WKT or GeoJSON. */
function givenPlace(value: unknown): Place {
  if (typeof value === 'string' && value.startsWith('{')) return givenPlace(JSON.parse(value));
  const text =
    typeof value === 'string' ? value.replace(/^SRID=\d+;/, '') : JSON.stringify((value as { coordinates: unknown }).coordinates);
  const numbers = (text.match(/-?\d+/g) ?? []).map(Number);
  return placeOf(Array.from({ length: numbers.length / 2 }, (_, index): Position => [numbers[2 * index]!, numbers[2 * index + 1]!]));
}

/** A place that a client gives, as text of PostGIS. */
export function placeText(value: unknown): string {
  return wktOf(givenPlace(value));
}

/** A stored place as responses show it. */
export function shownPlace(hex: string): unknown {
  const place = storedPlace(hex);
  return isPoint(place) ? { type: 'Point', coordinates: place.least } : { type: 'Polygon', coordinates: [ringOf(place)] };
}

/** A place, in any of the forms that inputs take. */
export function randomPlace(random: RandomSource, onlyPoints: boolean): unknown {
  const position = random.pick(positions);
  const place = onlyPoints || random.chance(0.4) ? { least: position, most: position } : random.pick(boxes());
  const json = isPoint(place) ? { type: 'Point', coordinates: place.least } : { type: 'Polygon', coordinates: [ringOf(place)] };
  if (random.chance(0.6)) return json;
  return random.chance(0.3) ? JSON.stringify(json) : wktOf(place).replace('SRID=4326;', random.pick(['', 'SRID=4326;']));
}

/** The distance of a test, with what it is measured from. */
export function randomDistance(random: RandomSource): unknown {
  return { from: randomPlace(random, false), distance: random.pick([0, 1, 1.5, 2, 5]) };
}

/** What stored places answer to an operator other than `is`, whose operand is not null. */
export function comparePlaces(texts: readonly (string | null)[], operator: string, operand: unknown): Truth[] {
  const { from = operand, distance = 0 } = (operator === 'dWithin' ? operand : {}) as {
    readonly from?: unknown;
    readonly distance?: number;
  };
  const other = givenPlace(from);
  const tests: Readonly<Record<string, (place: Place) => boolean>> = {
    within: (place) => isWithin(place, other),
    contains: (place) => isWithin(other, place),
    intersects: (place) => squaredDistance(place, other) === 0,
    eq: (place) => wktOf(place) === wktOf(other),
    dWithin: (place) => squaredDistance(place, other) <= distance ** 2,
  };
  return texts.map((text) => (text === null ? null : tests[operator]!(storedPlace(text))));
}

/** No point of it is outside of the other, and their insides have one in common: so none on the edge of a box alone is within it. */
function isWithin(place: Place, other: Place): boolean {
  const isInside = isPoint(place) && !isPoint(other);
  const fits = (axis: 0 | 1) => {
    const [from, to] = [place.least[axis] - other.least[axis], other.most[axis] - place.most[axis]];
    return isInside ? from > 0 && to > 0 : from >= 0 && to >= 0;
  };
  return fits(0) && fits(1);
}

function squaredDistance(place: Place, other: Place): number {
  const gap = (axis: 0 | 1) => Math.max(0, other.least[axis] - place.most[axis], place.least[axis] - other.most[axis]);
  return gap(0) ** 2 + gap(1) ** 2;
}
