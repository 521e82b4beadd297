/**
 * Reads the conformance vectors (README.md explains the format): every yaml file of this folder, or those whose name contains a text.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Coercion } from './endpoint.ts';

/** What a request must be answered with: exactly one of the first three. */
export interface Expectation {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  readonly invalid?: true;
  /** What the first error has in its `extensions`, beside what else is there. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface QueryStep {
  readonly about: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly role?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly schemas?: readonly string[];
  readonly expect: Expectation;
  readonly match?: 'superset';
  /** The rows that are in the tables afterwards and were not before, and the other way round: `+ author (3,Cy)`, `- author (1,Ada)`, in any order. No others change. */
  readonly changes?: readonly string[];
}

export interface SqlStep {
  readonly sql: string;
}

export interface ConformanceCase {
  /** The file's name: `smoke.yaml`. */
  readonly file: string;
  readonly coercion: Coercion;
  readonly setup: string;
  /** SQL that runs ahead of each request, and leaves the schema as it is: each then starts from the same rows. */
  readonly before?: string;
  readonly steps: readonly (QueryStep | SqlStep)[];
}

/** Reads the cases of a folder in the order of their file names. */
export function readCases(fileFilter = '', folder = import.meta.dirname, coercion: Coercion = 'strict'): ConformanceCase[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file.includes(fileFilter));
  return files.sort().map((file) => ({ ...parse(readFileSync(`${folder}/${file}`, 'utf8')), file, coercion }));
}

/** Reads what pg_graphql answers: the cases for strict coercion, then those for lenient coercion. */
export function readVectors(fileFilter = ''): ConformanceCase[] {
  const lenient = path.join(import.meta.dirname, '../conformance-lenient');
  return [...readCases(fileFilter), ...readCases(fileFilter, lenient, 'lenient')];
}

/** What a server can, as far as cases need it. */
export interface ServerAbilities {
  /** The major version of PostgreSQL. */
  readonly version: number;
  readonly extensions: ReadonlySet<string>;
}

/** What a case needs that a server lacks, so that it cannot run there; null where there is nothing. */
export function findMissing({ setup, steps }: ConformanceCase, { version, extensions }: ServerAbilities): string | null {
  const sql = [setup, ...steps.map((step) => ('sql' in step ? step.sql : ''))].join('\n');
  const created = [...sql.matchAll(/create extension (?:if not exists )?"?([\w-]+)/gi)].map(([, name = '']) => name);
  const extension = created.find((name) => !extensions.has(name));
  if (extension !== undefined) return `the server has no extension ${extension}`;
  const [newer] = version < 15 ? (/security_invoker|nulls not distinct/i.exec(sql) ?? []) : [];
  return newer === undefined ? null : `PostgreSQL has "${newer}" since version 15`;
}
