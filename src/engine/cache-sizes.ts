/** How much each cache keeps. */

/** Sizes of caches. */
export interface CacheSizes {
  /** Estimated bytes of all schemas, with their documents and compiled variants. Default: 192 MB. */
  readonly schemaBytes: number;
  /** Documents cached for all roles with the same privileges. Default: 1000. */
  readonly documents: number;
  /** Total characters of these documents. Default: 2,000,000. */
  readonly documentText: number;
  /** Compiled variants to cache per document. Default: 100. */
  readonly variants: number;
  /** Total characters of all compiled variants of these documents. Default: 20,000,000. */
  readonly variantText: number;
  /** Prepared statements to keep per connection. Default: 256. */
  readonly statements: number;
  /** Total bytes of the introspection responses of all roles. Default: 64 MB. */
  readonly introspectionBytes: number;
}

export const defaultCacheSizes: CacheSizes = {
  schemaBytes: 192 * 1024 * 1024,
  documents: 1000,
  documentText: 2_000_000,
  variants: 100,
  variantText: 20_000_000,
  statements: 256,
  introspectionBytes: 64 * 1024 * 1024,
};
