import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission, refusals } from './admission.ts';

test('clients with nothing in flight are forgotten when there are many; others are not', () => {
  const admission = new Admission({ requests: 10, clientRequests: 1, bytes: 1 });
  const busy = admission.refer('busy');
  admission.enter(busy);
  const idle = admission.refer('idle');
  admission.forget(idle);
  assert.equal(admission.refer('idle'), idle, 'it is remembered for a while');
  admission.forget(idle);
  for (let number = 0; number < 3000; number++) admission.forget(admission.refer(`client ${number}`));
  assert.notEqual(admission.refer('idle'), idle);
  assert.equal(admission.refer('busy'), busy);
  assert.notEqual(admission.refuse(busy), null, 'what it has in hand still counts');
});

test('further operations of a request are refused as a whole if the server, the client or the user has no room for them', () => {
  const admission = new Admission({ requests: 10, clientRequests: 6, bytes: 1 });
  const [address, other, user] = [admission.refer('address'), admission.refer('other'), admission.refer('user')];
  admission.count(address, user, 4);
  assert.equal(admission.refuseMore(address, user, 2), null);
  assert.equal(admission.refuseMore(address, user, 3), refusals.clientRequests);
  assert.equal(admission.refuseMore(other, user, 3), refusals.clientRequests);
  assert.equal(admission.refuseMore(other, null, 6), null);
  assert.equal(admission.refuseMore(other, null, 7), refusals.requests);
  admission.count(address, user, -4);
  assert.equal(admission.refuseMore(other, user, 6), null);
});

test('connections that do not read their responses are looked for when there is no room, for requests or for bytes', () => {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 10 });
  const share = admission.refer('client');
  const looks: unknown[] = [];
  admission.onPressure = (whose) => looks.push(whose);
  assert.equal(admission.refuse(share), null);
  admission.enter(share);
  assert.equal(admission.refuse(share), refusals.requests);
  admission.leave(share);
  admission.hold(share, 11);
  assert.equal(admission.refuse(share), refusals.bytes);
  admission.hold(share, -5);
  assert.equal(admission.refuse(share), refusals.clientBytes);
  assert.deepEqual(looks, [null, null, share]);
});

test('requests that wait behind others of their connection leave half of the room for bytes', () => {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 1_000_000 });
  const shares = Array.from({ length: 20 }, (_, index) => admission.refer(`client ${index}`));
  for (const share of shares) if (admission.hasRoomToWait(share)) admission.hold(share, 60_000);
  assert.equal(admission.occupancy.bytes, 540_000);
  assert.equal(admission.refuse(shares.at(-1)!), null);
});
