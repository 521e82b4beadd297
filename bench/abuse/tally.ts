/** Counts the outcomes of an attacker's requests. */

export class Tally {
  sent = 0;
  readonly #outcomes = new Map<string, number>();
  /** Further remarks of an attack. */
  readonly notes: string[] = [];

  count(outcome: string, times = 1): void {
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + times);
  }

  outcome(name: string): number {
    return this.#outcomes.get(name) ?? 0;
  }

  /** One line, the most frequent outcomes first. */
  describe(): string {
    const outcomes = [...this.#outcomes].sort(([, one], [, other]) => other - one).map(([name, count]) => `${count} ${name}`);
    return [`${this.sent} sent`, ...outcomes.slice(0, 6), ...this.notes].join(', ');
  }
}
