/** Attributes in the JSON form of OTLP. In: names and values; out: the list, without those that are null. */

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

/** The JSON form of OTLP has whole numbers as strings, because they may have 64 bits. */
export function attributesOf(values: Readonly<Record<string, string | number | null | undefined>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
