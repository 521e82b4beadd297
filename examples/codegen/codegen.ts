import type { CodegenConfig } from '@graphql-codegen/cli';
import { preset as client } from '@graphql-codegen/client-preset';
import { withScalars } from 'rowgraph/codegen';

const { GRAPHQL_URL: url = '', ANON_KEY: apiKey = '' } = process.env;

const config: CodegenConfig = {
  schema: { [url]: { headers: { apiKey } } },
  documents: ['src/*.ts'],
  // So that Node runs what is generated as it is.
  importExtension: '.ts',
  // The scalars of rowgraph, such as BigInt, get their types; they are `any` otherwise.
  generates: {
    './src/gql/': {
      preset: withScalars(client),
      presetConfig: { fragmentMasking: false },
      config: { useTypeImports: true, enumsAsTypes: true },
    },
  },
};

export default config;
