/** Whether PostgreSQL can store the text: it must not contain NUL, or half of a surrogate pair, which would silently become U+FFFD. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
