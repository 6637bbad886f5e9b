// What people do with Podium, from the first visit to the ranking, with and without scripts.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { faultsOf } from './checks.mjs';
import { chip, closeBrowser, codeField, codeIn, createLeaderboard, editLeaderboard, fileField,
	fillAndSend, logIn, logInAsAdmin, oneTimePassword, openMenu, operate, PASSWORD, recordStates,
	register, RIGHT, RUN_LIMIT_MS, scene, setDeadline, SLOW, sourceFile, submit, taskZip, verdictOf,
	WRONG } from './visitor.mjs';

after(closeBrowser);

const TASK_FOLDER = fileURLToPath(new URL('../../tasks/vectoradd_py', import.meta.url));
const sample = (name) => readFileSync(join(TASK_FOLDER, 'samples', `${name}.py`), 'utf8');

// On a CPU, the task's timed shapes take half a minute. Here they are small.
before(() => {
	const folder = mkdtempSync(join(tmpdir(), 'podium-task.')), copy = join(folder, 'vectoradd_py');
	cpSync(TASK_FOLDER, copy, { recursive: true });
	const task = readFileSync(join(copy, 'task.yml'), 'utf8');
	writeFileSync(join(copy, 'task.yml'),
		task.replace(/size: (1024|2048|4096)/g, (_, size) => `size: ${size / 16}`));
	operate('task', 'load', '--unchecked', copy);
	rmSync(folder, { recursive: true });
});

const MOST_CLICKS = 4;
const HOSTILE = '<b title="">Tom & "Jerry"</b></textarea><script>alert(1)</script>';

// Returns the error at a field. The field must be marked invalid and name the error as its
// description.
async function errorAt(page, field) {
	assert.equal(await field.getAttribute('aria-invalid'), 'true');
	const ids = (await field.getAttribute('aria-describedby')).split(' ');
	const error = page.locator(`#${ids.at(-1)}.field-error`);
	assert.ok(await error.isVisible());
	return error.textContent();
}

// Waits until the submission and its comparisons have finished.
async function settled(page, id) {
	while (!(await (await page.request.get(`/submission/${id}/status`)).json()).settled)
		await new Promise((done) => setTimeout(done, 200));
}

// Waits until the open page no longer reloads itself.
async function lastReload(page) {
	while (await page.locator('meta[http-equiv=refresh]').count().catch(() => 1))
		await new Promise((done) => setTimeout(done, 100));
}

const headings = (page) => page.locator('h1').allTextContents();

scene('the first admin must replace the one-time password', async (come) => {
	const page = await come();
	const once = oneTimePassword();
	await logIn(page, 'admin', once);
	await page.getByRole('alert').filter({ hasText: 'one-time password' }).waitFor();
	await page.goto('/admin');
	assert.equal(new URL(page.url()).pathname, '/account');
	const passwords = { 'Current password': 'not this one',
		'New password': PASSWORD, 'New password again': PASSWORD };
	await fillAndSend(page, passwords, 'Change the password');
	assert.match(await errorAt(page, page.getByLabel('Current password')),
		/not your current password/);
	await logOut(page);
	await logInAsAdmin(page);
	await page.goto('/admin');
	assert.deepEqual(await headings(page), ['Overview']);
	const stranger = await come();
	await stranger.goto('/login');
	await fillAndSend(stranger, { Name: 'admin', Password: once }, 'Log in');
	await stranger.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();
});

async function logOut(page) {
	await page.getByRole('button', { name: 'Log out' }).click();
	await page.getByRole('link', { name: 'Log in', exact: true }).waitFor();
}

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts', suffix = scripts ? '' : '-plain';

	scene(`a visitor registers, logs out and logs in again ${how}`, async (come) => {
		const page = await come({ scripts });
		await page.goto('/');
		await page.getByRole('link', { name: 'Register', exact: true }).click();
		await fillAndSend(page, { Name: `Grace${suffix}`, Password: PASSWORD,
			'Password again': PASSWORD }, 'Register');
		await page.locator('.who').getByRole('link', { name: `Grace${suffix}` }).click();
		assert.equal(await page.locator('.lead b').innerText(), `Grace${suffix}`);
		await logOut(page);
		await page.goto('/account');
		assert.equal(new URL(page.url()).pathname, '/login');
		await fillAndSend(page, { Name: `Grace${suffix}`, Password: PASSWORD }, 'Log in');
		await page.waitForURL('**/account');
	});

	scene(`a newcomer comes back to the leaderboard's page ${how}`, async (come) => {
		const page = await come({ scripts }), address = '/leaderboard/vectoradd_py?view=trend';
		await page.goto(address);
		await page.getByRole('link', { name: 'Log in', exact: true }).click();
		await page.locator('.who').getByRole('link', { name: 'Register', exact: true }).click();
		await fillAndSend(page, { Name: `Back${suffix}`, Password: PASSWORD,
			'Password again': PASSWORD }, 'Register');
		await page.locator('.who').getByRole('link', { name: `Back${suffix}` }).waitFor();
		assert.ok(page.url().endsWith(address), page.url());
		await logOut(page);
		await page.goto(address);
		await page.getByRole('link', { name: 'Register', exact: true }).click();
		await page.locator('.who').getByRole('link', { name: 'Log in', exact: true }).click();
		await fillAndSend(page, { Name: `Back${suffix}`, Password: PASSWORD }, 'Log in');
		await page.locator('.who').getByRole('link', { name: `Back${suffix}` }).waitFor();
		assert.ok(page.url().endsWith(address), page.url());
	});

	scene(`a compile error links to its line of the source ${how}`, async (come) => {
		const page = await come({ scripts });
		await register(page, `lina${suffix}`);
		await submit(page, 'vectoradd_py',
			{ code: `import torch\n\ndef custom_kernel(data:  # ${suffix}\n`, mode: 'Test' });
		assert.equal(await verdictOf(page), 'compile error');
		const job = page.locator('.job').first();
		assert.match(await job.locator('.error-line code').textContent(), /^def custom_kernel/);
		await job.locator('.notice').getByRole('link', { name: 'submission.py, line 3' }).click();
		assert.match(await page.locator('.line:target').textContent(), /^3def custom_kernel/);
		await page.getByRole('link', { name: 'Fix and submit again' }).click();
		assert.match(await codeIn(page), /^import torch/);
	});

	scene(`a taken name and a short password are refused at their fields ${how}`, async (come) => {
		const page = await come({ scripts });
		await page.goto('/register');
		await fillAndSend(page, { Name: 'ADMIN', Password: PASSWORD, 'Password again': PASSWORD },
			'Register');
		const name = page.getByLabel('Name', { exact: true });
		assert.match(await errorAt(page, name), /taken/);
		assert.equal(await name.inputValue(), 'ADMIN');
		// With its own validation, the browser would not send these values.
		await page.locator('main form').evaluate((form) => { form.noValidate = true; });
		await fillAndSend(page, { Name: `someone${suffix}`, Password: 'short' }, 'Register');
		assert.match(await errorAt(page, page.getByLabel('Password', { exact: true })), /8/);
		assert.equal(await name.inputValue(), `someone${suffix}`);
		await page.locator('main form').evaluate((form) => { form.noValidate = true; });
		await fillAndSend(page, { Name: '"><script>alert(1)</script>', Password: PASSWORD,
			'Password again': PASSWORD }, 'Register');
		await errorAt(page, name);
		assert.equal(await name.inputValue(), '"><script>alert(1)</script>');
	});

	scene(`a wrong answer names the case and says what to do ${how}`, async (come) => {
		const page = await come({ scripts });
		await register(page, `pia${suffix}`);
		await submit(page, 'vectoradd_py', { code: sample('subtracts'), mode: 'Test' });
		assert.equal(await verdictOf(page), 'wrong answer');
		const job = page.locator('.job').first();
		assert.match(await job.locator('tbody').textContent(), /size:\s+1\s+seed:\s+8207/);
		assert.match(await job.locator('tbody .message').first().textContent(), /\d/);
		assert.match(await job.locator('.sentence').textContent(), /\w+.*\./);
		assert.match(await page.locator('.source').textContent(), /A - B/);
		await page.goto('/leaderboard/vectoradd_py');
		assert.ok(!(await page.locator('main').textContent()).includes(`pia${suffix}`));
	});

	scene(`the page follows an uploaded file until it is ranked ${how}`, async (come) => {
		const page = await come({ scripts });
		await register(page, `rita${suffix}`);
		const record = await recordStates(page);
		const id = await submit(page, 'vectoradd_py',
			{ file: sourceFile(`${sample('right')}# ${suffix}\n`), mode: 'Ranked' });
		assert.match((await chip(page).textContent()).trim(), /queued|running/);
		assert.equal(await verdictOf(page), 'passed');
		if (scripts) {
			assert.equal(record.loadings, 1);
			assert.match((await record.states()).join(), /(queued|running).* 0,.*passed  [1-9]/);
		} else {
			assert.ok(record.loadings > 1, 'the page did not reload itself');
			await settled(page, id);
			await lastReload(page);
		}
		assert.match(await page.locator('.job .sentence').first().textContent(),
			/Rank =?\d+ of \d+/);
		const score = (await page.locator('.job .figures dd').first().textContent()).trim();
		await page.goto('/leaderboard/vectoradd_py');
		const device = page.getByRole('link', { name: 'CPU', exact: true }).first();
		if (await device.count())
			await device.click();
		const row = page.locator('.ranking tr', { hasText: `rita${suffix}` });
		assert.match(await row.textContent(), /[12]/);
		assert.ok((await row.textContent()).includes(score.split(' ')[0]),
			`the row shows ${await row.textContent()}, the job ${score}`);
		await page.goto(`/submission/${id}`);
		assert.equal(await page.locator('main[data-live]').count(), 0);
	});

	scene(`an admin creates, edits and deletes a leaderboard ${how}`, async (come) => {
		const page = await come({ scripts }), board = `made${suffix}`;
		await logInAsAdmin(page);
		await page.goto('/admin');
		await page.getByRole('link', { name: 'New leaderboard' }).click();
		await page.getByLabel('Name', { exact: true }).fill(board);
		await page.getByLabel('Deadline (UTC)').fill('2031-05-06T07:08');
		await page.locator('input[name=gpu]').first().check();
		const device = await page.locator('input[name=gpu]').first().inputValue();
		await page.getByLabel('Task, as a zip')
			.setInputFiles(taskZip('', { 'readme.txt': 'no task' }));
		await page.getByRole('button', { name: 'Preview' }).click();
		assert.match(await errorAt(page, page.getByLabel('Task, as a zip')), /task\.yml/);
		assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), board);
		assert.equal(await page.getByLabel('Deadline (UTC)').inputValue(), '2031-05-06T07:08');
		assert.ok(await page.locator(`input[name=gpu][value="${device}"]`).isChecked());
		await page.getByLabel('Task, as a zip').setInputFiles(taskZip());
		await page.getByRole('button', { name: 'Preview' }).click();
		await page.getByRole('heading', { name: `Preview of ${board}` }).waitFor();
		assert.match(await page.locator('main').textContent(), /Add one to a number/);
		if (scripts)
			assert.deepEqual(await faultsOf(page), []);
		assert.equal((await page.request.get(`/leaderboard/${board}`)).status(), 404);
		await page.getByRole('button', { name: 'Change' }).click();
		await page.getByText('Podium keeps task.zip until').waitFor();
		assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), board);
		await page.getByRole('button', { name: 'Preview' }).click();
		await page.getByRole('button', { name: 'Create', exact: true }).click();
		await page.waitForURL(`**/leaderboard/${board}*`);
		assert.match(await page.locator('main').textContent(), /Add one to a number/);
		assert.match(await page.locator('main').textContent(), new RegExp(device));

		await page.goto('/admin');
		await openMenu(page, board);
		await page.getByRole('link', { name: 'Settings', exact: true }).click();
		await page.getByLabel('Deadline (UTC)').fill('2032-11-12T13:14');
		await page.getByRole('button', { name: 'Save' }).click();
		await page.waitForURL(`**/leaderboard/${board}*`);
		assert.match(await page.locator('main time[datetime^="2032-11-12T13:14"]').first()
			.textContent(), /\w/);

		await page.goto('/admin');
		await openMenu(page, board);
		await page.getByRole('link', { name: 'Delete…' }).click();
		const name = page.getByLabel('To delete it, type its name');
		await name.fill('mad');
		await page.getByRole('button', { name: 'Delete the leaderboard' }).click();
		assert.match(await errorAt(page, name), /not its name/);
		assert.equal(await name.inputValue(), 'mad');
		await name.fill(board);
		await page.getByRole('button', { name: 'Delete the leaderboard' }).click();
		await page.waitForURL(/\/admin(\?|$)/);
		await page.getByRole('status').filter({ hasText: 'deleted' }).waitFor();
		assert.equal(await page.getByRole('rowheader', { name: board, exact: true }).count(), 0);
		assert.equal((await page.goto(`/leaderboard/${board}`)).status(), 404);
		await page.goto('/admin/audit');
		assert.match(await page.locator('tr', { hasText: board }).first().textContent(), /admin/);
	});

	scene(`a bad submission is refused at its field ${how}`, async (come) => {
		const page = await come({ scripts });
		const admin = await come();
		await logInAsAdmin(admin);
		await createLeaderboard(admin, `strict${suffix}`);
		await register(page, `otto${suffix}`);
		const code = codeField(page), file = fileField(page);
		const send = async ({ text, upload }) => {
			await page.goto(`/leaderboard/strict${suffix}/submit`);
			// The field contains the template, which is valid. Replace it.
			if (text !== undefined)
				await code.fill(text);
			if (upload)
				await file.setInputFiles(upload);
			await page.getByRole('radio', { name: /^Benchmark/ }).check();
			await page.getByRole('button', { name: 'Submit', exact: true }).click();
			await page.locator('.field-error').first().waitFor();
			assert.ok(await page.getByRole('radio', { name: /^Benchmark/ }).isChecked());
		};
		const conflict = `#!POPCORN leaderboard other\n${HOSTILE}\n`;
		await send({ text: conflict });
		assert.match(await errorAt(page, code), /other/);
		assert.equal(await codeIn(page), conflict);
		await send({ text: `#!POPCORN gpus NoSuchDevice\n${RIGHT}` });
		assert.match(await page.locator('.field-error').textContent(), /NoSuchDevice/);
		assert.match(await codeIn(page), /custom_kernel/);
		await send({ text: '' });
		assert.match(await page.locator('.field-error').textContent(), /\w/);
		for (const [upload, sentence] of [[sourceFile('', 'empty.py'), /empty/],
			[sourceFile(RIGHT, 'kernel.exe'), /\.py/],
			[{ ...sourceFile(''), buffer: Buffer.from([0x78, 0xff, 0xfe]) }, /UTF-8/],
			[sourceFile('#'.repeat(1_000_001)), /1 MB/]]) {
			await send({ upload });
			assert.match(await errorAt(page, file), sentence);
		}
	});

	scene(`a closed and an ended leaderboard take no submissions ${how}`, async (come) => {
		const admin = await come({ scripts }), page = await come({ scripts }),
			board = `over${suffix}`;
		await logInAsAdmin(admin);
		await createLeaderboard(admin, board);
		await register(page, `late${suffix}`);
		await page.goto(`/leaderboard/${board}/submit`);
		await codeField(page).fill(RIGHT);
		await setDeadline(admin, board, '2001-01-01T00:00');
		await page.getByRole('button', { name: 'Submit', exact: true }).click();
		await page.locator('.notice.warning').filter({ hasText: 'deadline' }).waitFor();
		await setDeadline(admin, board, '');
		await editLeaderboard(admin, board, () => admin.getByLabel('Takes submissions').uncheck());
		await page.goto(`/leaderboard/${board}/submit`);
		await page.locator('.notice.warning').filter({ hasText: 'closed' }).waitFor();
		assert.equal(await page.getByRole('button', { name: 'Submit', exact: true }).count(), 0);
	});
}

for (const scripts of [true, false])
	scene(`a newcomer has a rank ${MOST_CLICKS} clicks after registering, `
		+ `${scripts ? 'with' : 'without'} scripts`, async (come) => {
		const page = await come({ scripts }), name = `nina${scripts ? '' : '-plain'}`;
		await register(page, name);
		let clicks = 0;
		const click = async (locator) => {
			clicks++;
			await locator.click();
		};
		const main = page.locator('main');
		await click(main.getByRole('link', { name: 'vectoradd_py', exact: true }));
		await click(main.getByRole('link', { name: 'Submit', exact: true }));
		await click(page.getByRole('radio', { name: /^Ranked/ }));
		await click(page.getByRole('button', { name: 'Submit', exact: true }));
		await page.waitForURL(/\/submission\/\d+$/);
		assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
		assert.equal(await verdictOf(page), 'passed');
		assert.match(await page.locator('.job .sentence').first().textContent(),
			/Rank =?\d+ of \d+/);
	});

for (const scripts of [true, false])
	scene(`a refused form lists its errors and has the focus there, `
		+ `${scripts ? 'with' : 'without'} scripts`, async (come) => {
		const page = await come({ scripts }), admin = await come({ scripts });
		const suffix = scripts ? '' : '-plain';
		await register(page, `errol${suffix}`);
		await page.goto('/leaderboard/vectoradd_py/submit');
		await codeField(page).fill(HOSTILE);
		await fileField(page).setInputFiles(sourceFile(RIGHT));
		// No browser sends this mode.
		await page.locator('[name=mode]:checked').evaluate((radio) => { radio.value = 'none'; });
		await page.getByRole('button', { name: 'Submit', exact: true }).click();
		const summary = page.locator('.error-summary');
		await summary.waitFor();
		assert.match(await page.title(), /^Error: /);
		assert.ok(await summary.evaluate((element) => element === document.activeElement));
		assert.deepEqual(await summary.getByRole('link').evaluateAll(
			(links) => links.map((link) => link.hash)), ['#code', '#mode']);
		assert.equal(await codeIn(page), HOSTILE);
		// The links work by keyboard: Tab, Enter, and the field has the focus.
		for (const field of ['code', 'mode']) {
			await summary.locator(`[href="#${field}"]`).press('Enter');
			await page.waitForFunction((id) => document.activeElement.id === id, field);
		}
		if (scripts) // axe needs timers
			assert.deepEqual(await faultsOf(page), []);

		await logInAsAdmin(admin);
		await admin.goto('/admin/leaderboards/new');
		await admin.getByLabel('Name', { exact: true }).fill('no name');
		await admin.getByLabel('Task, as a zip').setInputFiles(taskZip('', { 'task.yml': 'a: b' }));
		await admin.getByRole('button', { name: 'Preview' }).click();
		await admin.locator('.error-summary').waitFor();
		assert.match(await errorAt(admin, admin.getByLabel('Name', { exact: true })), /letters/);
		assert.match(await errorAt(admin, admin.getByLabel('Task, as a zip')), /task\.yml/);
		assert.equal(await admin.getByLabel('Name', { exact: true }).inputValue(), 'no name');
	});

scene('a slow submission shows its progress, and opened parts stay open', async (come) => {
	const page = await come(), admin = await come();
	await logInAsAdmin(admin);
	await createLeaderboard(admin, 'slow');
	await register(page, 'sloane');
	const record = await recordStates(page);
	await submit(page, 'slow',
		{ code: 'print("a word")\n' + SLOW.replace('1.5', '1.5 if number < 1000 else 12'),
		mode: 'Ranked' });
	// The tests' output appears once the benchmark has started.
	const part = (words) => page.locator('summary', { hasText: words });
	await part('3 tests passed').waitFor({ timeout: RUN_LIMIT_MS });
	await part('3 tests passed').focus();
	await page.keyboard.press('Enter');
	await part('Standard output').focus();
	await page.keyboard.press('Enter');
	await page.getByText('a word').first().waitFor();
	assert.match((await chip(page).textContent()).trim(), /running/);
	assert.equal(await verdictOf(page), 'passed');
	const opened = page.locator('details details', { has: part('Standard output') }).first();
	assert.ok(await opened.evaluate((details) => details.open));
	assert.ok(await opened.locator('summary')
		.evaluate((summary) => summary === document.activeElement), 'the focus was lost');
	assert.equal(record.loadings, 1);
	const states = await record.states(),
		running = states.filter((state) => /^running test \d\/3 0$/.test(state));
	assert.ok(running.length >= 2, `its states were ${states}`);
	assert.ok(states.some((state) => /^running .* 3$/.test(state)), `its states were ${states}`);
	assert.match(states.at(-1), /^passed  5$/); // one of the rows shows the spread of the times
});

scene('submissions are ranked by their times, and your own row is marked', async (come) => {
	const admin = await come(), fast = await come(), slow = await come();
	await logInAsAdmin(admin);
	await createLeaderboard(admin, 'race');
	await register(fast, 'hare');
	await register(slow, 'tortoise');
	await submit(slow, 'race', { code: SLOW.replace('1.5', '0.2'), mode: 'Ranked' });
	await submit(fast, 'race', { code: RIGHT, mode: 'Ranked' });
	assert.equal(await verdictOf(slow), 'passed');
	assert.equal(await verdictOf(fast), 'passed');
	await submit(fast, 'race', { code: WRONG, mode: 'Ranked' });
	assert.equal(await verdictOf(fast), 'wrong answer');
	await fast.goto('/leaderboard/race');
	const rows = fast.locator('.ranking tbody tr').filter({ hasText: /hare|tortoise/ });
	assert.equal(await rows.count(), 2);
	assert.match(await rows.nth(0).textContent(), /1.*hare/s);
	assert.match(await rows.nth(1).textContent(), /2.*tortoise/s);
	assert.equal(await fast.locator('.ranking tr.own').filter({ hasText: 'hare' }).count(), 1);
	await fast.goto('/leaderboard/race/mine');
	assert.equal(await fast.locator('main a[href^="/submission/"]').count() >= 2, true);
	await fast.goto('/user/tortoise');
	assert.match(await fast.locator('main').textContent(), /race/);
});

scene('before the deadline, only its author can read a submission', async (come) => {
	const admin = await come(), author = await come(), other = await come();
	await logInAsAdmin(admin);
	await createLeaderboard(admin, 'private', { deadline: '2090-01-01T00:00' });
	await register(author, 'vera');
	const id = await submit(author, 'private',
		{ code: `# a secret trick\n${RIGHT}`, mode: 'Test' });
	await verdictOf(author);
	for (const [page, sees] of [[author, true], [admin, true], [other, false]]) {
		await page.goto(`/submission/${id}`);
		assert.equal((await page.locator('main').textContent()).includes('a secret trick'), sees);
	}
});
