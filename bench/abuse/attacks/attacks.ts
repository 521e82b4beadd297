/** All attacks, in the order of the report. */
import type { Attack } from '../attack.ts';
import { connectionAttacks } from './connections.ts';
import { databaseAttacks } from './database.ts';
import { documentAttacks } from './documents.ts';
import { pause } from './flood.ts';

const none: Attack = { name: 'none', title: 'no attack', run: (_arena, until) => pause(until, 2 ** 31 - 1) };

export const attacks: readonly Attack[] = [none, ...connectionAttacks, ...documentAttacks, ...databaseAttacks];
