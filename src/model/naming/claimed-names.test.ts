import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClaimedNames } from './claimed-names.ts';
import { commonTypeNames, typeSuffixes } from './graphql-names.ts';

const readOnly = { insertable: false, updatable: false, deletable: false, aggregate: false };
const all = { insertable: true, updatable: true, deletable: true, aggregate: true };
const of = (name: string, schema = 'hall') => ({ name, schema, inflection: true });

describe('ClaimedNames', () => {
  it('gives a table the plain names if they are free', () => {
    const names = new ClaimedNames();
    assert.deepEqual(names.claimTable(of('Ledger'), all), { typeName: 'Ledger', stem: 'Ledger', renamedTypes: new Map() });
  });

  it('renames only the types whose names every schema has', () => {
    const names = new ClaimedNames();
    assert.deepEqual(names.claimTable(of('Node'), all), { typeName: 'HallNode', stem: 'Node', renamedTypes: new Map() });
    assert.deepEqual(names.claimTable(of('IntList'), readOnly), {
      typeName: 'IntList',
      stem: 'IntList',
      renamedTypes: new Map([['Filter', 'HallIntListFilter']]),
    });
    for (const name of commonTypeNames) assert.notEqual(names.claimTable(of(name, 'other'), readOnly).typeName, name);
    assert.equal(names.claimEnum(of('UUIDList')), 'HallUUIDList');
  });

  it('gives a table an entirely new stem if another table has its stem', () => {
    const names = new ClaimedNames();
    names.claimTable(of('Place', 'north'), all);
    assert.deepEqual(names.claimTable(of('Place', 'south'), all), { typeName: 'SouthPlace', stem: 'SouthPlace', renamedTypes: new Map() });
    assert.equal(names.claimTable(of('Place', 'south'), all).stem, 'SouthPlace2');
    assert.equal(names.claimTable({ name: 'place', schema: 'my hall', inflection: false }, all).stem, 'my_hall_place');
  });

  it('keeps derived types apart from row types', () => {
    const names = new ClaimedNames();
    names.claimTable(of('Film'), readOnly);
    for (const name of ['FilmEdge', 'FilmConnection', 'FilmFilter', 'FilmOrderBy', 'Film']) {
      assert.equal(names.claimEnum(of(name)), name === 'Film' ? 'HallFilm2' : `Hall${name}`);
    }
    assert.equal(names.claimEnum(of('FilmInsertInput')), 'FilmInsertInput');
    assert.equal(names.claimRows(of('FilmEdge')), 'HallFilmEdge2');
    assert.equal(names.claimTable(of('ReelFilter'), all).typeName, 'ReelFilter');
    assert.deepEqual(names.claimTable(of('Reel'), readOnly).renamedTypes, new Map([['Filter', 'HallReelFilter']]));
  });

  it('renames only those types of a table whose names are taken by row types', () => {
    const suffixes = Object.keys(typeSuffixes) as (keyof typeof typeSuffixes)[];
    const renamed = (able: typeof all) => {
      const names = new ClaimedNames();
      for (const suffix of suffixes) names.claimTable(of(`Reel${suffix}`, 'other'), readOnly);
      return [...names.claimTable(of('Reel'), able).renamedTypes.keys()];
    };
    assert.deepEqual(renamed(all), suffixes);
    assert.deepEqual(renamed(readOnly), ['Connection', 'Edge', 'Filter', 'OrderBy']);
    assert.deepEqual(renamed({ ...readOnly, deletable: true }), ['Connection', 'Edge', 'Filter', 'OrderBy', 'DeleteResponse']);
  });

  it('gives a table a stem for which all of its type names are free', () => {
    const place = (able: typeof all) => {
      const names = new ClaimedNames();
      names.claimEnum(of('SouthPlaceInsertInput'));
      names.claimTable(of('Place', 'north'), all);
      return names.claimTable(of('Place', 'south'), able).stem;
    };
    assert.deepEqual([place(readOnly), place(all)], ['SouthPlace', 'SouthPlace2']);
  });

  it('keeps root fields unique', () => {
    const names = new ClaimedNames();
    names.claimTable(of('Film'), { ...readOnly, insertable: true });
    assert.equal(names.claimTable(of('film'), readOnly).stem, 'HallFilm');
    const given = ['filmCollection', 'filmByPk', 'node'].map((name) => names.claimRootField(of(name), 'query'));
    assert.deepEqual(given, ['hallFilmCollection2', 'hallFilmByPk2', 'hallNode']);
    assert.equal(names.claimRootField(of('insertIntoFilmCollection'), 'mutation'), 'hallInsertIntoFilmCollection');
    assert.equal(names.claimRootField(of('filmCollection'), 'mutation'), 'filmCollection');
    assert.equal(names.claimRootField(of('act'), 'mutation'), 'act');
    assert.equal(names.claimRootField(of('act'), 'mutation'), 'hallAct');
    assert.equal(names.claimRootField(of('act'), 'query'), 'act');
  });
});
