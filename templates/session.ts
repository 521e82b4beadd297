/** The session of whoever uses the app: sends the key, and the token of whoever is signed in. */
export const url = process.env.GRAPHQL_URL ?? '';
/** The anonymous key, which may be public. */
const apiKey = process.env.ANON_KEY ?? '';

/** Gets a new token of the user from your sign-in; null if nobody is signed in. */
type GetToken = () => Promise<string | null>;
interface Session {
  readonly token: Promise<string | null>;
  /** In milliseconds. */
  renewAt: number;
}
let getToken: GetToken = async () => null;
let session: Session | null = null;

/** Says where tokens come from. Call it when somebody has signed in or out. */
export function setTokenSource(source: GetToken): void {
  getToken = source;
  session = null;
}

/** The token, which is renewed half a minute before it expires. */
function readToken(): Promise<string | null> {
  if (session === null || Date.now() >= session.renewAt) {
    const begun: Session = { token: getToken(), renewAt: Number.POSITIVE_INFINITY };
    session = begun;
    const noteExpiry = (token: string | null): void => {
      if (token !== null) begun.renewAt = expiryOf(token) - 30_000;
    };
    const forget = (): void => {
      if (session === begun) session = null;
    };
    begun.token.then(noteExpiry).catch(forget);
  }
  return session.token;
}

function expiryOf(token: string): number {
  const [, claims = ''] = token.split('.');
  const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: number };
  return exp === undefined ? Number.POSITIVE_INFINITY : exp * 1000;
}

/** `fetch` with the key and the user's token. If the server refuses the token, gets another one and tries once more. */
export const fetchAsUser: typeof fetch = async (input, init) => {
  const send = async (token: string | null): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('apiKey', apiKey);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const token = await readToken();
  const used = session;
  const response = await send(token);
  if (response.status !== 401 || token === null) return response;
  if (session === used) session = null;
  return send(await readToken());
};
