/** The measurements of a workload: figures by name, in the order in which they came. */
import { median } from '../measure/summarize-slices.ts';
import { describeRows, figure } from '../report/describe-table.ts';

interface Series {
  readonly digits: number;
  readonly figures: number[];
}

export class Figures {
  readonly #series = new Map<string, Series>();

  /** Adds the figure of a round. */
  add(name: string, figure: number, digits = 0): void {
    const series = this.#series.get(name) ?? { digits, figures: [] };
    series.figures.push(figure);
    this.#series.set(name, series);
  }

  /** A table with a row for each name: the median, minimum and maximum over several rounds. */
  describe(): string {
    const series = [...this.#series];
    if (series.every(([, { figures }]) => figures.length === 1)) {
      const rows = series.map(([name, { digits, figures }]) => [name, figure(figures[0]!, digits)]);
      return describeRows(['what', 'measured'], rows, 1);
    }
    const rows = series.map(([name, { digits, figures }]) => [
      name,
      ...[median(figures), Math.min(...figures), Math.max(...figures)].map((each) => figure(each, digits)),
    ]);
    return describeRows(['what', 'median', 'least', 'most'], rows, 1);
  }
}
