/**
 * Compares the data of a response with what a vector expects: to the letter, the order of object keys aside; or, for introspection
 * ("superset"), with members of lists in any order and with further members where they are known.
 */

export interface Difference {
  /** Where: `data.filmCollection.edges[0].node.title`. */
  readonly path: string;
  readonly expected: unknown;
  /** `undefined` where there is nothing. */
  readonly got: unknown;
}

export interface DataComparison {
  readonly differences: readonly Difference[];
  /** Names of members beyond the expected ones that the list of differences allows. */
  readonly additions: readonly string[];
}

/** Compares from the root of the response. `isKnownAddition` is asked for the names of further members; it is given for supersets only. */
export function compareData(expected: unknown, got: unknown, isKnownAddition?: (name: string) => boolean): DataComparison {
  const differences: Difference[] = [];
  const additions: string[] = [];

  function compare(path: string, expectedValue: unknown, gotValue: unknown): void {
    if (Array.isArray(expectedValue) && Array.isArray(gotValue)) {
      if (isKnownAddition === undefined) compareInOrder(path, expectedValue, gotValue);
      else compareMembers(path, expectedValue, gotValue, isKnownAddition);
    } else if (isObject(expectedValue) && isObject(gotValue)) {
      const keys = new Set([...Object.keys(expectedValue), ...Object.keys(gotValue)]);
      for (const key of keys) {
        if (!Object.hasOwn(expectedValue, key) && isKnownAddition?.(key)) additions.push(key);
        else compare(`${path}.${key}`, own(expectedValue, key), own(gotValue, key));
      }
    } else if (!(expectedValue === gotValue)) {
      // `===` holds 0 and -0 equal, as PostgreSQL does.
      differences.push({ path, expected: expectedValue, got: gotValue });
    }
  }

  function compareInOrder(path: string, expectedList: readonly unknown[], gotList: readonly unknown[]): void {
    const length = Math.max(expectedList.length, gotList.length);
    for (let index = 0; index < length; index++) compare(`${path}[${index}]`, expectedList[index], gotList[index]);
  }

  function compareMembers(path: string, expectedList: unknown[], gotList: unknown[], isKnown: (name: string) => boolean): void {
    const named = expectedList.every((member) => nameOf(member) !== undefined) && gotList.every((member) => nameOf(member) !== undefined);
    if (!named) {
      const scalars = [...expectedList, ...gotList].every((member) => typeof member === 'string');
      return scalars ? compareInOrder(path, expectedList.toSorted(), gotList.toSorted()) : compareInOrder(path, expectedList, gotList);
    }
    for (const [name, expectedMembers] of Map.groupBy(expectedList, nameOf)) {
      compareNamesakes(
        `${path}[${name}]`,
        expectedMembers,
        gotList.filter((member) => nameOf(member) === name),
      );
    }
    const expectedNames = new Set(expectedList.map(nameOf));
    for (const member of gotList) {
      const name = String(nameOf(member));
      if (expectedNames.has(name)) continue;
      if (isKnown(name)) additions.push(name);
      else differences.push({ path: `${path}[${name}]`, expected: undefined, got: member });
    }
  }

  /** pg_graphql may list one name twice, which GraphQL forbids: one member then has to equal one of them. */
  function compareNamesakes(path: string, expectedMembers: unknown[], gotMembers: unknown[]): void {
    const [got] = gotMembers;
    const fits = expectedMembers.find((member) => compareData(member, got, isKnownAddition).differences.length === 0);
    compare(path, fits ?? expectedMembers.at(-1), got);
    for (const further of gotMembers.slice(1)) differences.push({ path, expected: undefined, got: further });
  }

  compare('data', expected, got);
  return { differences, additions };
}

function nameOf(member: unknown): string | undefined {
  return isObject(member) && typeof member.name === 'string' ? member.name : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
