/** All projects of a server. A project that is changed or removed finishes the requests it has, and then closes what it opened. */

import { TokenVerifier } from '../auth/verify-token.ts';
import { ApiError, quote } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { Endpoint } from '../http/endpoint/create-endpoint.ts';
import type { GraphqlEndpoint } from '../http/endpoint/graphql-endpoint.ts';
import type { DivideEndpoint } from '../http/transport/mount-endpoint.ts';
import { settings } from '../settings/settings.ts';
import { LazyGraph, Project, type ProjectDefinition } from './project.ts';
import { type ProjectEntries, type ProjectEntry, readReference } from './project-files.ts';

interface ProjectsOptions {
  /** The definition for an entry. Throws an `Error` that says what is wrong with it. */
  readonly define: (reference: string, entry: ProjectEntry) => ProjectDefinition;
  /** The domain whose subdomains are references; null for any domain. */
  readonly domain: string | null;
  /** How many projects may be open before unused ones are closed early. */
  readonly mostOpen: number;
  /** How long an unused project keeps its connections and caches. */
  readonly idleMilliseconds: number;
  readonly observe: Observer;
}

/** A project, and the entry that was last read for it. */
interface LoadedProject {
  readonly project: Project;
  readonly entry: ProjectEntry;
}

export class Projects {
  readonly #options: ProjectsOptions;
  readonly #projects = new Map<string, LoadedProject>();
  readonly #graphs = new Set<LazyGraph>();
  readonly #timer: NodeJS.Timeout;
  #whole: Pick<Endpoint, 'endpoint' | 'endpointFor'> | null = null;

  constructor(options: ProjectsOptions) {
    this.#options = options;
    const { idleMilliseconds } = options;
    this.#timer = setInterval(() => this.closeUnused(performance.now() - idleMilliseconds), Math.max(10, idleMilliseconds / 4));
    this.#timer.unref();
  }

  /** How many projects there are, and how many of them have connections and caches. */
  get counts(): { readonly known: number; readonly open: number } {
    let open = 0;
    for (const { project } of this.#projects.values()) if (project.graph.isOpen) open += 1;
    return { known: this.#projects.size, open };
  }

  /** The endpoint of a server with projects: requests whose host has no reference go to the original endpoint. */
  readonly divide: DivideEndpoint = (whole) => {
    this.#whole = whole;
    const unknown = this.#createRefusal(whole.endpointFor);
    return (exchange) => {
      let reference: string | null;
      try {
        reference = readReference(exchange, this.#options.domain);
      } catch {
        return unknown(exchange);
      }
      if (reference === null) return whole.endpoint(exchange);
      const existing = this.#projects.get(reference);
      return existing === undefined ? unknown(exchange) : existing.project.handle(exchange);
    };
  };

  /** Adds, changes and removes projects to match the files. An invalid entry leaves its project unchanged. */
  update({ byReference }: ProjectEntries): void {
    for (const [reference, entry] of byReference) {
      const existing = this.#projects.get(reference);
      if (existing?.entry.text === entry.text && existing.entry.file === entry.file) continue;
      const definition = this.#define(reference, entry);
      if (definition === null && existing !== undefined) this.#projects.set(reference, { ...existing, entry });
      else this.#put(reference, entry, definition, existing);
    }
    for (const [reference, { project }] of this.#projects) {
      if (byReference.has(reference)) continue;
      this.#projects.delete(reference);
      project.retire();
      this.#retireGraph(project.graph);
    }
  }

  /** Closes what projects have opened but not used since this time of `performance.now()`. */
  closeUnused(since: number): void {
    for (const { project } of this.#projects.values()) {
      project.graph.closeUnused(since);
      // Some have an endpoint although no request got as far as their graph.
      if (project.graph.isResting) project.rest();
    }
  }

  /** Closes everything. Requests should have ended before. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const { project } of this.#projects.values()) project.retire();
    this.#projects.clear();
    await Promise.all([...this.#graphs].map((graph) => graph.close()));
  }

  #define(reference: string, entry: ProjectEntry): ProjectDefinition | null {
    try {
      return this.#options.define(reference, entry);
    } catch (error) {
      this.#options.observe({ kind: 'project-failed', project: reference, error });
      return null;
    }
  }

  #put(reference: string, entry: ProjectEntry, definition: ProjectDefinition | null, existing: LoadedProject | undefined): void {
    const previous = existing?.project;
    const observe: Observer = (event) => this.#options.observe({ ...event, project: reference });
    const keepsGraph = previous !== undefined && previous.definition?.graphIdentity === definition?.graphIdentity;
    const graph = keepsGraph ? previous.graph : this.#createGraph(definition, observe);
    const endpointFor: Endpoint['endpointFor'] = (own) => this.#whole!.endpointFor(own);
    this.#projects.set(reference, { project: new Project(reference, definition, graph, endpointFor, observe), entry });
    previous?.retire();
    if (previous !== undefined && !keepsGraph) this.#retireGraph(previous.graph);
  }

  #createGraph(definition: ProjectDefinition | null, observe: Observer): LazyGraph {
    const open = async () => {
      if (definition === null) throw new Error('the project has no settings');
      this.#makeRoom();
      return definition.openGraph(observe);
    };
    const graph = new LazyGraph(open, (error) => observe({ kind: 'project-failed', error }));
    this.#graphs.add(graph);
    return graph;
  }

  /** Each open project watches its schema, which needs a connection from time to time, so the least recently used ones are closed. */
  #makeRoom(): void {
    let surplus = this.counts.open + 1 - this.#options.mostOpen;
    if (surplus <= 0) return;
    const unused = [...this.#projects.values()].flatMap(({ project }) => {
      const since = project.graph.unusedSince;
      return since === null ? [] : [{ project, since }];
    });
    unused.sort((one, other) => one.since - other.since);
    for (const { project, since } of unused) {
      if (surplus <= 0) return;
      surplus -= 1;
      project.graph.closeUnused(since);
      project.rest();
    }
  }

  #retireGraph(graph: LazyGraph): void {
    graph.retire(() => this.#graphs.delete(graph));
  }

  /** Rejects every request, but counts it like any other. */
  #createRefusal(endpointFor: Endpoint['endpointFor']): GraphqlEndpoint {
    const { observe, domain } = this.#options;
    const { handle } = endpointFor({
      name: 'unknown project',
      graph: { executeRaw: () => Promise.reject(new Error('a request of an unknown project was executed')) },
      verifier: new TokenVerifier({ secrets: [] }, 1),
      authenticate: ({ url, headers }) => {
        const reference = readReference({ url, headers }, domain);
        throw new ApiError('PROJECT_NOT_FOUND', `There is no project ${quote(reference ?? '')}. Check the host of the URL.`);
      },
      requestTimeout: settings.requestTimeout.default,
      observe,
    });
    return handle;
  }
}
