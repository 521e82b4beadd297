/** What GraphQL Code Generator makes: the types of documents, from the schema as the role of CODEGEN_TOKEN sees it. */
import type { CodegenConfig } from '@graphql-codegen/cli';
import { preset as client } from '@graphql-codegen/client-preset';
import { withScalars } from 'rowgraph/codegen';

process.loadEnvFile();
const { GRAPHQL_URL: url = '', ANON_KEY: apiKey = '', CODEGEN_TOKEN: token = '' } = process.env;

const config: CodegenConfig = {
  schema: { [url]: { headers: { apiKey, authorization: `Bearer ${token}` } } },
  documents: ['src/**/*.{ts,tsx}', '!src/graphql/gql/**'],
  importExtension: '.ts',
  generates: {
    './src/graphql/gql/': {
      // The scalars of rowgraph, such as BigInt, get their types; they are `any` otherwise.
      preset: withScalars(client),
      presetConfig: { fragmentMasking: false },
      config: { useTypeImports: true, enumsAsTypes: true },
    },
  },
};

export default config;
