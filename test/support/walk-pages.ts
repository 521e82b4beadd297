/** Reads a connection page by page, as clients do. */
import assert from 'node:assert/strict';

interface WalkedPage<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean };
}

/**
 * The nodes of all pages, in order, read from the start or from the end. `read` is given the arguments of a page; each page says truly
 * whether rows come before and after it.
 */
export async function walkPages<Node>(
  read: (page: string) => Promise<WalkedPage<Node>>,
  isForward: boolean,
  size: number,
): Promise<Node[]> {
  const nodes: Node[] = [];
  for (let cursor = ''; ; ) {
    const { edges, pageInfo } = await read(
      `${isForward ? 'first' : 'last'}: ${size} ${cursor && `${isForward ? 'after' : 'before'}: "${cursor}"`}`,
    );
    assert.equal(isForward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage, cursor !== '');
    const found = edges.map(({ node }) => node);
    if (isForward) nodes.push(...found);
    else nodes.unshift(...found);
    if (!(isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return nodes;
    const last = edges.at(isForward ? -1 : 0);
    assert.ok(last, 'a page without rows is the last one');
    cursor = last.cursor;
  }
}
