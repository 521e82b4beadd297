/** The claims of a pasted token, and whether it has expired. Only the server can verify its signature. */
import { decodeToken, expiryOf } from './decode-token.ts';

export function TokenSummary({ token }: { readonly token: string }) {
  if (token.trim() === '') return null;
  const claims = decodeToken(token);
  if (claims === null) return <p className="token-summary">This is not a JSON Web Token. It may be an opaque key.</p>;
  return (
    <div className="token-summary">
      <p>
        {typeof claims.role === 'string' && (
          <>
            Its role is <strong>{claims.role}</strong>.{' '}
          </>
        )}
        {describeExpiry(expiryOf(claims))}
      </p>
      <details>
        <summary>Claims</summary>
        <pre tabIndex={0}>{JSON.stringify(claims, null, 2)}</pre>
      </details>
    </div>
  );
}

function describeExpiry(expiry: number | null): string {
  if (expiry === null) return 'It does not expire.';
  const time = new Date(expiry).toLocaleString();
  return expiry < Date.now() ? `It has expired: ${time}.` : `It expires at ${time}.`;
}
