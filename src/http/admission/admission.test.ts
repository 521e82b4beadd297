import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission, type AdmittedRequest, refusals } from './admission.ts';

function admit(admission: Admission, client: string): AdmittedRequest {
  const admitted = admission.admit(admission.refer(client), null);
  assert.ok(typeof admitted !== 'string', String(admitted));
  return admitted;
}

test('clients with nothing in flight are forgotten when there are many; others are not', () => {
  const admission = new Admission({ requests: 10, clientRequests: 1, bytes: 1 });
  const { client: busy } = admit(admission, 'busy');
  const idle = admission.refer('idle');
  admission.forget(idle);
  assert.equal(admission.refer('idle'), idle, 'it is remembered for a while');
  admission.forget(idle);
  for (let number = 0; number < 3000; number++) admission.forget(admission.refer(`client ${number}`));
  assert.notEqual(admission.refer('idle'), idle);
  assert.equal(admission.refer('busy'), busy);
  assert.equal(admission.admit(busy, null), refusals.clientRequests, 'what it has in flight still counts');
});

test('further operations of a request are refused as a whole if the server, the client or the user has no room for them', () => {
  const admission = new Admission({ requests: 10, clientRequests: 6, bytes: 1 });
  const first = admit(admission, 'address');
  assert.equal(first.admitUser('user'), null);
  assert.equal(first.admitMore(3), null);
  assert.equal(first.admitMore(3), refusals.clientRequests);
  const other = admit(admission, 'other');
  assert.equal(other.admitMore(6), refusals.requests);
  assert.equal(other.admitMore(5), null);
  other.leaveMore(5);
  assert.equal(other.admitUser('user'), null);
  assert.equal(other.admitMore(2), refusals.clientRequests);
  first.release();
  assert.equal(other.admitMore(5), null);
});

test('connections that do not read their responses are looked for when there is no room, for requests or for bytes', () => {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 10 });
  const looks: unknown[] = [];
  admission.onPressure = (whose) => looks.push(whose);
  const admitted = admit(admission, 'client');
  const { client } = admitted;
  assert.equal(admission.admit(admission.referAgain(client), null), refusals.requests);
  admitted.hold(11);
  assert.equal(admitted.refuseBytes(), refusals.bytes);
  admitted.hold(-5);
  assert.equal(admitted.refuseBytes(), refusals.clientBytes);
  assert.deepEqual(looks, [null, null, client]);
});
