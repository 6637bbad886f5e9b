// Problem sets in a browser: upload, preview, confirmation, and the ranking of a replaced version.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EVAL, RIGHT, closeBrowser, logInAsAdmin, publish, register, scene, sourceFile, submit,
	verdictOf, zipOf } from './visitor.mjs';

test.after(closeBrowser);

const TASK = (number) => `lang: py
description: Add one.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: ../eval.py}
config: {main: eval.py}
tests: [{number: 1}]
benchmarks: [{number: ${number}}]
`;

// A zip with a set of three problems: two tasks that share eval.py, and one whose folder is
// missing.
function tree(suffix, { number = 4, deadline = '' } = {}) {
	return zipOf('tree.zip', {
		'problems/autumn.yaml': `name: Autumn ${suffix}\nproblems:\n`
			+ `  - {directory: week/one, name: one${suffix}, gpus: [CPU], `
			+ `deadline: "${deadline}"}\n`
			+ `  - {directory: week/two, name: two${suffix}, gpus: [CPU]}\n`
			+ `  - {directory: week/three, name: three${suffix}}\n`,
		'problems/week/eval.py': EVAL, 'problems/week/one/task.yml': TASK(number),
		'problems/week/two/task.yml': TASK(5),
		'README.md': 'words',
	});
}

async function preview(page, zip) {
	await page.goto('/admin');
	await page.getByRole('link', { name: 'Upload a problem set' }).click();
	await page.getByLabel('Problem set, as a zip').setInputFiles(zip);
	await page.getByRole('button', { name: 'Preview' }).click();
	await page.waitForURL(/\/admin\/sets\/\d+$/);
}

const part = (page, title) =>
	page.locator('section',
	{ has: page.getByRole('heading', { name: new RegExp(`^${title}: `) }) });
const rows = (page, title) => part(page, title).getByRole('rowheader').allTextContents();

async function confirm(page, button) {
	await page.getByRole('button', { name: button, exact: true }).click();
	await page.getByRole('status').filter({ hasText: 'The problem set was applied' }).waitFor();
}

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts', suffix = scripts ? '-on' : '-off';

	scene(`an admin uploads a problem set, previews and confirms it ${how}`, async (come) => {
		const page = await come({ scripts });
		await logInAsAdmin(page);
		await preview(page, tree(suffix));
		assert.equal(await page.getByRole('heading', { level: 1 }).textContent(),
			`Preview of Autumn ${suffix}`);
		assert.deepEqual(await rows(page, 'To be created'), [`one${suffix}`, `two${suffix}`]);
		assert.deepEqual(await rows(page, 'Refused'), [`three${suffix}`]);
		assert.match(await part(page, 'Refused').textContent(),
			/problems\/autumn\.yaml line 5, problems\.directory: there is no folder/);
		await page.reload();
		assert.deepEqual(await rows(page, 'To be created'), [`one${suffix}`, `two${suffix}`]);
		const visitor = await come({ scripts });
		assert.equal((await visitor.goto(`/leaderboard/one${suffix}`)).status(), 404);
		await confirm(page, 'Create 2 leaderboards');
		assert.equal(await page.getByRole('heading', { name: 'Created: 2' }).count(), 1);
		assert.equal(await page.getByRole('button', { name: /^Create/ }).count(), 0);
		await page.getByRole('link', { name: `one${suffix}`, exact: true }).click();
		assert.match(await page.locator('main').textContent(), /Add one\./);
	});

	scene(`a changed task gets a new ranking; the old one stays readable ${how}`, async (come) => {
		const page = await come({ scripts }), participant = await come({ scripts });
		await register(participant, `vera${suffix}`);
		publish(`one${suffix}`);
		await submit(participant, `one${suffix}`, { file: sourceFile(RIGHT), mode: 'Ranked' });
		assert.equal(await verdictOf(participant), 'passed');
		await logInAsAdmin(page);
		await preview(page, tree(suffix, { number: 6, deadline: '2041-05-06 07:08' }));
		assert.deepEqual(await rows(page, 'To be changed'), [`one${suffix}`]);
		assert.match(await part(page, 'To be changed').textContent(),
			/version 2, with a new ranking; changed: benchmarks\s+was version 1/);
		assert.match(await part(page, 'To be changed').textContent(), /2041-05-06 07:08 UTC\s+was none/);
		await confirm(page, 'Change 1 leaderboard');
		publish(`one${suffix}`, '2');
		await page.goto(`/leaderboard/one${suffix}`);
		assert.equal(await page.getByRole('rowheader', { name: `vera${suffix}` }).count(), 0);
		await page.getByRole('navigation', { name: 'Versions of the task' })
			.getByRole('link', { name: '1' }).click();
		await page.getByRole('rowheader', { name: `vera${suffix}` }).waitFor();
		assert.match(await page.locator('main').textContent(),
			/This version of the task was replaced/);
		await page.getByRole('link', { name: 'Task', exact: true }).click();
		await page.getByRole('heading', { name: 'Description' }).waitFor();
		assert.match(await page.locator('main').textContent(), /version 1 of the task,/);
	});
}
