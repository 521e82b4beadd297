/** Explains documents and collects the advice. Does not run the documents. */
import { buildSchema, type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { type AdvisedOperation, groupAdvice } from '../../explain/advise.ts';
import { sampleRequest } from '../../explain/sample-request.ts';
import type { Advice, Caller, Rowgraph } from '../../index.ts';
import type { AdviceReport } from '../output/describe-explanation.ts';

/** A document, with what is known of its use. */
export interface AdvisedDocument {
  /** Its name in the report if the operation has none. */
  readonly id: string;
  readonly text: string;
  /** The operation that ran; undefined if all operations count. */
  readonly operationName?: string | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The role that sent it; undefined if unknown. */
  readonly role?: string | undefined;
  readonly count: number;
  readonly milliseconds: number | null;
}

type Advised = { readonly operation: AdvisedOperation; readonly advice: readonly Advice[] };

/** `takesRoles`: whether to explain each document as the role that sent it. */
export async function adviseForDocuments(
  graph: Pick<Rowgraph, 'explain' | 'sdl'>,
  documents: readonly AdvisedDocument[],
  caller: Caller,
  takesRoles: boolean,
): Promise<AdviceReport> {
  const schemas = new Map<string, GraphQLSchema>();
  const advised: Advised[] = [];
  const failed: { readonly name: string; readonly reason: string }[] = [];
  for (const found of documents) {
    const as = takesRoles && found.role !== undefined ? { ...caller, role: found.role } : caller;
    let name = found.id;
    try {
      const schema = schemas.get(as.role) ?? buildSchema(await graph.sdl({ role: as.role }), { assumeValidSDL: true });
      schemas.set(as.role, schema);
      const document = parse(found.text, { noLocation: true });
      for (const operation of operationsOf(document, found.operationName)) {
        name = operation.name?.value ?? found.id;
        const { advice } = await graph.explain(sampleRequest(schema, document, operation, found.variables), as);
        advised.push({ operation: { name, count: found.count, milliseconds: found.milliseconds }, advice });
      }
    } catch (error) {
      failed.push({ name, reason: (error as Error).message });
    }
  }
  return { explained: advised.length, groups: groupAdvice(advised), failed };
}

function operationsOf({ definitions }: DocumentNode, name: string | undefined): OperationDefinitionNode[] {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return name === undefined ? operations : operations.filter((operation) => operation.name?.value === name);
}
