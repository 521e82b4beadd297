/** Comments that contain a directive, by object. */
import type { CommentedKind, RawCatalog } from './raw-catalog.ts';

export class CatalogComments {
  readonly #texts = new Map<string, string>();
  readonly #tables = new Set<number>();

  constructor({ comments }: RawCatalog) {
    for (const [kind, id, number, text] of comments) {
      this.#texts.set(`${kind} ${id} ${number}`, text);
      if (kind === 'relation') this.#tables.add(id);
    }
  }

  /** The comment on an object, or null. */
  on(kind: CommentedKind, id: number): string | null {
    return this.#texts.get(`${kind} ${id} 0`) ?? null;
  }

  /** The comment on a column, or null. Few tables have such comments, so the others skip building a key for each column. */
  onColumn(tableId: number, number: number): string | null {
    return (this.#tables.has(tableId) && this.#texts.get(`relation ${tableId} ${number}`)) || null;
  }
}
