/** Aggregates over many rows beyond the everyday counts and sums: distinct values, deviations, percentiles, and groups. */
import { scatter, type Variables, valuesOf, type Workload } from './workload.ts';

/** The albums whose 200 tracks are read. */
function fortyAlbums(index: number): Variables {
  const low = scatter(index, 50, 1, 49_000);
  return { low, high: low + 40 };
}

const spread: Workload = {
  name: 'spread',
  title: 'distinct count, deviation and variance over 200 rows',
  role: 'anon',
  variables: fortyAlbums,
  rowgraph: `query Spread($low: Int!, $high: Int!) {
    trackCollection(filter: { albumId: { gte: $low, lt: $high } }) {
      aggregate { countDistinct { seconds } stddev { plays } variance { loudness } }
    }
  }`,
  postgraphile: `query Spread($low: Int!, $high: Int!) {
    tracks(filter: { albumId: { greaterThanOrEqualTo: $low, lessThan: $high } }) {
      aggregates { distinctCount { seconds } stddevSample { plays } varianceSample { loudness } }
    }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"aggregate":{"countDistinct":{"seconds":' || count(distinct seconds)
        || '},"stddev":{"plays":"' || stddev(plays) || '"},"variance":{"loudness":"' || variance(loudness) || '"}}}}}'
      from track where album_id >= $1::int and album_id < $2::int`,
    values: valuesOf('low', 'high'),
  },
};

// PostGraphile's plugin has no percentiles.
const percentiles: Workload = {
  name: 'percentiles',
  title: 'median and 90th percentile over 200 rows',
  role: 'anon',
  variables: fortyAlbums,
  rowgraph: `query Percentiles($low: Int!, $high: Int!) {
    trackCollection(filter: { albumId: { gte: $low, lt: $high } }) {
      aggregate { median: percentile(fraction: 0.5) { seconds } high: percentile(fraction: 0.9) { plays } }
    }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"aggregate":{"median":{"seconds":"' || percentile_cont(0.5) within group (order by seconds)
        || '"},"high":{"plays":"' || percentile_cont(0.9) within group (order by plays) || '"}}}}}'
      from track where album_id >= $1::int and album_id < $2::int`,
    values: valuesOf('low', 'high'),
  },
};

// PostGraphile's plugin can group only by indexed columns of the rows themselves, in no particular order, so there is nothing to compare.
const groups: Workload = {
  name: 'groups',
  title: '200 tracks in groups by a column of their album: count, sum and max of each',
  role: 'anon',
  variables: fortyAlbums,
  rowgraph: `query Groups($low: Int!, $high: Int!) {
    trackCollection(filter: { albumId: { gte: $low, lt: $high } }) {
      groups(by: [{ album: { kind: VALUE } }], having: { count: { gt: 5 } }, orderBy: [{ sum: { plays: DescNullsLast } }]) {
        key { album { kind } }
        count
        sum { plays }
        max { seconds }
      }
    }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"groups":[' || coalesce(string_agg('{"key":{"album":{"kind":"' || kind || '"}},"count":' || tracks
        || ',"sum":{"plays":"' || plays || '"},"max":{"seconds":' || seconds || '}}', ',' order by plays desc nulls last, kind), '') || ']}}}'
      from (
        select album.kind, count(*) as tracks, sum(track.plays) as plays, max(track.seconds) as seconds
        from track left join album on album.id = track.album_id
        where track.album_id >= $1::int and track.album_id < $2::int
        group by album.kind having count(*) > 5 order by 3 desc nulls last, 1 limit 100
      ) tracks`,
    values: valuesOf('low', 'high'),
  },
};

export const aggregates: readonly Workload[] = [spread, percentiles, groups];
