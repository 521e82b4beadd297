/**
 * The settings that tell SQL about a request besides `request.jwt.claims`: those of PostgREST (`request.headers`, `request.method`,
 * `request.path`; until version 9 `request.jwt.claim.sub` and `request.header.origin`) and of PostGraphile (`jwt.claims.user_id`).
 */

export type RequestSettingSource =
  | { readonly kind: 'claim' | 'header'; readonly key: string }
  | { readonly kind: 'headers' | 'method' | 'path' };

/** What every such name begins with, or is. */
export const requestSettingPrefixes = ['request.jwt.claim.', 'jwt.claims.', 'request.header', 'request.method', 'request.path'] as const;

/** In a list of settings: those that the definitions of the database read. */
export const automatic = 'auto';

/** PostgreSQL's rule for the names of settings that it does not know (`valid_custom_variable_name`). */
const settingName = /^[a-z_][\w$]*(\.[a-z_][\w$]*)+$/i;

/** What a setting tells of a request; null if it is not one of those above. Names are not case-sensitive. */
export function requestSettingSource(name: string): RequestSettingSource | null {
  if (!settingName.test(name)) return null;
  const [, , claim] = /^(request\.jwt\.claim|jwt\.claims)\.(.+)$/i.exec(name) ?? [];
  if (claim !== undefined) return { kind: 'claim', key: claim };
  const [, header] = /^request\.header\.(.+)$/i.exec(name) ?? [];
  if (header !== undefined) return { kind: 'header', key: header.toLowerCase() };
  const [, whole] = /^request\.(headers|method|path)$/i.exec(name) ?? [];
  return whole === undefined ? null : { kind: whole.toLowerCase() as 'headers' | 'method' | 'path' };
}

/** Throws an `Error` that says what was expected, unless the text may stand in a list of settings. */
export function checkRequestSetting(name: string): void {
  if (name !== automatic && requestSettingSource(name) === null)
    throw new Error(
      'must be auto, request.headers, request.method, request.path, or such as request.jwt.claim.sub, jwt.claims.sub or request.header.origin',
    );
}

/** Throws an `Error` unless the text is the name of a header (RFC 9110, section 5.1). */
export function checkHeaderName(name: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error('must be the name of a header, such as x-tenant');
}

/**
 * The headers in `request.headers` unless others are listed. None of them is a credential; what a policy compares with another must be
 * listed.
 */
export const defaultRequestHeaders = ['accept-language', 'origin', 'referer', 'user-agent', 'x-client-info', 'x-forwarded-for'] as const;
