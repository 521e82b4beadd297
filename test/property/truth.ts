/** True, false or unknown, as SQL has it, and what they come to together. */
export type Truth = boolean | null;

export function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(null) ? null : true;
}

export function any(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  return truths.includes(null) ? null : false;
}

export function negate(truth: Truth): Truth {
  return truth === null ? null : !truth;
}
