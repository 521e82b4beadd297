/** A record for names from a database, which may be `constructor` or `__proto__`: it inherits nothing that a lookup could find instead. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}
