// What participants do with their submissions in a browser: submit again, compare, withdraw, copy a
// source. The worker's GPUs and podium-run are pretended:
//
//	python3 tests/lib/instance.py --pretend node tests/browser/participants.test.mjs
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { looksRight } from './checks.mjs';
import { closeBrowser, codeIn, fileField, EVAL, logIn, logInAsAdmin, publish,
	register, scene, submit, taskZip, verdictOf, visit, WRONG } from './visitor.mjs';

test.after(closeBrowser);

const BOARD = 'again';
const TASK = `lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 64}, {size: 128}]
templates: {Python: template.py}
`;
const timed = (ns) => (
	{ runs: 100, mean_ns: ns, std_ns: 9, err_ns: 1, best_ns: ns - 8, worst_ns: ns + 9 });
const code = (ns, rest) =>
	`# ${JSON.stringify({ cases: [timed(ns / 2), timed(ns)],
		verdict: { score_ns: ns, score_err_ns: 1 } })}\n${rest}`;
const FIRST = code(32000,
	'@staticmethod\ndef custom_kernel(data):\n\treturn data + 1.5  # "quick" <b>\n');
const SECOND = code(24000,
	'@staticmethod\ndef custom_kernel(data):\n\t"""Said\n\tover two lines."""\n\treturn data\n');

const main = (page) => page.locator('main');
let furnished;

// Creates, once for this file, a leaderboard and two results of ada.
function furnish() {
	furnished ??= (async () => {
		const { page: admin, context } = await visit({ watch: false });
		await logInAsAdmin(admin);
		await admin.goto('/admin/leaderboards/new');
		await admin.getByLabel('Name', { exact: true }).fill(BOARD);
		await admin.getByLabel('Task, as a zip')
			.setInputFiles(
			taskZip('', { 'task.yml': TASK, 'eval.py': EVAL, 'template.py': WRONG }));
		await admin.locator('input[name=gpu][value=H200]').check();
		await admin.getByRole('button', { name: 'Create it hidden' }).click();
		await admin.waitForURL(`**/leaderboard/${BOARD}**`);
		publish(BOARD);
		await context.close();
		const { page, context: own } = await visit({ watch: false });
		await register(page, 'ada');
		const ids = [];
		for (const source of [FIRST, SECOND]) {
			ids.push(await submit(page, BOARD, { code: source, mode: 'Ranked' }));
			assert.equal(await verdictOf(page), 'passed');
		}
		await own.close();
		return ids;
	})();
	return furnished;
}

async function comeAs(come, name, options) {
	const page = await come(options);
	await logIn(page, name);
	return page;
}

scene('a participant compares two submissions, with and without scripts', async (come) => {
	const [first, second] = await furnish();
	for (const scripts of [true, false]) {
		const page = await comeAs(come, 'ada', { scripts });
		await page.goto('/mine');
		await page.getByLabel(`Compare ${first}, as the first`).check();
		await page.getByLabel(`Compare ${second}, as the second`).check();
		await page.getByRole('button', { name: 'Compare the two that are chosen' }).click();
		await page.waitForURL(({ pathname, searchParams }) => pathname === '/compare'
			&& searchParams.get('a') === String(first)
			&& searchParams.get('b') === String(second));
		await main(page).getByText('25 % faster').first().waitFor();
		await main(page).locator('del', { hasText: 'data + 1.5' }).waitFor();
		await main(page).locator('ins', { hasText: 'over two lines' }).waitFor();
	}
});

scene('the pages of participants pass the checks at any width and colour', async (come) => {
	const [first, second] = await furnish();
	const page = await comeAs(come, 'ada');
	for (const path of ['/mine', '/mine?mode=test', `/leaderboard/${BOARD}/mine`,
		`/compare?a=${first}&b=${second}`, `/compare?b=${second}`,
		`/submission/${second}`, `/submission/${first}/withdraw`, `/submission/${first}/note`,
		`/leaderboard/${BOARD}/submit?from=${first}`,
		`/leaderboard/${BOARD}/submit?template=Python`]) {
		await page.goto(path);
		await looksRight(page);
	}
});

scene('a source is copied unchanged, and each line has an address', async (come) => {
	const [, second] = await furnish();
	const page = await comeAs(come, 'ada');
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.goto(`/submission/${second}#L3`);
	assert.match(await page.locator('.line:target').textContent(), /^3def custom_kernel/);
	await main(page).getByRole('button', { name: 'Copy' }).click();
	await main(page).getByText('Copied').waitFor();
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), SECOND);
});

scene('a participant submits again and withdraws without scripts', async (come) => {
	const [first] = await furnish();
	const page = await comeAs(come, 'ada', { scripts: false });
	await page.goto(`/submission/${first}`);
	await main(page).getByRole('link', { name: 'Submit again…' }).click();
	assert.equal(await codeIn(page), FIRST);
	assert.ok(await page.getByRole('radio', { name: /^Ranked/ }).isChecked());
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.waitForURL(/\/submission\/\d+$/);
	const again = Number(page.url().match(/\d+$/)[0]);
	assert.equal(await verdictOf(page), 'passed');
	await page.goto(`/submission/${again}/withdraw`);
	await page.getByLabel(`Type the number ${again} to confirm`).fill(String(again));
	await page.getByRole('button', { name: `Withdraw submission ${again}` }).click();
	await main(page).getByText('it is in no ranking any more').waitFor();
	await main(page).getByRole('button', { name: 'Let it count again' }).click();
	await main(page).getByText('The submission counts again.').waitFor();
});

// printing() makes the source of a job that prints these outputs, one a second. The job ends once
// the file `name` exists.
const ending = (name) => join(dirname(process.env.PODIUM_ADMIN_PASSWORD_FILE), name);
const printing = (name, ...prints) => `# ${JSON.stringify({ until: ending(name), prints })}\n`;
const lines = (count) => Array.from({ length: count }, (_, i) => `line ${i} <b> of \u00b5\n`)
	.join('');

scene('an author sees the output of a running job', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await submit(page, BOARD,
		{ code: printing('seen', { stdout: 'one\n', stderr: '' }, { stdout: lines(60), stderr: '' },
		{ stdout: lines(70), stderr: '' }, { stdout: `${lines(60)}two\n`, stderr: 'oh <b>\n' }),
		mode: 'Test' });
	const out = main(page).locator('#printed-stdout-0'),
		err = main(page).locator('#printed-stderr-0');
	await out.getByText('two').waitFor();
	assert.equal(await out.textContent(), `${lines(60)}two\n`);
	assert.equal(await err.textContent(), 'oh <b>\n');
	assert.ok(await out.evaluate((place) => place.scrollHeight > place.clientHeight
		&& place.scrollTop + place.clientHeight >= place.scrollHeight - 4));
	await looksRight(page);
	const reader = await come();
	await reader.goto(page.url());
	await main(reader).getByText('Running on H200').waitFor();
	assert.equal(await main(reader).getByText('oh <b>').count(), 0);
	writeFileSync(ending('seen'), '');
	assert.equal(await verdictOf(page), 'passed');
	assert.equal(await out.count(), 0);
});

scene('without scripts, the page reloads itself and shows the output', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada', { scripts: false });
	await submit(page, BOARD,
		{ code: printing('plain', { stdout: 'first\n', stderr: '' },
		{ stdout: 'first\nsecond\n', stderr: '' }), mode: 'Test' });
	await main(page).getByText('second').waitFor();
	assert.equal(await main(page).locator('#printed-stderr-0').isVisible(), false);
	writeFileSync(ending('plain'), '');
	assert.equal(await verdictOf(page), 'passed');
});

scene('dropping a file on the form chooses it', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await page.goto(`/leaderboard/${BOARD}/submit`);
	const dropped = await page.evaluateHandle((text) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([text], 'dropped.py', { type: 'text/x-python' }));
		return transfer;
	}, SECOND);
	const modes = page.getByRole('group', { name: 'Mode' }); // the editor takes files itself
	await modes.dispatchEvent('dragover', { dataTransfer: dropped });
	await page.locator('.field.drop', { has: fileField(page) }).waitFor();
	await modes.dispatchEvent('drop', { dataTransfer: dropped });
	assert.equal(await fileField(page)
		.evaluate((input) => input.files[0].name), 'dropped.py');
	assert.equal(await page.locator('.field.drop').count(), 0);
	await page.getByRole('radio', { name: /^Test/ }).check();
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.waitForURL(/\/submission\/\d+$/);
	await page.getByText('submitted dropped.py in mode test').waitFor();
});

scene('a queued job shows when it starts, and the form the usual wait', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada'), ids = [];
	// Two devices are busy, so the third job waits.
	for (let i = 0; i < 3; i++)
		ids.push(await submit(page, BOARD,
			{ code: printing('waited', { stdout: 'x', stderr: '' }), mode: 'Test' }));
	await main(page).getByText('Waiting for H200: 1st in line.').waitFor();
	await main(page).getByRole('link', { name: 'The whole queue' }).waitFor();
	await looksRight(page);
	await page.goto(`/leaderboard/${BOARD}/submit`);
	await main(page).getByText('a job sent now').waitFor();
	await main(page).getByText('checks the test case and measures nothing').waitFor();
	await looksRight(page);
	await page.goto('/submit');
	assert.equal(await page.getByLabel('Leaderboard').inputValue(), BOARD);
	await looksRight(page);
	writeFileSync(ending('waited'), '');
	for (const id of ids) {
		await page.goto(`/submission/${id}`);
		assert.equal(await verdictOf(page), 'passed');
	}
});

scene('code of tasks and harnesses is highlighted, numbered and copied', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.goto(`/leaderboard/${BOARD}/task/template/Python#L1`);
	assert.match(await page.locator('.line:target').textContent(), /^1def custom_kernel/);
	assert.equal(await page.locator('.line:target .keyword').textContent(), 'def');
	await looksRight(page);
	await main(page).getByRole('button', { name: 'Copy' }).click();
	await main(page).getByText('Copied').waitFor();
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), WRONG);
	for (const language of ['py', 'cu']) {
		await page.goto(`/language/${language}`);
		await main(page).locator('#example .keyword').first().waitFor();
		await main(page).locator(`[id="utils.${language === 'py' ? 'py' : 'h'}-L1"]`).waitFor();
		await looksRight(page);
	}
});
