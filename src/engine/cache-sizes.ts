/** How much each cache keeps. */

/** Sizes of caches. */
export interface CacheSizes {
  /** Documents cached per role. Default: 1000. */
  readonly documents: number;
  /** Characters of all documents of a role together. Default: 2,000,000. */
  readonly documentText: number;
  /** Compiled variants to cache per document. Default: 100. */
  readonly variants: number;
  /** Characters of all compiled variants of a role together. Default: 20,000,000. */
  readonly variantText: number;
  /** Prepared statements to keep per connection. Default: 256. */
  readonly statements: number;
  /** Bytes of all responses to introspection together, of all roles. Default: 64 MB. */
  readonly introspectionBytes: number;
}

export const defaultCacheSizes: CacheSizes = {
  documents: 1000,
  documentText: 2_000_000,
  variants: 100,
  variantText: 20_000_000,
  statements: 256,
  introspectionBytes: 64 * 1024 * 1024,
};
