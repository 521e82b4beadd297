/** A record without a prototype, because its keys come from the database and may be `constructor` or `__proto__`. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}
