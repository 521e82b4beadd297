/** Pages under row level security: a policy that reads the claims once, and one that calls a function for each row. */
import { listenerAt } from './subject-of.ts';
import { valuesOf, type Workload } from './workload.ts';

const ownRows: Workload = {
  name: 'own-rows',
  title: 'own rows under row level security, page of 20',
  role: 'authenticated',
  variables: () => ({}),
  rowgraph: `query OwnRows {
    diaryEntryCollection(first: 20, orderBy: [{ id: AscNullsLast }]) { edges { node { id title body isDone writtenAt } } }
  }`,
  postgraphile: `query OwnRows {
    diaryEntries(first: 20, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId title body isDone writtenAt } } }
  }`,
  statement: {
    text: `select '{"data":{"diaryEntryCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":"' || id || '","title":' || to_json(title)
      || ',"body":' || to_json(body) || ',"isDone":' || is_done || ',"writtenAt":' || to_json(written_at) || '}}', ',' order by id), '') || ']}}}'
      from (select * from diary_entry order by id limit 20) diary_entry`,
    values: () => [],
  },
};

const policyFunction: Workload = {
  name: 'policy-function',
  title: 'page of 20 rows under a policy that calls a function for each row',
  role: 'authenticated',
  variables: (index) => ({ channel: 1 + ((listenerAt(index) + (index % 8)) % 1000) }),
  rowgraph: `query PolicyFunction($channel: Int!) {
    messageCollection(first: 20, filter: { channelId: { eq: $channel } }, orderBy: [{ id: AscNullsLast }]) { edges { node { id body sentAt } } }
  }`,
  postgraphile: `query PolicyFunction($channel: Int!) {
    messages(first: 20, filter: { channelId: { equalTo: $channel } }, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId body sentAt } } }
  }`,
  statement: {
    text: `select '{"data":{"messageCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":"' || id || '","body":' || to_json(body)
      || ',"sentAt":' || to_json(sent_at) || '}}', ',' order by id), '') || ']}}}'
      from (select * from message where channel_id = $1::int order by id limit 20) message`,
    values: valuesOf('channel'),
  },
};

export const rowSecurity: readonly Workload[] = [ownRows, policyFunction];
