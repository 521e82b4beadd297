import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission } from './admission.ts';

test('clients with nothing in hand are forgotten when there are many, and those with something are not', () => {
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
