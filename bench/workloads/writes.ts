/** Writes of one row, which return it. */
import { scatter, valuesOf, type Workload } from './workload.ts';

const insert: Workload = {
  name: 'insert',
  title: 'insert one row, return it',
  role: 'authenticated',
  variables: (index) => ({
    listener: scatter(index, 11, 1, 10_000),
    album: scatter(index, 12, 1, 50_000),
    stars: scatter(index, 13, 1, 5),
    message: `What I think of number ${index}`,
  }),
  before: 'truncate review',
  changing: ['id', 'createdAt'],
  rowgraph: `mutation Insert($listener: Int!, $album: Int!, $stars: Int!, $message: String!) {
    insertIntoReviewCollection(objects: [{ listenerId: $listener, albumId: $album, stars: $stars, message: $message }]) {
      records { id listenerId albumId stars message createdAt }
    }
  }`,
  postgraphile: `mutation Insert($listener: Int!, $album: Int!, $stars: Int!, $message: String!) {
    createReview(input: { review: { listenerId: $listener, albumId: $album, stars: $stars, message: $message } }) {
      review { id: rowId listenerId albumId stars message createdAt }
    }
  }`,
  statement: {
    text: `insert into review (listener_id, album_id, stars, message) values ($1::int, $2::int, $3::smallint, $4)
      returning '{"data":{"insertIntoReviewCollection":{"records":[{"id":"' || id || '","listenerId":' || listener_id || ',"albumId":' || album_id
        || ',"stars":' || stars || ',"message":' || to_json(message) || ',"createdAt":' || to_json(created_at) || '}]}}}'`,
    values: valuesOf('listener', 'album', 'stars', 'message'),
  },
};

const update: Workload = {
  name: 'update',
  title: 'update one row by primary key, return it',
  role: 'authenticated',
  variables: (index) => ({ id: 1 + index * 150, visits: scatter(index, 15, 0, 5_000), motto: `Motto number ${index}` }),
  before: 'vacuum listener_profile',
  rowgraph: `mutation Update($id: Int!, $visits: Int!, $motto: String!) {
    updateListenerProfileCollection(set: { visits: $visits, motto: $motto }, filter: { listenerId: { eq: $id } }, atMost: 1) {
      records { listenerId motto visits updatedAt }
    }
  }`,
  postgraphile: `mutation Update($id: Int!, $visits: Int!, $motto: String!) {
    updateListenerProfile(input: { listenerId: $id, patch: { visits: $visits, motto: $motto } }) {
      listenerProfile { listenerId motto visits updatedAt }
    }
  }`,
  statement: {
    text: `update listener_profile set visits = $2::int, motto = $3 where listener_id = $1::int
      returning '{"data":{"updateListenerProfileCollection":{"records":[{"listenerId":' || listener_id || ',"motto":' || to_json(motto)
        || ',"visits":' || visits || ',"updatedAt":' || to_json(updated_at) || '}]}}}'`,
    values: valuesOf('id', 'visits', 'motto'),
  },
};

export const writes: readonly Workload[] = [insert, update];
