// Ways through the pages that no other test takes, by links, buttons and fields alone, with and
// without scripts. They show that no page depends on scripts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { closeBrowser, codeIn, createLeaderboard, EVAL, fillAndSend, logInAsAdmin, openMenu,
	publish, register, RIGHT, scene, setDeadline, submit, taskZip, verdictOf,
	WRONG } from './visitor.mjs';

test.after(closeBrowser);

// Checks that nothing visible needs a script if scripts are off: no button, link or form.
async function waitsForNoScript(page) {
	if (page.hasScripts)
		return;
	assert.equal(await page.locator(
		'button[type=button]:visible, [onclick], a[href="#"], a[href^="javascript:"]').count(), 0,
		page.url());
	assert.equal(await page.locator('form:not([action]):not([method])').count(), 0, page.url());
}

async function go(page, link) {
	await page.locator('main').getByRole('link', { name: link }).first().click();
	await page.waitForLoadState();
	await waitsForNoScript(page);
}

async function press(page, button) {
	await page.locator('main').getByRole('button', { name: button }).first().click();
	await page.waitForLoadState();
	await waitsForNoScript(page);
}

// fresh() bypasses nginx's cache, which keeps pages for one second for visitors without a session.
let visits = 0;
const fresh = (path) => `${path}${path.includes('?') ? '&' : '?'}fresh=${visits++}`;

// Runs the scene with and without scripts, each time with another leaderboard name `board`.
function scenes(title, word, body) {
	for (const scripts of [true, false])
		scene(`${title}, ${scripts ? 'with' : 'without'} scripts`, (come) => body(async () => {
			const page = await come({ scripts });
			page.hasScripts = scripts;
			return page;
		}, `${word}-${scripts ? 'on' : 'off'}`));
}

// Creates a leaderboard with one ranked result of a new user.
async function furnish(come, board) {
	const admin = await come(), author = await come(), name = `author-of-${board}`;
	await logInAsAdmin(admin);
	await createLeaderboard(admin, board);
	await register(author, name);
	const number = await submit(author, board, { code: RIGHT, mode: 'Ranked' });
	assert.equal(await verdictOf(author), 'passed');
	return { admin, author, name, number };
}

scenes('a visitor explores a leaderboard, its exports and the queue', 'seen',
		async (come, board) => {
	const { name } = await furnish(come, board), page = await come();
	await page.goto(fresh('/'));
	await waitsForNoScript(page);
	await page.locator('.card', { has: page.getByRole('link', { name: board, exact: true }) })
		.getByRole('link', { name: /^(CPU|H200)$/ }).click();
	await page.waitForURL(`**/leaderboard/${board}?gpu=*`);
	await waitsForNoScript(page);
	await page.getByRole('row', { name }).first().waitFor();
	const here = page.url();
	for (const [link, words] of [['By shape', 'Shape 1'],
			['By device', 'Best times of the top users'],
			['Projector', 'Newest record']]) {
		await go(page, link);
		await page.getByText(words).first().waitFor();
		await page.goto(here);
	}
	await page.getByText('How ranking works').click();
	for (const [link, type] of [['JSON', 'application/json'], ['CSV', 'text/csv'],
			['feed', 'application/atom+xml']]) {
		const answer = await page.request.get(
			await page.locator('main').getByRole('link', { name: link, exact: true })
			.getAttribute('href'));
		assert.equal(answer.status(), 200);
		assert.ok(answer.headers()['content-type'].startsWith(type),
			`${link}: ${answer.headers()['content-type']}`);
		assert.ok((await answer.text()).includes(name));
	}
	await page.getByText(`[![${board} on`).waitFor();
	await page.goto(fresh(`/user/${name}`));
	await waitsForNoScript(page);
	await page.getByRole('row', { name: new RegExp(`^${board}`) }).waitFor();
	await page.getByText('The weeks as a table').click();
	await page.getByRole('region', { name: 'Submissions by week' }).waitFor();
	await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Queue' })
		.click();
	await page.getByRole('heading', { name: 'Queue' }).waitFor();
	await waitsForNoScript(page);
});

scenes('a participant starts from the template and manages submissions', 'worked',
		async (come, board) => {
	const { author, number } = await furnish(come, board);
	await author.goto(`/leaderboard/${board}/submit`);
	await author.getByText(`Mode and devices are those of submission ${number}`).waitFor();
	assert.equal(await author.getByRole('radio', { name: /^Ranked/ }).isChecked(), true);
	await go(author, /^Load the template/);
	assert.equal(await codeIn(author), WRONG);
	await author.getByRole('radio', { name: /^Test/ }).check();
	await press(author, 'Submit');
	await author.waitForURL(/\/submission\/\d+$/);
	const wrong = Number(author.url().match(/\d+$/)[0]);
	assert.equal(await verdictOf(author), 'wrong answer');
	await author.getByText('1 became 1, not 2').first().waitFor();
	await author.goto(`/submission/${wrong}/note`);
	await fillAndSend(author, { Note: 'as it came' }, 'Save the note');
	await author.getByText('as it came').waitFor();
	const saving = author.waitForEvent('download');
	await author.locator('main').getByRole('link', { name: 'Download', exact: true }).click();
	assert.equal(readFileSync(await (await saving).path(), 'utf8'), WRONG);
	await author.goto('/mine');
	await author.locator('select[name=result]').selectOption('wrong answer');
	await author.locator('.filters summary').click();
	await author.locator('input[name=from]').fill(new Date().toISOString().slice(0, 10));
	await press(author, 'Filter');
	assert.deepEqual(await author.locator('tbody th a').allTextContents(), [String(wrong)]);
	await author.goto('/mine');
	for (const id of [number, wrong])
		await author.getByLabel(`Compare submission ${id}`, { exact: true }).check();
	await press(author, /^Compare/);
	await author.locator('del', { hasText: 'number + 1' })
		.or(author.locator('ins', { hasText: 'number + 1' })).first().waitFor();
});

scenes('after the deadline everybody can read the source', 'opened', async (come, board) => {
	const { admin, number } = await furnish(come, board), page = await come();
	await page.goto(fresh(`/submission/${number}`));
	assert.equal(await page.getByRole('region', { name: 'Source' }).count(), 0);
	await setDeadline(admin, board, '2020-01-01T00:00');
	await page.goto(fresh(`/submission/${number}`));
	assert.match(await page.getByRole('region', { name: 'Source' }).textContent(),
		/return number \+ 1/);
	await waitsForNoScript(page);
	await page.goto(fresh(`/leaderboard/${board}`));
	await page.getByText('2020-01-01 00:00 UTC').first().waitFor();
});

scenes('a creator edits a task and previews it', 'edited', async (come, board) => {
	const { admin } = await furnish(come, board);
	await admin.goto(`/admin/leaderboard/${board}/task`);
	await fillAndSend(admin, { Description: 'A *new* text.' }, 'Preview');
	await admin.getByText('The task stays version 1').waitFor();
	await admin.locator('em', { hasText: 'new' }).waitFor();
	await press(admin, 'Save');
	await admin.getByText('Saved. The task is still version 1').waitFor();
	await admin.goto(`/leaderboard/${board}/task`);
	await admin.locator('em', { hasText: 'new' }).waitFor();
});

scenes('a creator clones, switches, freezes and archives a leaderboard', 'kept',
		async (come, board) => {
	const { admin, name } = await furnish(come, board), page = await come();
	await admin.goto(`/admin/leaderboard/${board}/clone`);
	await fillAndSend(admin, { Name: `${board}-clone` }, 'Clone');
	await admin.goto(`/leaderboard/${board}-clone`);
	await admin.getByText('This is a preview').waitFor();
	await admin.goto(`/admin/leaderboard/${board}/edit`);
	const changed = EVAL.replace('became', 'turned into');
	await admin.getByLabel('Task, as a zip').setInputFiles(taskZip('', { 'eval.py': changed,
		'task.yml': `lang: py
description: Another.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{number: 1}]
benchmarks: [{number: 4444}]
` }));
	await admin.getByRole('checkbox', { name: /^Keep version 1 in use/ }).check();
	await press(admin, 'Save');
	await openMenu(admin, 'version 2');
	await go(admin, /^Compare with version 1/);
	await admin.locator('ins', { hasText: 'turned into' }).waitFor();
	await admin.goto(`/admin/leaderboard/${board}/versions`);
	await openMenu(admin, 'version 2');
	await go(admin, /^Switch to it/);
	await press(admin, 'Switch to version 2');
	await admin.getByText('Podium uses version 2 when its check has passed').waitFor();
	publish(board, '2');
	await admin.goto(fresh(`/leaderboard/${board}`));
	await admin.getByText('Another.').waitFor();
	await page.goto(fresh(`/leaderboard/${board}?version=1`));
	await page.getByRole('row', { name }).first().waitFor();
	await admin.goto(`/admin/leaderboard/${board}/publishing`);
	await press(admin, 'Freeze now…');
	await admin.getByText('The public ranking stays as it was').waitFor();
	await press(admin, 'Change it');
	await page.goto(fresh(`/leaderboard/${board}`));
	await page.getByText('The ranking was frozen').waitFor();
	await admin.goto(`/admin/leaderboard/${board}/publishing`);
	await press(admin, 'Lift the freeze…');
	await press(admin, 'Change it');
	await admin.getByRole('checkbox', { name: /^Practice/ }).check();
	await press(admin, 'Save');
	await setDeadline(admin, board, '2020-01-01T00:00');
	await page.goto(fresh(`/leaderboard/${board}`));
	await page.getByText('Submissions still run, for practice').waitFor();
	await admin.goto(`/admin/leaderboard/${board}/publishing`);
	await admin.getByRole('checkbox', { name: /^In the archive/ }).check();
	await press(admin, 'Save');
	await press(admin, 'Change it');
	await page.goto(fresh('/archive'));
	await page.getByRole('row', { name: new RegExp(`^${board}`) }).getByRole('link').click();
	await page.goto(fresh(page.url()));
	await page.getByText('It takes no submissions; its results stay').waitFor();
});

scenes('an admin invites, announces and notes, as the audit log shows', 'ruled',
		async (come, board) => {
	const { admin, author, name, number } = await furnish(come, board), guest = await come(),
		guestName = `guest-of-${board}`;
	await admin.goto('/admin/users');
	await fillAndSend(admin, { Name: guestName }, 'Create the account');
	await guest.goto(new URL(await admin.locator('#password-link').textContent()).pathname);
	await fillAndSend(guest,
		{ 'Password': 'a new long password',
		'Password again': 'a new long password' }, 'Choose this password');
	await guest.locator('.who').getByRole('link', { name: guestName, exact: true }).waitFor();
	await admin.goto(`/admin/users?q=${guestName}`);
	await openMenu(admin, guestName);
	await admin.getByLabel(`Role of ${guestName}`).selectOption('creator');
	await press(admin, `the role of ${guestName}`);
	await admin.getByText('Creators create leaderboards').waitFor();
	await press(admin, 'Set the role');
	await guest.goto('/admin/leaderboards/new');
	await guest.getByLabel('Task, as a zip').waitFor();
	await admin.goto('/admin/announcements');
	await admin.getByLabel('Where').selectOption(board);
	await fillAndSend(admin, { Text: `Ruled until Friday on ${board}.` },
		'Announce');
	await author.goto(`/leaderboard/${board}`);
	await author.getByRole('region', { name: 'Announcements' })
		.getByText(`Ruled until Friday on ${board}.`).waitFor();
	await admin.goto('/admin/submissions');
	await admin.getByRole('search', { name: 'Submissions' }).getByLabel('User').fill(name);
	await press(admin, 'Search');
	await go(admin, String(number));
	await fillAndSend(admin, { Note: 'looked at' }, 'Save note');
	await admin.getByText('looked at').waitFor();
	await admin.getByLabel('Hold for review').check();
	await fillAndSend(admin, { Reason: 'It is quick.' }, 'Take it out of the ranking…');
	await press(admin, /^Hold it/);
	await author.goto(`/leaderboard/${board}`);
	await author.getByText(/^Nobody is ranked/).waitFor();
	await admin.goto('/admin/review');
	await press(admin, /^Release/);
	await author.goto(`/leaderboard/${board}`);
	await author.getByRole('row', { name }).first().waitFor();
	await admin.goto('/admin/audit');
	for (const [what, words] of [['user.role', 'role: creator, was participant'],
			['submission.hold', 'It is quick.'], ['review.release', 'it was ranked']]) {
		await admin.getByRole('search').getByLabel('Action').selectOption(what);
		await press(admin, 'Search');
		await admin.getByRole('row', { name: words }).first().waitFor();
	}
	await admin.goto('/admin/workers');
	await go(admin, /^last 24 hours/);
	await admin.getByRole('heading', { level: 1 }).waitFor();
});
