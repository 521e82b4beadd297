import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geometryText } from './geometry-text.ts';

const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } };

test('GeoJSON becomes WKT with an SRID', () => {
  const expected: readonly (readonly [object, string])[] = [
    [{ type: 'Point', coordinates: [1.5, -2e-3] }, 'SRID=4326;POINT(1.5 -0.002)'],
    [{ type: 'Point', coordinates: [1, 2, 3], crs }, 'SRID=3857;POINT(1 2 3)'],
    [{ type: 'Point', coordinates: [] }, 'SRID=4326;POINT EMPTY'],
    [
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      'SRID=4326;MULTIPOINT(1 2,3 4)',
    ],
    [
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      'SRID=4326;LINESTRING(1 2,3 4)',
    ],
    [
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [0, 0],
          ],
          [
            [0.1, 0],
            [0.1, 0],
          ],
        ],
      },
      'SRID=4326;POLYGON((0 0,1 0,0 0),(0.1 0,0.1 0))',
    ],
    [
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [1, 0],
              [0, 0],
            ],
          ],
        ],
      },
      'SRID=4326;MULTIPOLYGON(((0 0,1 0,0 0)))',
    ],
    [
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [1, 2] },
          { type: 'GeometryCollection', geometries: [] },
        ],
      },
      'SRID=4326;GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION EMPTY)',
    ],
  ];
  for (const [geometry, text] of expected) assert.equal(geometryText(` ${JSON.stringify(geometry)}`, 3857), text);
});

test('other texts get the SRID of the column, unless they have one', () => {
  assert.equal(geometryText('POINT(1 2)', 3857), 'SRID=3857;POINT(1 2)');
  for (const text of ['srid=25832;POINT(1 2)', '0101000020E6100000', '']) assert.equal(geometryText(text, 3857), text);
  assert.equal(geometryText('POINT(1 2)', undefined), 'POINT(1 2)');
});

test('what is no geometry is refused', () => {
  let deep: object = { type: 'Point', coordinates: [1, 2] };
  for (let depth = 0; depth < 20; depth += 1) deep = { type: 'GeometryCollection', geometries: [deep] };
  const refused: readonly unknown[] = [
    {},
    { type: 'Point' },
    { type: 'constructor', coordinates: [1, 2] },
    { type: 'Point', coordinates: [[1, 2]] },
    { type: 'Point', coordinates: [1] },
    { type: 'Point', coordinates: [1, '2'] },
    { type: 'Polygon', coordinates: [1, 2] },
    { type: 'Point', coordinates: [1, 2], crs: { type: 'name', properties: { name: "EPSG:1'; drop" } } },
    { type: 'Point', coordinates: [1, 2], crs: 5 },
    { type: 'GeometryCollection', geometries: [null] },
    { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } },
    deep,
  ];
  for (const value of refused) assert.throws(() => geometryText(JSON.stringify(value), undefined), { code: 'BAD_USER_INPUT' });
  assert.throws(() => geometryText('{"type":', undefined), { code: 'BAD_USER_INPUT' });
});
