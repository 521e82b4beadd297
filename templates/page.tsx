import { firstQuery } from '../../graphql/first-query';

/** Not when the app is built: the API may not run then. */
export const dynamic = 'force-dynamic';

export default async function FirstQuery() {
  return <pre>{JSON.stringify(await firstQuery(), null, 2)}</pre>;
}
