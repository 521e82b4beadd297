/**
 * One case: a random schema is made in the database, loaded by rowgraph, checked for some roles, and queried and changed by random
 * operations whose answers the evaluator computes too.
 */
import { type GraphQLSchema, parse, validate } from 'graphql';
import { createRowgraph, type ExecutionResult } from '../../src/index.ts';
import type { Model } from '../../src/model/model.ts';
import type { CaseDatabase } from '../conformance/case-database.ts';
import { alterVariables } from './altered-variables.ts';
import { asRole, type CaseContext, claims, readModels } from './case-context.ts';
import { inOrder, isExpected } from './check-answer.ts';
import { checkSchema } from './check-schema.ts';
import { checkWalk } from './check-walk.ts';
import { evaluateMutation, readState } from './evaluate-mutation.ts';
import { evaluateOperation } from './evaluate-operation.ts';
import { UnknownCursorError } from './evaluate-page.ts';
import { Examples } from './examples.ts';
import { isRestricted, loadWorld, mayBeRefused, type World } from './loaded-tables.ts';
import { describeFailure, PropertyFailure } from './property-failure.ts';
import { randomMutation } from './random-mutation.ts';
import { randomSchema, roles } from './random-schema.ts';
import { type RandomOperation, SelectionMaker } from './random-selection.ts';
import { RandomSource } from './random-source.ts';
import { dropStatement, schemaStatements } from './schema-sql.ts';
import { ValueOracle } from './value-oracle.ts';

/** Runs the case of a seed. Rejects with a report of what does not hold. Resolves to the number of operations that were compared. */
export async function runCase(database: CaseDatabase, seed: number, number: number): Promise<number> {
  const random = new RandomSource(seed);
  const schema = randomSchema(random, number);
  const statements = schemaStatements(schema);
  const chosen = random.sample(roles, random.chance(0.7) ? 1 : 2);
  try {
    await database.run(statements.join(';\n'));
    const models = await readModels(database.target, schema, chosen);
    const graph = await createRowgraph({ database: database.target, schemas: [schema.name], introspection: 'on', poolSize: 1 });
    try {
      let count = 0;
      for (const [index, role] of chosen.entries())
        count += await new RoleCheck({ database, schema, graph }, role, random).run(models[index]!);
      return count;
    } finally {
      await graph.close();
    }
  } catch (error) {
    throw new Error(describeFailure(error, seed, statements), { cause: error });
  } finally {
    await database.run(dropStatement(schema));
  }
}

class RoleCheck {
  readonly #context: CaseContext;
  readonly #role: string;
  readonly #random: RandomSource;
  readonly #oracle: ValueOracle;
  #count = 0;

  constructor(context: CaseContext, role: string, random: RandomSource) {
    this.#context = context;
    this.#role = role;
    this.#random = random;
    this.#oracle = new ValueOracle(context.database);
  }

  /** Checks the schema, then operations. Resolves to their number. */
  async run(model: Model): Promise<number> {
    const schema = await checkSchema(this.#context, this.#role, model);
    let world = await this.#load(model);
    const rounds = this.#random.integer(4, 8);
    for (let round = 0; round < rounds; round += 1) await this.#query(schema, world);
    await this.#walk(schema, world);
    const mutations = this.#random.integer(0, 3);
    for (let round = 0; round < mutations; round += 1) {
      await this.#mutate(schema, model, world);
      world = await this.#load(model);
      await this.#query(schema, world);
    }
    return this.#count;
  }

  #load(model: Model): Promise<World> {
    return asRole(this.#context, this.#role, () => loadWorld(this.#context, model));
  }

  async #query(schema: GraphQLSchema, world: World): Promise<void> {
    const operation = new SelectionMaker(this.#random, schema, new Examples(world)).query();
    const answer = await this.#compare(schema, world, operation);
    if (this.#random.chance(0.05)) await this.#resolve(operation, answer);
    // The same document again, which is compiled by now.
    if (Object.keys(operation.variables).length === 0 || !this.#random.chance(0.3)) return;
    await this.#compareAltered(schema, world, { ...operation, variables: alterVariables(this.#random, operation.variables) });
  }

  /** The same in a transaction that is open, where the database is one that a client may be taken for. */
  async #resolve({ query, variables }: RandomOperation, expected: unknown): Promise<void> {
    const { database, graph } = this.#context;
    if (typeof database.target === 'string') return;
    const answer = await asRole(this.#context, this.#role, () => graph.resolve(database.target, { query, variables }));
    if (JSON.stringify(answer.data ?? {}) === JSON.stringify(expected)) return;
    throw new PropertyFailure('Resolved on a client, the answer is another.', {
      role: this.#role,
      query,
      variables,
      expected,
      got: answer,
    });
  }

  async #walk(schema: GraphQLSchema, world: World): Promise<void> {
    await checkWalk(this.#random, schema, world, this.#oracle, (operation) => this.#compare(schema, world, operation));
  }

  /** Sends a query and compares the answer. Resolves to it. */
  async #compare(schema: GraphQLSchema, world: World, { query, variables }: RandomOperation): Promise<Record<string, unknown>> {
    this.#count += 1;
    const document = parse(query);
    const problems = validate(schema, document);
    if (problems.length > 0)
      throw new PropertyFailure('The generator wrote an invalid document.', { query, variables, got: problems.map(String) });
    const expected = await this.#guard(query, variables, () =>
      evaluateOperation({ schema, document, variables, oracle: this.#oracle, world, mutate: null }),
    );
    const answer = await this.#context.graph.execute({ query, variables }, { role: this.#role, claims });
    if (isExpected(answer, expected, mayBeRefused(world, query))) return answer.data ?? {};
    throw new PropertyFailure('The answer is not the expected one.', { role: this.#role, query, variables, expected, got: answer });
  }

  /** With variables that need not make sense, where the evaluator may not know what to expect and less is refused by it. */
  async #compareAltered(schema: GraphQLSchema, world: World, operation: RandomOperation): Promise<void> {
    try {
      await this.#compare(schema, world, operation);
    } catch (error) {
      const { got } = (error as PropertyFailure).details ?? {};
      const isRefused = (got as ExecutionResult | undefined)?.errors?.[0]?.extensions.code === 'BAD_USER_INPUT';
      if (!isRefused && !((error as PropertyFailure).cause instanceof UnknownCursorError)) throw error;
    }
  }

  async #mutate(schema: GraphQLSchema, model: Model, world: World): Promise<void> {
    const operation = randomMutation(new SelectionMaker(this.#random, schema, new Examples(world)), schema);
    if (!operation) return;
    this.#count += 1;
    const { query, variables } = operation;
    const document = parse(query);
    const problems = validate(schema, document);
    if (problems.length > 0)
      throw new PropertyFailure('The generator wrote an invalid document.', { query, variables, got: problems.map(String) });
    const expected = await this.#guard(query, variables, () =>
      evaluateMutation(this.#context, this.#role, model, { schema, document, variables, oracle: this.#oracle }),
    );
    const answer = await this.#context.graph.execute({ query, variables }, { role: this.#role, claims });
    const details = { role: this.#role, query, variables };
    if (answer.errors?.[0]?.extensions.code === 'INTERNAL_ERROR')
      throw new PropertyFailure('A mutation crashes.', { ...details, got: answer });
    if (isRestricted(world)) return;
    const sorted = (data: unknown) => inOrder(schema, document, data);
    const { answer: wanted } = expected;
    const isAsWanted = isExpected(
      answer.errors ? answer : { data: sorted(answer.data) as never },
      wanted.kind === 'data' ? { ...wanted, data: sorted(wanted.data) } : wanted,
      false,
    );
    if (!isAsWanted) throw new PropertyFailure('A mutation does not answer as expected.', { ...details, expected: wanted, got: answer });
    const state = await readState(this.#context);
    if (state !== expected.state)
      throw new PropertyFailure('A mutation leaves other rows than expected.', { ...details, expected: expected.state, got: state });
  }

  /** A failure of the evaluator itself is reported with the operation. */
  async #guard<Result>(query: string, variables: unknown, evaluate: () => Promise<Result>): Promise<Result> {
    try {
      return await evaluate();
    } catch (error) {
      throw new PropertyFailure('The evaluator fails.', { role: this.#role, query, variables }, error);
    }
  }
}
