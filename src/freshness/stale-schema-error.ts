/** A batch that was compiled for a schema which is not the present one. Nothing of it ran; compiled anew, it may run again. */
export class StaleSchemaError extends Error {
  constructor(cause: Error) {
    super('The schema has changed', { cause });
    this.name = 'StaleSchemaError';
  }
}
