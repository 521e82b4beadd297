/** Writes schema.graphql, from which types are made: the schema as the role of CODEGEN_TOKEN sees it. */
import { writeFileSync } from 'node:fs';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql';

process.loadEnvFile();
const { GRAPHQL_URL: url = '', ANON_KEY: apiKey = '', CODEGEN_TOKEN: token = '' } = process.env;

const response = await fetch(url, {
  method: 'POST',
  headers: { apiKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ query: getIntrospectionQuery() }),
});
const { data, errors } = (await response.json()) as { data?: IntrospectionQuery; errors?: { message: string }[] };
if (!data) throw new Error(`${url}: ${errors?.map(({ message }) => message).join('; ')}`);
writeFileSync('schema.graphql', printSchema(buildClientSchema(data)));
