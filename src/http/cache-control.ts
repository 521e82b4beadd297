/** Checks a Cache-Control header from a setting or a trusted document. In: its value; out: an error if it is invalid. */

/**
 * Throws an `Error` unless the value has the syntax of RFC 9111, section 5.2, which prevents the injection of other headers. `subject`
 * begins the message.
 */
export function checkCacheControl(value: string, subject = ''): void {
  if (!/^[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?(, *[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?)*$/u.test(value))
    throw new Error(`${subject}must be directives such as no-store or private, max-age=60`);
}
