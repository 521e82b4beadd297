/**
 * One project of a server: its graph, its keys and its endpoint, each opened when a request needs it. In: requests; out: their responses.
 */
import type { Authenticate } from '../auth/authenticate.ts';
import { createTokenVerifier, type TokenRules } from '../auth/verify-token.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { Endpoint } from '../http/endpoint/create-endpoint.ts';
import type { Exchange } from '../http/endpoint/exchange.ts';
import type { GraphqlEndpoint } from '../http/endpoint/graphql-endpoint.ts';
import type { LazyGraph, OpenedGraph } from './lazy-graph.ts';

/** The keys of a project. Their files are watched. */
export interface ProjectTokens {
  readonly rules: TokenRules;
  /** Stops watching the files. */
  stop(): void;
}

/** What the settings of a project define. Nothing is opened before a request needs it. */
export interface ProjectDefinition {
  /** Milliseconds that a request may take. */
  readonly requestTimeout: number;
  /** Equal for definitions with the same graph, so that new keys need no new connections. */
  readonly graphIdentity: string;
  readonly openGraph: (observe: Observer) => Promise<OpenedGraph>;
  /** Rejects with an `Error` that says what is wrong with the keys. */
  readonly openTokens: (observe: Observer) => Promise<ProjectTokens>;
}

type EndpointFor = Endpoint['endpointFor'];

/** In tokens. */
const tokenCache = 1000;

export class Project {
  readonly reference: string;
  readonly graph: LazyGraph;
  /** Null if its settings are wrong. */
  readonly definition: ProjectDefinition | null;
  readonly #endpointFor: EndpointFor;
  readonly #observe: Observer;
  #endpoint: GraphqlEndpoint | null = null;
  #opening: Promise<GraphqlEndpoint> | null = null;
  #tokens: ProjectTokens | null = null;
  #isRetired = false;

  constructor(reference: string, definition: ProjectDefinition | null, graph: LazyGraph, endpointFor: EndpointFor, observe: Observer) {
    this.reference = reference;
    this.definition = definition;
    this.graph = graph;
    this.#endpointFor = endpointFor;
    this.#observe = observe;
  }

  /** Handles a request. Never rejects. */
  async handle(exchange: Exchange): Promise<void> {
    this.graph.enter();
    try {
      const endpoint = this.#endpoint ?? (await this.#openEndpoint());
      await endpoint(exchange);
    } finally {
      this.graph.leave();
    }
  }

  /** Drops everything that the next request can build again. */
  rest(): void {
    this.#endpoint = null;
  }

  /** No more requests will come. Its owner deals with its graph, which another project may use by now. */
  retire(): void {
    this.#isRetired = true;
    this.#tokens?.stop();
  }

  /** Concurrent requests share one opening. Never rejects. */
  #openEndpoint(): Promise<GraphqlEndpoint> {
    this.#opening ??= this.#makeEndpoint().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #makeEndpoint(): Promise<GraphqlEndpoint> {
    try {
      if (this.definition === null) return this.#make(noRules, refuse);
      this.#tokens ??= await this.definition.openTokens(this.#observe);
      if (this.#isRetired) this.#tokens.stop();
      this.#endpoint = this.#make(this.#tokens.rules, null);
      return this.#endpoint;
    } catch (error) {
      this.#observe({ kind: 'project-failed', error });
      // The next request tries again.
      return this.#make(noRules, refuse);
    }
  }

  #make(rules: TokenRules, authenticate: Authenticate | null): GraphqlEndpoint {
    const { graph, reference: name } = this;
    const verifier = createTokenVerifier(rules, authenticate === null ? tokenCache : 1);
    return this.#endpointFor({ name, graph, verifier, authenticate, observe: this.#observe, ...timeoutOf(this.definition) });
  }
}

const noRules: TokenRules = { secrets: [] };

const refuse: Authenticate = () => {
  throw new ApiError('PROJECT_UNAVAILABLE', 'The settings or the keys of the project are broken. Try again later.');
};

function timeoutOf(definition: ProjectDefinition | null) {
  return { requestTimeout: definition?.requestTimeout ?? 30_000 };
}
