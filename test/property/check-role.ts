/**
 * Checks one role of a case: its schema, then random queries, walks and mutations, whose responses the evaluator computes too.
 */
import type { PGlite } from '@electric-sql/pglite';
import { type DocumentNode, type GraphQLSchema, parse, validate } from 'graphql';
import type { ExecutionResult } from '../../src/index.ts';
import type { ReportedModel } from '../../src/model/report.ts';
import { alterVariables } from './altered-variables.ts';
import { asRole, type CaseContext, claims } from './case-context.ts';
import { inOrder, isExpected } from './check-answer.ts';
import { admitNulls, checkSchema, checkSchemaText } from './check-schema.ts';
import { canSubscribe, Subscription } from './check-subscription.ts';
import { checkWalk } from './check-walk.ts';
import { evaluateMutation, readState } from './evaluate-mutation.ts';
import { type Expectation, evaluateOperation } from './evaluate-operation.ts';
import { Examples } from './examples.ts';
import { isRestricted, loadWorld, mayBeRefused, type World } from './loaded-tables.ts';
import { PropertyFailure, UnknownAnswerError } from './property-failure.ts';
import { randomMutation } from './random-mutation.ts';
import { type RandomOperation, SelectionMaker } from './random-selection.ts';
import type { RandomSource } from './random-source.ts';
import { ValueOracle } from './value-oracle.ts';

/** Runs the checks of the role of a model. Resolves to the number of operations that were compared. Rejects with `PropertyFailure`. */
export async function checkRole(context: CaseContext, model: ReportedModel, random: RandomSource): Promise<number> {
  const schema = await checkSchema(context, model);
  if (random.chance(0.3)) await checkSchemaText(context, model, schema);
  admitNulls(context.schema, model, schema);
  const world = await loadAsRole(context, model);
  return new RoleCheck(context, model, random, schema, world).run();
}

function loadAsRole(context: CaseContext, model: ReportedModel): Promise<World> {
  return asRole(context, model.role, () => loadWorld(context, model));
}

/** Whether an error is expected, in whatever words. */
function isRefusal(expected: unknown): boolean {
  const { kind, message } = (expected ?? {}) as Partial<Expectation & { readonly message: unknown }>;
  return kind === 'error' && message === null;
}

class RoleCheck {
  readonly #context: CaseContext;
  readonly #model: ReportedModel;
  readonly #random: RandomSource;
  readonly #schema: GraphQLSchema;
  readonly #oracle: ValueOracle;
  #world: World;
  #count = 0;

  constructor(context: CaseContext, model: ReportedModel, random: RandomSource, schema: GraphQLSchema, world: World) {
    this.#context = context;
    this.#model = model;
    this.#random = random;
    this.#schema = schema;
    this.#world = world;
    this.#oracle = new ValueOracle(context.database);
  }

  async run(): Promise<number> {
    const queries = this.#random.integer(3, 6);
    for (let number = 0; number < queries; number += 1) await this.#query();
    await checkWalk(this.#random, this.#schema, this.#world, this.#oracle, (operation) => this.#compare(operation));
    const mutations = this.#random.integer(0, 3);
    for (let number = 0; number < mutations; number += 1) {
      const operation = randomMutation(this.#maker(), this.#schema, this.#world);
      if (!operation) break;
      const subscription = this.#random.chance(0.1) ? await this.#subscribe() : null;
      await this.#mutate(operation);
      this.#world = await loadAsRole(this.#context, this.#model);
      if (subscription) await this.#answersAgain(subscription);
      await this.#query();
    }
    return this.#count;
  }

  #maker(): SelectionMaker {
    return new SelectionMaker(this.#random, this.#schema, new Examples(this.#world));
  }

  async #query(): Promise<void> {
    const operation = this.#maker().query();
    const data = await this.#compare(operation);
    if (this.#random.chance(0.05)) await this.#resolve(operation, data);
    // The same document again, which is compiled by now.
    if (Object.keys(operation.variables).length === 0 || !this.#random.chance(0.3)) return;
    await this.#compareAltered({ ...operation, variables: alterVariables(this.#random, operation.variables) });
  }

  /** Sends a query and compares the response. Resolves to its data. */
  async #compare(operation: RandomOperation): Promise<Record<string, unknown>> {
    const { query } = operation;
    const document = parse(query);
    const expected = await this.#expect(operation, document, () => this.#evaluate(operation, document));
    const answer = await this.#send(operation);
    if (isExpected(answer, expected, mayBeRefused(this.#world, query))) return answer.data ?? {};
    throw this.#failure('The response is not the expected one.', operation, document, { expected, got: answer });
  }

  /** A query that keeps answering, whose first answer has come; null if it cannot. */
  async #subscribe(): Promise<Subscription | null> {
    const query = this.#maker().query();
    if (!canSubscribe(this.#schema, query)) return null;
    const subscription = new Subscription(this.#context, this.#model.role, query);
    await this.#expectAnswer(subscription);
    return subscription;
  }

  async #answersAgain(subscription: Subscription): Promise<void> {
    try {
      await this.#expectAnswer(subscription);
    } finally {
      await subscription.close();
    }
  }

  async #expectAnswer(subscription: Subscription): Promise<void> {
    const { operation } = subscription;
    const document = parse(operation.query);
    const expected = await this.#expect(operation, document, () => this.#evaluate(operation, document));
    this.#count += 1;
    await subscription.expect((answer) => isExpected(answer, expected, mayBeRefused(this.#world, operation.query)), expected);
  }

  #evaluate({ variables }: RandomOperation, document: DocumentNode): Promise<Expectation> {
    return evaluateOperation({ schema: this.#schema, document, variables, oracle: this.#oracle, world: this.#world, mutate: null });
  }

  /** With variables that need not make sense, where the evaluator may not know what to expect and less is refused by it. */
  async #compareAltered(operation: RandomOperation): Promise<void> {
    try {
      await this.#compare(operation);
    } catch (error) {
      if (!(error instanceof PropertyFailure)) throw error;
      const [refusal] = (error.details.got as ExecutionResult | undefined)?.errors ?? [];
      // What only the evaluator refuses may be of rows that nothing reads.
      const isRefused = refusal ? refusal.extensions.code === 'BAD_USER_INPUT' : isRefusal(error.details.expected);
      if (!isRefused && !(error.cause instanceof UnknownAnswerError)) throw error;
    }
  }

  /** The same in a transaction that is open, where the database is one that a client may be taken for. */
  async #resolve(operation: RandomOperation, data: unknown): Promise<void> {
    const { database, graph } = this.#context;
    if (typeof database.target === 'string') return;
    const answer = await asRole(this.#context, this.#model.role, () => graph.resolve(database.target as PGlite, operation));
    if (JSON.stringify(answer.data ?? {}) === JSON.stringify(data)) return;
    throw this.#failure('Resolved on a client, the response is another.', operation, parse(operation.query), {
      expected: data,
      got: answer,
    });
  }

  async #mutate(operation: RandomOperation): Promise<void> {
    const { query, variables, isNested = false } = operation;
    const document = parse(query);
    const told = await this.#expect(operation, document, () =>
      evaluateMutation(this.#context, this.#model, { schema: this.#schema, document, variables, oracle: this.#oracle }),
    ).catch((error: unknown) => {
      // The row of a cursor may be gone after the write, and then the evaluator does not know where the page starts.
      if (error instanceof PropertyFailure && error.cause instanceof UnknownAnswerError) return null;
      throw error;
    });
    if (told === null) return;
    // What is wrong with related rows in an input is found before an earlier field fails.
    const expected = isNested && told.answer.kind === 'error' ? { ...told, answer: { ...told.answer, message: null } } : told;
    const answer = await this.#send(operation);
    const fail = (what: string, wanted: unknown, got: unknown) => this.#failure(what, operation, document, { expected: wanted, got });
    if (answer.errors?.[0]?.extensions.code === 'INTERNAL_ERROR') throw fail('A mutation crashes.', expected.answer, answer);
    if (isRestricted(this.#world)) return;
    const wanted =
      expected.answer.kind === 'data' ? { ...expected.answer, data: this.#inOrder(document, expected.answer.data) } : expected.answer;
    const sorted = answer.errors ? answer : { data: this.#inOrder(document, answer.data) };
    if (!isExpected(sorted, wanted, false)) throw fail('A mutation does not answer as expected.', expected.answer, answer);
    const state = await readState(this.#context);
    if (state !== expected.state) throw fail('A mutation leaves other rows than expected.', expected.state, state);
  }

  #inOrder(document: DocumentNode, data: unknown): Record<string, unknown> {
    return inOrder(this.#schema, document, data);
  }

  #send({ query, variables }: RandomOperation): Promise<ExecutionResult> {
    this.#count += 1;
    return this.#context.graph.execute({ query, variables }, { role: this.#model.role, claims });
  }

  /** A failure of the evaluator itself is reported with the operation. */
  async #expect<Expected>(operation: RandomOperation, document: DocumentNode, evaluate: () => Promise<Expected>): Promise<Expected> {
    try {
      return await evaluate();
    } catch (error) {
      throw this.#failure('The evaluator fails.', operation, document, {}, error);
    }
  }

  #failure(
    what: string,
    { query, variables }: RandomOperation,
    document: DocumentNode,
    details: { readonly expected?: unknown; readonly got?: unknown },
    cause?: unknown,
  ): PropertyFailure {
    const problems = validate(this.#schema, document).map(String);
    if (problems.length > 0) return new PropertyFailure('The generator wrote an invalid document.', { query, variables, got: problems });
    return new PropertyFailure(what, { role: this.#model.role, query, variables, ...details }, cause);
  }
}
