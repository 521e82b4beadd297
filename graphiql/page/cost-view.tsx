/** What the last operation counts against each limit, and what each limit is. */
import { limitTable } from '../../src/budget/limits.ts';
import type { ExplanationViewProps } from './result-tabs.tsx';

export function CostView({ state: { explanation } }: ExplanationViewProps) {
  const { counts, limits } = explanation.cost;
  const rows = (Object.entries(counts) as [keyof typeof counts, number | null][]).filter(([, count]) => count !== null);
  return (
    <table className="cost-table">
      <caption>
        What the operation counts, and the limits (
        <a href="https://github.com/rowgraph/rowgraph/blob/main/docs/limits.md" target="_blank" rel="noreferrer">
          how they count
        </a>
        )
      </caption>
      <thead>
        <tr>
          <th scope="col">Limit</th>
          <th scope="col">Counts</th>
          <th scope="col">At most</th>
          <th scope="col">Used</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, count]) => (
          <tr key={name}>
            <th scope="row">
              {name}
              <small>{limitTable[name].description}</small>
            </th>
            <td>{count?.toLocaleString('en')}</td>
            <td>{limits[name]?.toLocaleString('en') ?? 'no limit'}</td>
            <td>
              {limits[name] === null ? '' : <meter aria-label={`Share of ${name}`} min={0} max={1} value={(count ?? 0) / limits[name]} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
