/**
 * The members of schemas that rowgraph has beyond those of the vectors ("superset"). Each group gives the words of `docs/differences.md`
 * that account for it; without them there, the members count as wrong.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Additions {
  /** Words that docs/differences.md has. */
  readonly reason: string;
  readonly names: readonly string[];
}

const groups: readonly Additions[] = [
  {
    reason: 'Partitioned tables',
    names: [
      ...['partedCollection', 'partedByPk', 'insertIntoPartedCollection', 'updatePartedCollection', 'deleteFromPartedCollection'],
      ...['saleCollection', 'saleByPk', 'insertIntoSaleCollection', 'updateSaleCollection', 'deleteFromSaleCollection'],
    ],
  },
  {
    reason: 'Lookup by key',
    names: [
      ...['boolItemByPk', 'boolKeyByPk', 'charCodedByPk', 'charKeyByPk', 'dateKeyByPk', 'dayItemByPk', 'freeCodedByPk', 'numItemByPk'],
      ...['oneColKeyByPk', 'sale2020ByPk', 'saleRestByPk', 'stampItemByPk', 'varCodedByPk', 'vcKeyByPk', 'vcNKeyByPk'],
    ],
  },
  {
    reason: 'Two foreign keys that claim one field name',
    names: [
      ...['artObject2ByArtObjectId', 'artistByArtistId', 'artistWorkCollectionByArtistId', 'donorCollectionByPatronId'],
      ...['mixedTableCollectionByArtObjectId', 'personByHost_id', 'screeningCollectionByHostId'],
    ],
  },
  {
    reason: 'Names that are taken',
    names: [
      ...['lastNameColumn', 'artObjectIdColumn', 'tailLenColumn', 'mixedTableCollectionByArtObjectId2'],
      ...['cursorFn', 'publicSwapCollection', 'publicNode', 'publicInsertIntoSwapCollection'],
    ],
  },
  {
    reason: 'a comma in it makes no difference',
    // Of the one argument whose vector leaves it open.
    names: ['defaultValue'],
  },
  {
    reason: "Introspection's own types",
    names: ['DIRECTIVE_DEFINITION', 'deprecationReason', 'isDeprecated', 'isOneOf'],
  },
];

/** Tells whether a member beyond the expected ones is accounted for. */
export function readKnownAdditions(): (name: string) => boolean {
  const file = path.join(import.meta.dirname, '../../docs/differences.md');
  const differences = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const known = new Set(groups.filter(({ reason }) => differences.includes(reason)).flatMap(({ names }) => names));
  return (name) => known.has(name);
}
