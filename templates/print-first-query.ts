/** Runs the first query and prints its rows. */
import { firstQuery } from './graphql/first-query.ts';

console.log(JSON.stringify(await firstQuery(), null, 2));
