/**
 * Metrics of the projects of a server. In: finished requests with their project, and the numbers of projects and connections; out: a
 * bounded number of metrics, however many projects there are.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestFinished } from '../events.ts';

/** How many projects have a label of their own: the first ones that received requests. */
const mostLabels = 200;
/** The label of all other projects. */
const otherProjects = 'other';

/** How many projects there are, how many are open, and how many connections those have. */
export type ReadProjects = () => { readonly known: number; readonly open: number; readonly connections: number };

interface Finished {
  seconds: number;
  readonly byCode: Map<string, number>;
}

export class ProjectMetrics {
  readonly #registry: Registry;
  readonly #finished = new Map<string, Finished>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Adds the metrics of projects to the registry. */
  watch(read: ReadProjects): void {
    const registers = [this.#registry];
    const finished = this.#finished;
    new Counter({
      name: 'rowgraph_project_requests_total',
      help: 'Requests, by project and by the code of their first error (OK if there is none).',
      labelNames: ['project', 'code'] as const,
      registers,
      collect() {
        this.reset();
        for (const [project, { byCode }] of finished) for (const [code, count] of byCode) this.inc({ project, code }, count);
      },
    });
    new Counter({
      name: 'rowgraph_project_request_seconds_total',
      help: 'Total duration of requests, by project.',
      labelNames: ['project'] as const,
      registers,
      collect() {
        this.reset();
        for (const [project, { seconds }] of finished) this.inc({ project }, seconds);
      },
    });
    new Gauge({
      name: 'rowgraph_projects',
      help: 'Projects, and those of them that have connections and caches.',
      labelNames: ['state'] as const,
      registers,
      collect() {
        const { known, open } = read();
        this.set({ state: 'known' }, known);
        this.set({ state: 'open' }, open);
      },
    });
    new Gauge({
      name: 'rowgraph_project_connections',
      help: 'Database connections of all projects together.',
      registers,
      collect() {
        this.set(read().connections);
      },
    });
  }

  /** Counts a request to a project. */
  finish(project: string, { code, seconds }: RequestFinished): void {
    const label = this.#finished.has(project) || this.#finished.size < mostLabels ? project : otherProjects;
    const finished = this.#finished.get(label) ?? { seconds: 0, byCode: new Map() };
    this.#finished.set(label, finished);
    finished.seconds += seconds;
    finished.byCode.set(code ?? 'OK', (finished.byCode.get(code ?? 'OK') ?? 0) + 1);
  }
}
