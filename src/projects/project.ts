/** One project of a server: its graph, its keys and its endpoint, each opened when a request needs it. */
import type { Authenticate } from '../auth/caller.ts';
import type { TokenRules } from '../auth/read-jwt.ts';
import { TokenVerifier } from '../auth/verify-token.ts';
import { type Deadline, explainStop, untilStopped } from '../budget/deadline.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { Endpoint, OtherEndpoint } from '../http/endpoint/create-endpoint.ts';
import type { ExecutingGraph } from '../http/endpoint/endpoint-options.ts';
import type { Exchange } from '../http/endpoint/exchange.ts';
import { LateGraph } from '../http/endpoint/late-graph.ts';
import { settings } from '../settings/settings.ts';

/** The keys of a project. Their files are watched. */
export interface ProjectTokens {
  readonly rules: TokenRules;
  stop(): void;
}

/** What the settings of a project define. Nothing is opened before a request needs it. */
export interface ProjectDefinition {
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
  #endpoint: OtherEndpoint | null = null;
  #opening: Promise<OtherEndpoint> | null = null;
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
      await endpoint.handle(exchange);
    } finally {
      this.graph.leave();
    }
  }

  /** Drops everything that the next request can build again. */
  rest(): void {
    this.#endpoint = null;
  }

  /** No more requests will come, and subscriptions end. Its owner deals with its graph, which another project may use by now. */
  retire(): void {
    this.#isRetired = true;
    this.#tokens?.stop();
    this.#endpoint?.endConnections();
  }

  /** Concurrent requests share one opening. Never rejects. */
  #openEndpoint(): Promise<OtherEndpoint> {
    this.#opening ??= this.#makeEndpoint().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #makeEndpoint(): Promise<OtherEndpoint> {
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

  #make(rules: TokenRules, authenticate: Authenticate | null): OtherEndpoint {
    const { graph, reference: name } = this;
    const verifier = new TokenVerifier(rules, authenticate === null ? tokenCache : 1);
    return this.#endpointFor({ name, graph, verifier, authenticate, observe: this.#observe, ...timeoutOf(this.definition) });
  }
}

const noRules: TokenRules = { secrets: [] };

const refuse: Authenticate = () => {
  throw new ApiError('PROJECT_UNAVAILABLE', 'The settings or the keys of the project are broken. Try again later.');
};

function timeoutOf(definition: ProjectDefinition | null) {
  return { requestTimeout: definition?.requestTimeout ?? settings.requestTimeout.default };
}

interface OpenedGraph extends ExecutingGraph {
  close(): Promise<void>;
}

/** In milliseconds. */
const pauseAfterFailure = 1000;

export class LazyGraph extends LateGraph {
  readonly #openGraph: () => Promise<OpenedGraph>;
  readonly #onFailure: (error: unknown) => void;
  #graph: OpenedGraph | null = null;
  #opening: Promise<OpenedGraph> | null = null;
  readonly #closing = new Set<Promise<void>>();
  #users = 0;
  #lastUse = 0;
  #failedAt = -Infinity;
  /** Called when it has been closed for good; null while requests may still come. */
  #onRetired: (() => void) | null = null;

  /** `onFailure` is called with the reason why opening failed. */
  constructor(openGraph: () => Promise<OpenedGraph>, onFailure: (error: unknown) => void) {
    super();
    this.#openGraph = openGraph;
    this.#onFailure = onFailure;
  }

  get isOpen(): boolean {
    return this.#graph !== null;
  }

  /** When its last request ended, in milliseconds of `performance.now()`; null if it is closed or a request is in flight. */
  get unusedSince(): number | null {
    return this.#graph === null || this.#users > 0 ? null : this.#lastUse;
  }

  /** Whether it is closed and no request in flight may open it. */
  get isResting(): boolean {
    return this.#graph === null && this.#users === 0;
  }

  /** A request has begun that may use it. */
  enter(): void {
    this.#users += 1;
  }

  /** A request that entered has ended. */
  leave(): void {
    this.#users -= 1;
    this.#lastUse = performance.now();
    this.#endIfRetired();
  }

  protected override whenOpen(deadline: Deadline | null): ExecutingGraph | Promise<ExecutingGraph> {
    return this.#graph ?? untilStopped(this.#open(), deadline, explainStop);
  }

  /** Closes it until the next request, if it has not been used since this time of `performance.now()`. */
  closeUnused(since: number): void {
    if (this.#users === 0 && this.#lastUse <= since) void this.#closeGraph();
  }

  /** No more requests will come: closes it once those in flight have ended, and calls back when it is closed. */
  retire(onRetired: () => void): void {
    this.#onRetired = onRetired;
    this.#endIfRetired();
  }

  /** Closes it now. Resolves when everything that was opened is closed, but does not wait for an opening that has not succeeded yet. */
  async close(): Promise<void> {
    this.#onRetired = ignore;
    void this.#closeGraph();
    await Promise.all(this.#closing);
  }

  /** Concurrent requests share one opening. */
  #open(): Promise<OpenedGraph> {
    if (this.#opening !== null) return this.#opening;
    if (performance.now() < this.#failedAt + pauseAfterFailure) return Promise.reject(unavailable());
    const opening = this.#openGraph().then(
      (graph) => {
        this.#opening = null;
        this.#graph = graph;
        this.#lastUse = performance.now();
        // The requests that waited for it may be gone.
        this.#endIfRetired();
        return graph;
      },
      (error: unknown) => {
        this.#opening = null;
        this.#failedAt = performance.now();
        this.#onFailure(error);
        this.#endIfRetired();
        throw unavailable();
      },
    );
    this.#opening = opening;
    return opening;
  }

  #endIfRetired(): void {
    if (this.#onRetired !== null && this.#users === 0 && this.#opening === null) void this.#closeGraph().then(this.#onRetired);
  }

  #closeGraph(): Promise<void> {
    const graph = this.#graph;
    if (graph === null) return Promise.resolve();
    this.#graph = null;
    const closing = graph
      .close()
      .catch(this.#onFailure)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    return closing;
  }
}

function ignore(): void {}

/** The details are only for the operator. */
function unavailable(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database of the project cannot be used. Try again later.');
}
