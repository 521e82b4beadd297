/** How long the last request took, by stage if the server reports it (`--server-timing`), and the headers of its response. */
import type { Exchange } from './last-exchange.ts';
import { readServerTiming } from './read-times.ts';

export function TimingView({ exchange }: { readonly exchange: Exchange }) {
  const { milliseconds, bytes, status, responseHeaders } = exchange;
  const timing = responseHeaders.find(([name]) => name === 'server-timing')?.[1] ?? '';
  const stages = readServerTiming(timing);
  const longest = Math.max(milliseconds, ...stages.map((stage) => stage.milliseconds));
  return (
    <>
      <p>
        Status {status}, {bytes.toLocaleString('en')} bytes, {milliseconds.toFixed(1)} ms in this browser.
      </p>
      {stages.length > 0 && (
        <table className="cost-table">
          <caption>Stages in the server</caption>
          <tbody>
            {stages.map((stage) => (
              <tr key={stage.name}>
                <th scope="row">{stage.name}</th>
                <td>{stage.milliseconds.toFixed(2)} ms</td>
                <td>
                  <meter aria-label={`Share of ${stage.name}`} min={0} max={longest} value={stage.milliseconds} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <table className="cost-table headers-table">
        <caption>Headers of the response</caption>
        <tbody>
          {responseHeaders.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
