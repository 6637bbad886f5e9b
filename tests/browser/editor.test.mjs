// The submit page's editor: what it shows, its keys, its drafts, and the page without it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after } from 'node:test';
import { faultsOf } from './checks.mjs';
import { closeBrowser, codeField, codeIn, createLeaderboard, fileField, logInAsAdmin, register,
	RIGHT, scene, verdictOf, visit, WRONG, zipOf } from './visitor.mjs';

after(closeBrowser);

const BOARD = 'desk', CUDA_BOARD = 'desk_cu', FORM = `/leaderboard/${BOARD}/submit`;
const CUDA_TASK = new URL('../../tasks/vectoradd_cu/', import.meta.url);
const MOST_EDITOR_BYTES = 130_000, MOST_PAGE_BYTES = 190_000;

let furnished;
const furnish = () => furnished ??= (async () => {
	const { page, context } = await visit({ watch: false });
	await logInAsAdmin(page);
	await createLeaderboard(page, BOARD);
	const files = ['task.yml', 'task.h', 'reference.cuh', 'template.cu',
		...readdirSync(new URL('samples', CUDA_TASK)).map((name) => `samples/${name}`)];
	await createLeaderboard(page, CUDA_BOARD, { others: 'H200', task: zipOf('task.zip',
		Object.fromEntries(files.map((name) =>
			[name, readFileSync(new URL(name, CUDA_TASK), 'utf8')]))) });
	await context.close();
})();

// Opens the form as a new user, whose name no other scene has.
let users = 0;
async function sit(come, options) {
	await furnish();
	const page = await come(options);
	await register(page, `writer${users++}`);
	await page.goto(FORM);
	return page;
}

const state = (page) => page.locator('#code-state');
const hasFocus = (page, selector) => page.evaluate(
	(wanted) => document.activeElement.matches(wanted), selector);
const dropFile = async (page, target, text, name = 'kernel.py') => target.dispatchEvent('drop',
	{ dataTransfer: await page.evaluateHandle(([content, called]) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([content], called, { type: 'text/x-python' }));
		return transfer;
	}, [text, name]) });

scene('the page with the editor is light, moves nothing and adds no style', async (come) => {
	const page = await sit(come), network = await page.context().newCDPSession(page);
	const bytes = {}, addresses = {};
	network.on('Network.responseReceived',
		({ requestId, response }) => { addresses[requestId] = new URL(response.url).pathname; });
	network.on('Network.loadingFinished',
		({ requestId, encodedDataLength }) => { bytes[addresses[requestId]] = encodedDataLength; });
	await network.send('Network.enable');
	await network.send('Network.setCacheDisabled', { cacheDisabled: true });
	await page.goto(FORM, { waitUntil: 'networkidle' });
	await page.locator('.cm-content').waitFor();
	assert.ok(bytes['/static/editor.js'] > 10_000
		&& bytes['/static/editor.js'] <= MOST_EDITOR_BYTES, JSON.stringify(bytes));
	const total = Object.values(bytes).reduce((sum, one) => sum + one, 0);
	assert.ok(total <= MOST_PAGE_BYTES, `${total} bytes: ${JSON.stringify(bytes)}`);
	const shift = await page.evaluate(() => new Promise((done) => {
		new PerformanceObserver((list) => done(
			list.getEntries().reduce((sum, one) => sum + one.value, 0)))
			.observe({ type: 'layout-shift', buffered: true });
		setTimeout(() => done(0), 500);
	}));
	assert.equal(shift.toFixed(3), '0.000');
	assert.equal(await page.locator('style').count(), 0);
	// Other pages do not load it.
	await page.goto(`/leaderboard/${BOARD}`);
	assert.equal(await page.locator('script[src*="editor"]').count(), 0);
});

const coloured = (page, kind, text) => page.locator(`.cm-line .${kind}`, { hasText: text });

scene('Python, C++ and CUDA have colours, lines have numbers, brackets match', async (come) => {
	const page = await sit(come);
	assert.equal(await codeIn(page), WRONG);
	await page.locator('.cm-lineNumbers').getByText('2', { exact: true }).waitFor();
	await coloured(page, 'keyword', /^def$/).waitFor();
	await codeField(page).fill('f(x)');
	await page.locator('.cm-matchingBracket').first().waitFor();
	await page.goto(`/leaderboard/${CUDA_BOARD}/submit`);
	for (const word of ['__global__', 'blockIdx', '<<<', 'return', 'if'])
		await coloured(page, 'keyword', word).first().waitFor();
	await coloured(page, 'directive', '#include').first().waitFor();
	await codeField(page).fill('// __global__\nauto s = "<<<";\n');
	await coloured(page, 'comment', '__global__').waitFor();
	await coloured(page, 'string', '<<<').waitFor();
	assert.equal(await coloured(page, 'keyword', /__global__|<<</).count(), 0);
	// Where no leaderboard is chosen, the text decides.
	await page.goto('/submit');
	await codeField(page).fill('def f(): pass');
	await coloured(page, 'keyword', /^def$/).waitFor();
	await codeField(page).fill('#include <cuda.h>\n__global__ void f();');
	await coloured(page, 'keyword', '__global__').waitFor();
});

scene('Tab indents the text in which one writes, and Escape lets it leave', async (come) => {
	const page = await sit(come), keys = page.keyboard;
	await codeField(page).focus();
	await keys.press('Tab');
	assert.ok(await hasFocus(page, '#file'), 'Tab from another field must pass through');
	await keys.press('Shift+Tab');
	await keys.press('Control+a');
	await keys.type('one\ntwo');
	await keys.press('Tab');
	assert.match(await codeIn(page), /^one\n {4}two/);
	await keys.press('Shift+Tab');
	assert.match(await codeIn(page), /^one\ntwo/);
	await keys.press('Escape');
	await keys.press('Tab');
	assert.ok(await hasFocus(page, '#file'), 'Escape and Tab must leave');
	await page.locator('#code-label').click();
	assert.ok(await hasFocus(page, '.cm-content'));
});

scene('the search opens by its key and passes the checks in both themes', async (come) => {
	const page = await sit(come);
	await codeField(page).fill('alpha beta alpha\n');
	await page.keyboard.press('Control+f');
	await page.keyboard.type('alpha');
	await page.locator('.cm-searchMatch').nth(1).waitFor();
	assert.deepEqual(await faultsOf(page), []);
	await page.locator('.cm-search [name=search]').focus();
	await page.keyboard.press('Escape');
	assert.equal(await page.locator('.cm-search').count(), 0);
	assert.deepEqual(await faultsOf(page), []);
});

scene('a draft returns until it is sent or discarded', async (come) => {
	const page = await sit(come), other = await come();
	const draft = 'x = 1  # a </textarea> draft\n';
	await codeField(page).fill(draft);
	await page.reload();
	assert.equal(await state(page).textContent(), 'Restored your draft. Discard');
	assert.equal(await codeIn(page), draft);
	assert.equal(await page.locator('#code-hint').textContent(), 'The code is your draft.');
	await page.goto(`${FORM}?template=Python`);
	assert.equal(await codeIn(page), WRONG); // the address asks for the template, not for the draft
	await page.goto(`/leaderboard/${CUDA_BOARD}/submit`);
	assert.notEqual(await codeIn(page), draft);
	await page.goto(FORM);
	await page.getByRole('button', { name: 'Discard' }).click();
	assert.equal(await codeIn(page), WRONG);
	assert.match(await page.locator('#code-hint').textContent(), /template/);
	await page.reload();
	assert.equal(await state(page).textContent(), '');

	await codeField(page).fill(`${RIGHT}# sent\n`);
	await page.getByRole('radio', { name: /^Test/ }).check();
	await page.getByRole('checkbox').first().check();
	await codeField(page).focus();
	await page.keyboard.press('Control+Enter');
	await page.waitForURL(/\/submission\/\d+$/);
	assert.equal(await verdictOf(page), 'passed');
	await page.goto(FORM);
	assert.equal(await codeIn(page), '');

	// A refused form keeps the draft, and another user of the browser does not get it.
	await codeField(page).fill('#!POPCORN leaderboard other\n');
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.locator('.error-summary').waitFor();
	await page.goto(FORM);
	assert.equal(await codeIn(page), '#!POPCORN leaderboard other\n');
	await register(other, `writer${users++}`);
	await page.context().clearCookies();
	await page.context().addCookies(await other.context().cookies());
	await page.reload();
	assert.equal(await codeIn(page), WRONG);
});

scene('a file that is dropped on the editor becomes its text', async (come) => {
	const page = await sit(come);
	await dropFile(page, codeField(page), 'y = 2\r\nz = 3\r\n');
	await state(page).getByText('Read kernel.py.').waitFor();
	assert.equal(await codeIn(page), 'y = 2\nz = 3\n');
	assert.equal(await fileField(page).evaluate((input) => input.files.length), 0);
	for (const [text, name] of [['\0', 'binary.py'], ['#'.repeat(1_000_001), 'large.py']]) {
		await dropFile(page, codeField(page), text, name);
		await state(page).getByText(`${name} is larger than 1 MB or no text.`).waitFor();
		assert.equal(await codeIn(page), 'y = 2\nz = 3\n');
	}
	await page.keyboard.press('Control+z');
	assert.equal(await codeIn(page), WRONG);
});

scene('a dropped file keeps its name, also in a draft and a refused form', async (come) => {
	const page = await sit(come);
	await dropFile(page, codeField(page), `#!POPCORN gpus none\n${RIGHT}`, 'fused <b>.py');
	await page.waitForFunction(() => Object.keys(localStorage).length);
	await page.goto(FORM);
	await state(page).getByText('Restored your draft.').waitFor();
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.locator('.error-summary').waitFor();
	await codeField(page).fill(RIGHT);
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.waitForURL(/\/submission\/\d+$/);
	await page.getByText('submitted fused <b>.py in mode').waitFor();
	await page.goto(FORM);
	await dropFile(page, codeField(page), WRONG, 'notes.txt');
	await state(page).getByText('Read notes.txt.').waitFor();
	assert.equal(await page.locator('[name=code_name]').inputValue(), '');
});

scene('logging out drops the drafts', async (come) => {
	const page = await sit(come);
	const drafts = () => page.evaluate(() =>
		Object.keys(localStorage).filter((key) => key.startsWith('podium-draft:')).length);
	await codeField(page).fill('x = 1\n');
	await page.waitForFunction(() => Object.keys(localStorage).length);
	await page.goto('/');
	assert.equal(await drafts(), 1);
	await page.getByRole('button', { name: 'Log out' }).click();
	await page.getByRole('link', { name: 'Log in', exact: true }).waitFor();
	assert.equal(await drafts(), 0);
});

scene('a browser without storage has the editor without drafts', async (come) => {
	await furnish();
	const page = await come();
	await page.addInitScript(() => {
		for (const name of ['localStorage', 'sessionStorage'])
			Object.defineProperty(window, name, { get() { throw new Error('forbidden'); } });
	});
	await register(page, `writer${users++}`);
	await page.goto(FORM);
	await codeField(page).fill(RIGHT);
	await page.getByRole('checkbox').first().check();
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.waitForURL(/\/submission\/\d+$/);
	assert.equal(await verdictOf(page), 'passed');
});

scene('without scripts, the text field has the template', async (come) => {
	const page = await sit(come, { scripts: false });
	assert.equal(await page.locator('textarea:visible').count(), 1);
	assert.equal(await codeField(page).inputValue(), WRONG);
	assert.equal(await page.locator('.cm-editor, #code-keys:visible').count(), 0);
});
