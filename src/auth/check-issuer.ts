/**
 * Checks where the public keys of tokens come from. Each check throws an `Error` whose message continues a sentence that begins with the
 * name of the setting.
 */

/** With a remote URL without TLS, anybody on the network path could decide who may sign tokens. */
export function checkKeysUrl(value: string): void {
  if (/^[a-z]+:\/\//i.test(value) && !isTrustworthy(value)) throw new Error('must begin with https:// if it is a URL');
}

/** A reference, or a URL without a path. */
export function checkSupabaseProject(value: string): void {
  const isUrl = /^https?:\/\/[\w.-]+(:\d+)?\/?$/.test(value) && isTrustworthy(value);
  if (!/^[a-z0-9]{20}$/.test(value) && !isUrl)
    throw new Error('must be a reference of 20 letters and digits, or a URL such as https://abcdefghijklmnopqrst.supabase.co');
}

/** Whether nobody else on the network can answer at the URL. */
function isTrustworthy(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = url !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
}
