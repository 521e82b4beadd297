/**
 * How clients hand on where the log of the database was after their writes (docs/replicas.md): in a header, or in a cookie, by which
 * browsers do so without knowing. The cookie is no credential, and says nothing of the user.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { latestOf, parsePosition, positionHeader, type ResponsePosition, writePosition } from '../../replicas/position.ts';

const cookieName = 'rowgraph_position';
const cookiePattern = new RegExp(`(?:^|;\\s*)${cookieName}=([^;]*)`);

/** What a request says that its response must show; undefined if it says nothing. Cookies that are no position are left over from something. */
export function positionIn({ [positionHeader]: header, cookie = '' }: IncomingHttpHeaders): string | undefined {
  const [, text] = cookiePattern.exec(cookie) ?? [];
  const kept = text === undefined ? null : parsePosition(text);
  if (header === undefined) return kept === null ? undefined : writePosition(kept);
  const sent = parsePosition(String(header));
  return sent === null ? String(header) : writePosition(latestOf(sent, kept)!);
}

/** The headers of a response, as alternating names and values. Browsers keep no cookies of other origins than the page's. */
export function headersOfPosition({ text, lifetime }: ResponsePosition, isForeign: boolean): readonly string[] {
  if (isForeign) return [positionHeader, text, 'access-control-expose-headers', positionHeader];
  const seconds = Math.ceil(lifetime / 1000);
  return [positionHeader, text, 'set-cookie', `${cookieName}=${text}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`];
}
