/** The header Cache-Control as a setting or a trusted document gives it. In: its value; out: an error if it is none. */

/** Throws an `Error` unless a text has the syntax of RFC 9111, section 5.2, so that no other header can be smuggled in. `subject` begins the message. */
export function checkCacheControl(value: string, subject = ''): void {
  if (!/^[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?(, *[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?)*$/u.test(value))
    throw new Error(`${subject}must be directives such as no-store or private, max-age=60`);
}
