import type { Database } from './database.ts';
export function openClientDatabase(_client: never): Database { throw new Error('being written'); }
