/** What PostgreSQL can hold as a text: no NUL, and no half of a surrogate pair, which would silently become U+FFFD on its way. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
