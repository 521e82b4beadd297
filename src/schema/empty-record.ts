/** A record for names out of a database, among which may be `constructor` and `__proto__`: it inherits nothing that it could find instead. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}
