import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TakenNames } from './taken-names.ts';

const readOnly = { insertable: false, updatable: false, deletable: false, aggregate: false };
const all = { insertable: true, updatable: true, deletable: true, aggregate: true };

describe('TakenNames', () => {
  it('knows the names of every schema', () => {
    const names = new TakenNames();
    for (const name of ['Int', 'IntFilter', 'StringListFilter', 'Query', 'Node', 'PageInfo', 'Cursor'])
      assert.equal(names.claimTable(name, readOnly), name);
    assert.equal(names.claimTable('IntList', readOnly), 'IntListFilter');
    assert.equal(names.claimEnum('UUIDList'), 'UUIDListFilter');
    assert.equal(names.claimTable('Ledger', all), undefined);
  });

  it('keeps the names of tables and enums apart, those that derive from them included', () => {
    const names = new TakenNames();
    assert.equal(names.claimTable('Film', readOnly), undefined);
    for (const name of ['Film', 'FilmEdge', 'FilmConnection', 'FilmFilter', 'FilmOrderBy']) assert.equal(names.claimEnum(name), name);
    assert.equal(names.claimEnum('FilmInsertInput'), undefined);
    assert.equal(names.claimEnum('FilmAggregate'), undefined);
    assert.equal(names.claimTable('ReelFilter', all), undefined);
    assert.equal(names.claimTable('Reel', readOnly), 'ReelFilter');
    assert.equal(names.claimTable('ReelUpdateInput', readOnly), undefined);
    assert.equal(names.claimTable('FilmInsertInputFilter', readOnly), 'FilmInsertInputFilter');
  });

  it('keeps root fields apart', () => {
    const names = new TakenNames();
    assert.equal(names.claimTable('Film', { ...readOnly, insertable: true }), undefined);
    assert.equal(names.claimTable('film', readOnly), 'filmCollection');
    for (const name of ['filmCollection', 'filmByPk', 'node']) assert.equal(names.claimRootField(name, 'query'), false);
    assert.equal(names.claimRootField('insertIntoFilmCollection', 'mutation'), false);
    assert.equal(names.claimRootField('filmCollection', 'mutation'), true);
    assert.equal(names.claimRootField('act', 'mutation'), true);
    assert.equal(names.claimRootField('act', 'mutation'), false);
    assert.equal(names.claimRootField('act', 'query'), true);
  });
});
