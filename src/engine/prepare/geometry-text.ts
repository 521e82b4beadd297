/**
 * GeoJSON (RFC 7946) as the text that PostGIS reads for geometry and geography: `SRID=4326;POINT(13.4 52.5)`. Other texts stay, but for the
 * SRID of the column, which PostGIS would not add in a comparison.
 */
import { ApiError, quote, shorten } from '../../errors/api-error.ts';

/** The coordinates of longitude and latitude, which GeoJSON has unless it says otherwise. */
const worldSrid = 4326;
/** How deep geometry collections may be nested; RFC 7946 advises against any nesting. */
const maxDepth = 10;

/** How deep the arrays of coordinates are: a position is 0 deep. */
const depths: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
};

/** Throws BAD_USER_INPUT for what begins as JSON and is no geometry of GeoJSON. */
export function geometryText(text: string, srid: number | undefined): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{'))
    return srid !== undefined && /^[a-z]/i.test(trimmed) && !isWhole(trimmed) ? `SRID=${srid};${trimmed}` : text;
  let parsed: unknown;
  try {
    parsed = JSON.parse(trimmed);
  } catch {
    throw invalid('it is no JSON');
  }
  const geometry = asObject(parsed);
  return `SRID=${sridOf(geometry)};${written(geometry, 0)}`;
}

/** Whether the text of a geometry has an SRID, or is one in hexadecimal digits. */
function isWhole(text: string): boolean {
  return /^SRID=/i.test(text) || /^[\da-f]+$/i.test(text);
}

function invalid(why: string): ApiError {
  return new ApiError(
    'BAD_USER_INPUT',
    `The value is not a GeoJSON geometry: ${why}. Pass one such as {"type": "Point", "coordinates": [13.4, 52.5]}.`,
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it is no object');
  return value as JsonObject;
}

/** Of the older `crs`, which PostGIS writes for geometries that are not in longitude and latitude. */
function sridOf({ crs }: JsonObject): number {
  if (crs === undefined || crs === null) return worldSrid;
  const { properties } = asObject(crs);
  const { name } = asObject(properties);
  const [, digits] = typeof name === 'string' ? (/EPSG:+(\d{1,6})$/.exec(name) ?? []) : [];
  if (digits === undefined) throw invalid('its "crs" has no name such as "EPSG:3857"');
  return Number(digits);
}

function written(geometry: JsonObject, depth: number): string {
  const { type, coordinates, geometries } = geometry;
  if (type === 'GeometryCollection') {
    if (depth === maxDepth) throw invalid('its collections are nested too deep');
    if (!Array.isArray(geometries)) throw invalid('a GeometryCollection needs the list "geometries"');
    return `GEOMETRYCOLLECTION${listed(geometries.map((each) => written(asObject(each), depth + 1)))}`;
  }
  if (typeof type !== 'string' || !Object.hasOwn(depths, type)) {
    const isFeature = type === 'Feature' || type === 'FeatureCollection';
    throw invalid(isFeature ? `it is a ${type}, so pass its geometry` : `it has the type ${quote(shorten(String(type)))}`);
  }
  if (!Array.isArray(coordinates)) throw invalid('it has no list "coordinates"');
  const text = coordinates.length === 0 ? ' EMPTY' : coordinatesText(coordinates, depths[type]!);
  return `${type.toUpperCase()}${depths[type] === 0 && coordinates.length > 0 ? `(${text})` : text}`;
}

/** A position, or a list of those inside in parentheses. */
function coordinatesText(value: unknown, depth: number): string {
  if (!Array.isArray(value)) throw invalid('its coordinates are not nested as its type says');
  if (depth > 0) return listed(value.map((each) => coordinatesText(each, depth - 1)));
  if (value.length < 2 || value.length > 4 || !value.every((each) => typeof each === 'number' && Number.isFinite(each)))
    throw invalid('a position is not two to four numbers');
  return value.join(' ');
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? ' EMPTY' : `(${texts.join(',')})`;
}
