import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assembleResponse, type ResponseMember } from './response.ts';

const textOf = (roots: readonly ResponseMember[]) => Buffer.concat(assembleResponse(roots).chunks).toString();

describe('assembleResponse', () => {
  it('has the members under their keys, in the order of the request', () => {
    const roots = [
      { key: 'b', json: '{"x":1}' },
      { key: 'a', json: [Buffer.from('[1,'), Buffer.from('2]')] },
      { key: 'c', json: '"é"' },
    ];
    assert.equal(textOf(roots), '{"data":{"b":{"x":1},"a":[1,2],"c":"é"}}');
    assert.equal(textOf([]), '{"data":{}}');
  });

  it('has null if PostgreSQL returned none', () => {
    assert.equal(textOf([{ key: 'a', json: null }]), '{"data":{"a":null}}');
  });

  it('ends with extensions, if there are any', () => {
    const withExtensions = (roots: readonly ResponseMember[]) => Buffer.concat(assembleResponse(roots, '{"cost":{}}').chunks).toString();
    assert.equal(withExtensions([{ key: 'a', json: { latin1: '1' } }]), '{"data":{"a":1},"extensions":{"cost":{}}}');
    assert.equal(withExtensions([{ key: 'a', json: [Buffer.from('[1]')] }]), '{"data":{"a":[1]},"extensions":{"cost":{}}}');
  });

  it('does not parse the values: digits and spaces stay', () => {
    assert.equal(textOf([{ key: 'a', json: ' 1.10e400 ' }]), '{"data":{"a": 1.10e400 }}');
  });

  it('is one piece if it is small, with its length in bytes', () => {
    const body = assembleResponse([{ key: 'a', json: [Buffer.from('"é🦀"')] }]);
    assert.equal(body.chunks.length, 1);
    assert.equal(body.length, Buffer.byteLength('{"data":{"a":"é🦀"}}'));
    assert.equal(body.chunks[0]!.length, body.length);
  });

  it('is the same bytes if the values come as strings', () => {
    const inBytes = { latin1: Buffer.from('"é🦀"').toString('latin1') };
    const roots = [
      { key: 'a', json: inBytes },
      { key: 'b', json: null },
    ];
    const body = assembleResponse(roots);
    assert.equal(Buffer.from(body.latin1!, 'latin1').toString(), '{"data":{"a":"é🦀","b":null}}');
    assert.deepEqual(body.chunks, [Buffer.from('{"data":{"a":"é🦀","b":null}}')]);
    assert.equal(body.length, body.chunks[0]!.length);
    // Combined with other values, and when all values together are long.
    assert.equal(textOf([...roots, { key: 'c', json: '"é"' }]), '{"data":{"a":"é🦀","b":null,"c":"é"}}');
    const long = assembleResponse(Array.from({ length: 4000 }, (_, index) => ({ key: `k${index}`, json: inBytes })));
    assert.equal(long.latin1, undefined);
    assert.equal(Object.keys(JSON.parse(Buffer.concat(long.chunks).toString()).data).length, 4000);
  });

  it('does not copy large values', () => {
    const large = Buffer.from(`"${'é'.repeat(20_000)}"`);
    const { chunks, length } = assembleResponse([
      { key: 'a', json: [large] },
      { key: 'b', json: '1' },
    ]);
    assert.ok(chunks.includes(large));
    const whole = Buffer.concat(chunks);
    assert.equal(whole.length, length);
    assert.deepEqual(JSON.parse(whole.toString()), { data: { a: 'é'.repeat(20_000), b: 1 } });
  });
});
