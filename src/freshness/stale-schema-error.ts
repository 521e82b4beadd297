/** A batch was compiled for an outdated schema. Nothing of it ran; it may be recompiled and run again. */
export class StaleSchemaError extends Error {
  constructor(cause: Error) {
    super('The schema has changed', { cause });
    this.name = 'StaleSchemaError';
  }
}
