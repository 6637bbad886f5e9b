// `make bench-browser` (figures.mjs) ends and prints figures, with one visit of one page.
import assert from 'node:assert/strict';
import { test } from 'node:test';

test('a page has figures', async (t) => {
	const lines = [];
	t.mock.method(console, 'log', (line) => lines.push(line));
	Object.assign(process.env, { RUNS: '1', PAGES: 'help' });
	await import('./figures.mjs');
	assert.match(lines.at(-1), /^\| help( \| [\d.]+){9} \|$/);
});
