/** The version of Node that rowgraph needs. Written so that much older versions can parse it. */

const [neededMajor, neededMinor] = [22, 18];

/** The error message if a version of Node is too old; null otherwise. */
export function refuseNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return `rowgraph needs Node ${neededMajor}.${neededMinor} or newer; this is ${version}`;
}
