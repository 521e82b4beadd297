/** The backend that `rowgraph dev` provides for its page. */

import type { AccessReport } from '../../src/access/access.ts';
import type { DoctorReport } from '../../src/doctor/finding-codes.ts';
import type { Explanation } from '../../src/explain/explanation.ts';
import type { CallerChoices, KeptOperation, OperationChange, SavedOperation, SignedToken } from '../../src/http/routes/graphiql-page.ts';
import type { Claims } from './decode-token.ts';
import { reachServer, readJson } from './reach-server.ts';

/** A request and its caller, as `explain` takes them. */
export interface RequestToExplain {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | undefined;
  readonly role: string;
  readonly claims: Claims;
  readonly mode: 'plan' | 'analyze';
}

export class PageBackend {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  listCallers(): Promise<CallerChoices> {
    return this.#ask('callers', {});
  }

  sign(role: string, claims: Claims): Promise<SignedToken> {
    return this.#ask('sign', { role, claims });
  }

  explain(request: RequestToExplain): Promise<Explanation> {
    return this.#ask('explain', request);
  }

  examine(role: string): Promise<DoctorReport> {
    return this.#ask('doctor', { role });
  }

  /** Who may do what with which rows. */
  readAccess(): Promise<AccessReport> {
    return this.#ask('access', {});
  }

  /** Differs after each change of the schema. */
  async readSchemaVersion(): Promise<string> {
    return (await this.#ask<{ readonly version: string }>('schema', {})).version;
  }

  async listOperations(): Promise<readonly SavedOperation[]> {
    return (await this.#ask<{ readonly operations: readonly SavedOperation[] }>('operations/list', {})).operations;
  }

  saveOperation(name: string, change: OperationChange, version: string | null): Promise<KeptOperation> {
    return this.#ask('operations/save', { name, ...change, version });
  }

  moveOperation(name: string, to: string, version: string): Promise<KeptOperation> {
    return this.#ask('operations/move', { name, to, version });
  }

  removeOperation(name: string, version: string): Promise<KeptOperation> {
    return this.#ask('operations/remove', { name, version });
  }

  /** Rejects with an `Error` that has the server's message, or says why there is no answer. */
  async #ask<Answer>(name: string, body: unknown): Promise<Answer> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const { value } = await readJson(await reachServer(`${this.#path}/${name}`, init));
    const answer = value as Answer & { readonly errors?: readonly { readonly message: string }[] };
    if (answer.errors !== undefined) throw new Error(answer.errors.map(({ message }) => message).join('\n'));
    return answer;
  }
}
