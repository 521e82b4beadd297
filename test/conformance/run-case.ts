/**
 * Runs one case: a fresh database, its setup, its steps in order. In: the case, where databases come from, how requests are sent.
 * Out: what each request step came to. Failures are data here; only defects of the runner throw.
 */
import type { CaseDatabase, DatabaseSource } from './case-database.ts';
import { checkAnswer } from './check-answer.ts';
import type { Answer, Endpoint, OpenEndpoint } from './endpoint.ts';
import { type ConformanceCase, findMissing, type QueryStep } from './read-cases.ts';

export interface StepResult {
  readonly step: QueryStep;
  /** What is wrong, a line each; empty where the step passed. */
  readonly problems: readonly string[];
  readonly answer: Answer | null;
  readonly additions: readonly string[];
}

export interface CaseResult {
  readonly file: string;
  /** What the server lacks, where the case was skipped. */
  readonly missing: string | null;
  readonly steps: readonly StepResult[];
  readonly milliseconds: number;
}

export interface RunOptions {
  readonly source: DatabaseSource;
  readonly openEndpoint: OpenEndpoint;
  readonly isKnownAddition: (name: string) => boolean;
  readonly hasAdditions?: boolean;
  /** Which queries are sent, also by their index among the steps; the others are left out of the results. Default: all. */
  readonly isChosen?: (step: QueryStep, index: number) => boolean;
}

/** A step that hangs is told by its name, before the runner ends all of them; far longer than any takes on a busy machine. */
const stepTimeout = 120_000;

/** Runs the case and reports on each of its requests. */
export async function runCase(conformanceCase: ConformanceCase, options: RunOptions): Promise<CaseResult> {
  const start = performance.now();
  const missing = findMissing(conformanceCase, options.source);
  const steps = missing === null ? await runSteps(conformanceCase, options) : [];
  return { file: conformanceCase.file, missing, steps, milliseconds: performance.now() - start };
}

async function runSteps({ setup, before = '', steps, coercion }: ConformanceCase, options: RunOptions): Promise<StepResult[]> {
  const { isChosen = () => true } = options;
  const database = await options.source.open();
  const endpoints = new EndpointPool((schemas) => options.openEndpoint(database.target, schemas, coercion));
  const results: StepResult[] = [];
  try {
    await database.run(setup);
    let isPrepared = false;
    for (const [index, step] of steps.entries()) {
      if ('sql' in step) {
        isPrepared = false;
        // A failure is part of the case; the steps after it tell what it should have come to.
        await database.run(step.sql).catch(() => undefined);
        await endpoints.reload();
      } else if (isMutation(step) || isChosen(step, index)) {
        // A query leaves the rows as they are.
        if (before !== '' && !isPrepared) await database.run(before);
        isPrepared = !isMutation(step);
        // Mutations are sent even if they are not chosen, because later steps see what they did.
        results.push(await runStep(step, database, endpoints, options));
      }
    }
  } finally {
    await endpoints.close();
    await database.close();
  }
  return results;
}

async function runStep(step: QueryStep, database: CaseDatabase, endpoints: EndpointPool, options: RunOptions): Promise<StepResult> {
  const expectedChanges = step.changes ?? (step.expect.data === undefined && isMutation(step) ? [] : null);
  const before = expectedChanges === null ? [] : await readRows(database);
  try {
    const endpoint = await endpoints.get(step.schemas ?? ['public']);
    const answer = await withTimeout(endpoint.send(toRequest(step), step.role ?? 'service_role', step.claims ?? {}));
    const { problems, additions } = checkAnswer(step, answer, options);
    const changes = expectedChanges === null ? [] : checkChanges(expectedChanges, before, await readRows(database));
    return { step, problems: [...problems, ...changes], answer, additions };
  } catch (error) {
    return {
      step,
      problems: [`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
      answer: null,
      additions: [],
    };
  }
}

function toRequest({ query, variables, operationName }: QueryStep) {
  return { query, ...(variables && { variables }), ...(operationName !== undefined && { operationName }) };
}

function isMutation({ query }: QueryStep): boolean {
  return /\bmutation\b/.test(query);
}

async function withTimeout<Result>(promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${stepTimeout / 1000} s`)), stepTimeout);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** The rows of all tables of the user's, in an order of their own: `author (1,Ada)`. */
async function readRows(database: CaseDatabase): Promise<string[]> {
  const tables = await database.run(`
    select format('select %L || r::text collate "C" from only %s r', oid::regclass || ' ', oid::regclass)
    from pg_class where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information_schema|rowgraph)' order by oid`);
  if (tables.length === 0) return [];
  return (await database.run(`${tables.map(([text]) => text).join(' union all ')} order by 1`)).map(([row]) => String(row));
}

/** What differs between the changes that are expected and those that there are. */
function checkChanges(expected: readonly string[], before: readonly string[], after: readonly string[]): string[] {
  const got = [...without(before, after).map((row) => `- ${row}`), ...without(after, before).map((row) => `+ ${row}`)];
  return [
    ...without(expected, got).map((change) => `the change is missing: ${change}`),
    ...without(got, expected).map((change) => `the change is not expected: ${change}`),
  ];
}

/** The texts of a list that are left when each of another has taken one. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of others) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.filter((text) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}

/** One endpoint for each list of exposed schemas, opened when it is first needed. */
class EndpointPool {
  readonly #open: (schemas: readonly string[]) => Promise<Endpoint>;
  readonly #endpoints = new Map<string, Promise<Endpoint>>();

  constructor(open: (schemas: readonly string[]) => Promise<Endpoint>) {
    this.#open = open;
  }

  get(schemas: readonly string[]): Promise<Endpoint> {
    const key = JSON.stringify(schemas);
    const known = this.#endpoints.get(key);
    if (known) return known;
    const opened = this.#open(schemas);
    // Whoever waits for it sees the failure; this keeps it from being reported as unhandled as well.
    opened.catch(() => undefined);
    this.#endpoints.set(key, opened);
    return opened;
  }

  /** What could not be opened or reloaded is opened anew at its next request. */
  async reload(): Promise<void> {
    for (const [key, opened] of this.#endpoints) {
      const endpoint = await opened.catch(() => null);
      const failed = await endpoint?.reload().then(
        () => false,
        () => true,
      );
      if (failed === false) continue;
      await endpoint?.close();
      this.#endpoints.delete(key);
    }
  }

  async close(): Promise<void> {
    for (const endpoint of this.#endpoints.values()) await endpoint.then((opened) => opened.close()).catch(() => undefined);
  }
}
