/**
 * Uses the app of the current folder without a browser, and holds its list of sightings to what each click must do. Vite transforms the app's modules as in
 * development; react-test-renderer renders them.
 */
import assert from 'node:assert/strict';
import { createElement } from 'react';
import { act, create } from 'react-test-renderer';
import { createServer } from 'vite';

globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const realFetch = globalThis.fetch;
/** While it is pending, no response reaches the app. */
let gate = Promise.resolve();
let inFlight = 0;
globalThis.fetch = async (...request) => {
  inFlight += 1;
  const response = await realFetch(...request);
  await gate;
  inFlight -= 1;
  return response;
};

const vite = await createServer({ appType: 'custom', logLevel: 'error', server: { middlewareMode: true, ws: false, watch: null } });
const { App } = await vite.ssrLoadModule('/src/app.jsx');
let app;
await act(async () => {
  app = create(createElement(App));
});

const textOf = ({ children }) => children.filter((child) => typeof child === 'string').join('');
const rows = () => app.root.findAllByType('li').map(textOf);
const until = async (holds) => {
  while (!holds()) await act(() => new Promise((resolve) => setImmediate(resolve)));
};
const click = (label, within = app.root) =>
  act(async () => {
    const [button] = within.findAllByType('button').filter((one) => textOf(one) === label);
    button.props.onClick();
  });
const firstRow = () => app.root.findAllByType('li')[0];

// Pages.
await until(() => rows().length === 3);
await click('More');
await until(() => rows().length === 6);
const known = rows();

// What is inserted comes first.
await click('Report two');
await until(() => rows().length === 7);
const [reported, ...others] = rows();
assert.match(reported, /^2 × /);
assert.deepEqual(others, known);

// The count is there before the response is, and stays.
const { promise, resolve: open } = Promise.withResolvers();
gate = promise;
await click('One more', firstRow());
await until(() => rows()[0].startsWith('3 × '));
open();
await click('More');
await until(() => rows().length === 10 && inFlight === 0);
assert.match(rows()[0], /^3 × /);

// What is deleted is gone, and nothing else.
const left = rows().slice(1);
await click('Delete', firstRow());
await until(() => rows().length === 9);
assert.deepEqual(rows(), left);
await act(async () => app.unmount());
await vite.close();
process.exit(0);
