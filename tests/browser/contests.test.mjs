// A contest in a browser: its form, its registration, the reveal with the keyboard and without
// scripts, and a whole contest with two teams and a jury. The worker's GPUs and podium-run are
// pretended:
//
//	python3 tests/lib/instance.py --pretend node tests/browser/contests.test.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { sql } from './full.mjs';
import { closeBrowser, EVAL, fillAndSend, logInAsAdmin, operate, publish, register,
	scene, submit, verdictOf, zipOf } from './visitor.mjs';

test.after(closeBrowser);

const secondsFromNow = (seconds) =>
	new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19);
const places = (page) => page.locator('tbody tr').evaluateAll((rows) => rows.map((row) =>
	[row.querySelector('.rank'), row.querySelector('.name a') ?? row.querySelector('.name')]
		.map((cell) => cell.textContent.trim())));
const step = (page) => page.getByText(/^step \d+ of \d+$/).textContent();

scene('a host makes a contest, and participants register', async (come) => {
	const host = await come(), guest = await come({ scripts: false });
	await logInAsAdmin(host);
	await host.goto('/contests');
	await host.getByRole('link', { name: 'New contest' }).click();
	await host.getByLabel('Name in the address', { exact: true }).fill('spring');
	await host.getByLabel('Title').fill('Spring contest');
	await host.getByLabel('Start (UTC)', { exact: true }).fill('2089-03-01T09:00');
	await host.getByLabel('End (UTC)', { exact: true }).fill('2089-03-01T08:00');
	await host.getByLabel('Rules').fill('Be *fast*.');
	await host.getByRole('button', { name: 'Create the contest' }).click();
	await host.getByRole('link', { name: 'The end must be after the start.' }).waitFor();
	await host.getByLabel('End (UTC)', { exact: true }).fill('2089-03-01T14:00');
	await host.getByRole('button', { name: 'Create the contest' }).click();
	await host.getByRole('heading', { name: 'Spring contest' }).waitFor();
	assert.equal(await host.locator('.markdown em').textContent(), 'fast');

	await register(guest, 'wilma');
	await guest.goto('/contest/spring');
	await guest.getByRole('button', { name: 'Register' }).click();
	await guest.getByText('You are registered.').waitFor();
});

scene('the page of a contest counts down and changes at its start', async (come) => {
	const guest = await come(), plain = await come({ scripts: false });
	const countdown = (page, hasText) => page.locator('[role=timer]').filter({ hasText });
	operate('contest', 'create', 'soon', 'title=Soon', `starts=${secondsFromNow(15)}`,
		'ends=2089-01-01', 'registration=closed');
	for (const page of [guest, plain]) {
		await page.goto('/contest/soon');
		await countdown(page, /Starts in \d+ seconds?\./).waitFor();
	}
	const left = () => guest.locator('[role=timer] b').textContent();
	const first = await left();
	await guest.waitForFunction((text) => document.querySelector('[role=timer] b').textContent !== text,
		first);
	for (const page of [guest, plain])
		await countdown(page, /Ends in \d+ years\./).waitFor();
	// The script says the same as the server did.
	const said = await left();
	await guest.evaluate(() => { document.querySelector('[role=timer] b').textContent = ''; });
	await guest.waitForFunction(() => document.querySelector('[role=timer] b').textContent);
	assert.equal(await left(), said);
});

scene('the reveal takes a step for each key, and follows links without scripts', async (come) => {
	const host = await come(), guest = await come(), plain = await come({ scripts: false });
	await register(guest, 'fred');
	operate('contest', 'create', 'past', 'title=Past contest', 'starts=2020-01-01',
		'ends=2020-01-02');
	operate('contest', 'register', 'past', 'fred', 'wilma');
	await logInAsAdmin(host);
	await host.goto('/contest/past');
	await host.getByRole('link', { name: 'Reveal' }).click();
	await host.waitForURL(/reveal$/);
	assert.deepEqual(await places(host), [['', 'fred'], ['', 'wilma']]);
	await host.keyboard.press('Space');
	await host.waitForURL(/step=1$/);
	assert.deepEqual(await places(host), [['', 'fred'], ['=1', 'wilma']]);
	await host.keyboard.press('ArrowRight');
	await host.waitForURL(/step=2$/);
	assert.deepEqual(await places(host), [['=1', 'fred'], ['=1', 'wilma']]);
	await host.keyboard.press('ArrowRight'); // there is no further step
	await host.keyboard.press('ArrowLeft');
	await host.waitForURL(/step=1$/);
	await host.keyboard.press('PageDown');
	await host.waitForURL(/step=2$/);
	await host.keyboard.down('ArrowLeft');
	await host.waitForURL(/step=1$/);
	await host.keyboard.down('ArrowLeft'); // a key that is held down repeats
	await host.keyboard.up('ArrowLeft');
	await host.keyboard.press('ArrowRight');
	await host.waitForURL(/step=2$/);

	await logInAsAdmin(plain);
	await plain.goto('/contest/past/reveal');
	await plain.getByRole('link', { name: 'Next', exact: true }).click();
	assert.equal(await step(plain), 'step 1 of 2');
	await plain.getByRole('link', { name: 'Back', exact: true }).click();
	assert.equal(await step(plain), 'step 0 of 2');
});

// ---- a whole contest ----

const TASK = (size) => `lang: py
description: Move ${size} tiles.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: ../eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: ${size}}]
`;
const SET = zipOf('set.zip', {
	'autumn.yaml': 'name: Autumn contest\ndescription: Be *fast*.\nproblems:\n'
		+ '  - {directory: tiles, name: tiles, gpus: [H200]}\n'
		+ '  - {directory: waves, name: waves, gpus: [H200]}\n',
	'eval.py': EVAL, 'tiles/task.yml': TASK(64), 'waves/task.yml': TASK(128),
});
const BOARDS = ['tiles', 'waves'], CODE = 'leaves-are-falling';
const source = (ns) => `# ${JSON.stringify({ cases: [{ runs: 100, mean_ns: ns, std_ns: 9, err_ns: 1,
	best_ns: ns - 8, worst_ns: ns + 9 }] })}\n`;
const statusOf = async (page, path) => (await page.goto(path)).status();
const main = (page) => page.locator('main');
const minutesFromNow = (minutes) =>
	new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 16);

// Lets `minutes` minutes pass: moves all times in the database that many minutes into the past.
function pass(minutes) {
	const earlier = (table, ...columns) => `UPDATE ${table} SET ` + columns.map((column) =>
		`${column} = ${column} - INTERVAL ${minutes} MINUTE`).join(', ');
	sql([earlier('contests', 'starts_at', 'ends_at'),
		earlier('leaderboards', 'deadline', 'frozen_at'), earlier('submissions', 'submitted_at'),
		earlier('jobs', 'queued_at', 'started_at', 'finished_at'),
		earlier('publications', 'looked_at')].join('; '));
}

async function reloadUntil(page, locator) {
	const end = Date.now() + 30_000;
	while (!await locator.isVisible()) {
		assert.ok(Date.now() < end, `${page.url()} never shows ${locator}`);
		await page.reload();
	}
}

async function rank(page, board, ns) {
	const number = await submit(page, board, { code: source(ns), mode: 'Ranked' });
	assert.equal(await verdictOf(page), 'passed');
	return number;
}

// Submits without the page's form. Returns the status of the answer, which must say to register.
async function sendTo(page, board) {
	const csrf = await page.locator('input[name=csrf]').first().inputValue();
	const answer = await page.request.post(`/leaderboard/${board}/submit`,
		{ multipart: { csrf, mode: 'ranked', gpu: 'H200', code: source(9) } });
	assert.match(await answer.text(), /Register for the contest/);
	return answer.status();
}

async function scoreboard(page) {
	await page.goto('/contest/autumn');
	return places(page);
}

async function teamUp(first, second, name) {
	await first.goto('/contest/autumn/teams');
	await fillAndSend(first, { 'Name of the team': name }, 'Create the team');
	const code = await main(first).locator('code').textContent();
	await second.goto('/contest/autumn/teams');
	await fillAndSend(second, { Code: code }, 'Join');
	await second.getByText(`Your team: ${name}`).waitFor();
	return code;
}

async function fileOf(page, link) {
	const [download] = await Promise.all([page.waitForEvent('download'),
		main(page).getByRole('link', { name: link, exact: true }).click()]);
	return { name: download.suggestedFilename(), path: await download.path() };
}

async function certificate(page) {
	await page.goto('/contest/autumn');
	const { name, path } = await fileOf(page, 'Your certificate (PDF)');
	const text = execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' });
	return [name, text.replace(/\s+/g, ' ').trim()];
}

scene('a contest runs from a problem set to certificates', async (come) => {
	const host = await come(), judy = await come(), eve = await come();
	const [ada, ben, cyd, dan] = [await come(), await come(), await come(), await come()];
	await logInAsAdmin(host);
	for (const [page, name] of [[judy, 'judy'], [eve, 'eve'], [ada, 'ada'], [ben, 'ben'],
		[cyd, 'cyd'], [dan, 'dan']])
		await register(page, name);

	// The host makes a contest of a problem set, and lets judy judge both problems.
	await host.goto('/admin/sets/new');
	await host.getByLabel('Problem set, as a zip').setInputFiles(SET);
	await host.getByRole('button', { name: 'Preview' }).click();
	await host.getByRole('button', { name: 'Create 2 leaderboards' }).click();
	await host.getByRole('button', { name: 'Make a contest of it' }).waitFor();
	publish('tiles'); // making the contest hides it again
	assert.equal(await statusOf(eve, '/leaderboard/tiles'), 200);
	await host.getByRole('button', { name: 'Make a contest of it' }).click();
	assert.deepEqual(await host.getByLabel(/^Problem \d$/).evaluateAll((all) =>
		all.map((one) => one.value)), ['tiles', 'waves', '', '', '']);
	await host.getByRole('radio', { name: /^With a code/ }).check();
	await host.getByRole('radio', { name: /^Points by rank/ }).check();
	await fillAndSend(host, { 'Name in the address': 'autumn', 'Start (UTC)': minutesFromNow(60),
		'End (UTC)': minutesFromNow(360), Code: CODE, 'Points of rank 1, 2, …': '10 6',
		'Freeze the scoreboard, minutes before the end': '60',
		'Largest team': '2' }, 'Create the contest');
	await host.getByRole('heading', { name: 'Autumn contest' }).waitFor();
	assert.equal(await host.locator('.markdown em').textContent(), 'fast');
	await host.getByRole('link', { name: 'Manage' }).click();
	await fillAndSend(host, { 'Add a user to the jury of all problems': 'judy' },
		'Put into the jury');
	await host.getByRole('rowheader', { name: 'judy' }).waitFor();
	publish('waves'); // it appears when the contest starts

	// Before the start, only the jury sees the problems.
	for (const board of BOARDS) {
		assert.equal(await statusOf(ada, `/leaderboard/${board}`), 404);
		assert.equal(await statusOf(judy, `/leaderboard/${board}`), 200);
	}
	await ada.goto('/contest/autumn');
	await main(ada).getByText('2 problems, hidden until the start.').waitFor();
	await judy.goto('/contest/autumn');
	await main(judy).getByRole('link', { name: 'waves' }).waitFor();

	// Two teams, each registered by one of its members.
	const full = await teamUp(ada, ben, 'Ants');
	await dan.goto('/contest/autumn/teams');
	await fillAndSend(dan, { Code: full }, 'Join');
	await dan.getByRole('alert').getByText(/full/).first().waitFor();
	await teamUp(cyd, dan, 'Bees');
	await ada.goto('/contest/autumn');
	await fillAndSend(ada, { Code: 'no-such-code' }, 'Register your team');
	await ada.getByRole('alert').waitFor();
	await fillAndSend(ada, { Code: CODE }, 'Register your team');
	await ben.goto('/contest/autumn');
	await ben.getByText('Your team Ants is registered.').waitFor();
	await dan.goto('/contest/autumn');
	await fillAndSend(dan, { Code: CODE }, 'Register your team');
	await dan.getByText('Your team Bees is registered.').waitFor();

	// The contest starts. Only who is registered submits.
	pass(61);
	await eve.goto('/contest/autumn');
	for (const board of BOARDS)
		await reloadUntil(eve, main(eve).getByRole('list').getByRole('link', { name: board }));
	await eve.goto('/leaderboard/tiles/submit');
	await main(eve).getByRole('link', { name: 'Register for Autumn contest' }).click();
	await main(eve).getByLabel('Code', { exact: true }).waitFor();
	assert.equal(await sendTo(eve, 'tiles'), 422);
	const number = await rank(ada, 'tiles', 1000);
	await rank(ben, 'waves', 4000);
	await rank(cyd, 'tiles', 2000);
	await rank(dan, 'waves', 8000);
	assert.deepEqual(await scoreboard(eve), [['1', 'Ants'], ['2', 'Bees']]);
	const size = eve.viewportSize();
	await eve.setViewportSize({ width: 390, height: 844 });
	for (const board of BOARDS) // a phone shows all of them, too
		await main(eve).locator(`td[data-label^="${board} "]`).first().waitFor();
	await eve.setViewportSize(size);
	await ben.goto('/contest/autumn/teams');
	await ben.getByText(/^The first ranked submission locked the team/).waitFor();

	// ada asks, and judy answers for all.
	await ada.goto('/leaderboard/tiles/questions');
	await fillAndSend(ada, { 'Ask a question': 'May tiles overlap?' }, 'Ask');
	await judy.goto('/leaderboard/tiles/questions');
	await judy.getByLabel('Answer', { exact: true }).fill('They may not.');
	await judy.getByRole('radio', { name: /^Everybody/ }).check();
	await judy.getByRole('button', { name: /^Send/ }).click();
	await cyd.goto('/leaderboard/tiles/questions');
	await main(cyd).getByText('They may not.').waitFor();
	assert.doesNotMatch(await main(cyd).innerText(), /\bada\b/);

	// The jury reads all and changes nothing.
	for (const path of [`/submission/${number}/source`, '/admin/submissions?leaderboard=waves']) {
		assert.equal(await statusOf(judy, path), 200);
		assert.equal(await statusOf(eve, path), 403);
	}
	for (const path of ['/admin/leaderboard/tiles/edit', '/admin/contest/autumn',
		'/admin/leaderboard/tiles/publishing', '/contest/autumn/reveal'])
		assert.equal(await statusOf(judy, path), 403, path);
	await judy.goto(`/submission/${number}`);
	const csrf = await judy.locator('input[name=csrf]').first().inputValue();
	for (const [path, fields] of [
		[`/admin/submission/${number}`, { action: 'hide', reason: 'It is odd.' }],
		[`/submission/${number}/cancel`, {}],
		['/admin/leaderboard/tiles/exceptions', { action: 'disqualify', user: 'Ants' }],
		['/admin/leaderboard/tiles/publishing', { action: 'save', visibility: 'hidden' }],
		['/contest/autumn/teams', { action: 'add', team: 'Ants', user: 'eve', reason: 'x' }],
		['/admin/contest/autumn', { action: 'add', user: 'eve' }],
		['/admin/contest/autumn', { action: 'final' }]]) {
		const form = { csrf, confirm: 'yes', ...fields };
		assert.equal((await judy.request.post(path, { form })).status(), 403, path);
	}
	assert.deepEqual(await scoreboard(eve), [['1', 'Ants'], ['2', 'Bees']]);

	// The scoreboard freezes. Later results are for their authors and the jury.
	pass(245);
	await eve.goto('/contest/autumn');
	await eve.getByText(/^The scoreboard has been frozen since/).waitFor();
	await rank(cyd, 'tiles', 500);
	await rank(dan, 'waves', 600);
	await main(dan).getByText(/^600 ± /).first().waitFor();
	for (const page of [eve, ada, dan])
		assert.deepEqual(await scoreboard(page), [['1', 'Ants'], ['2', 'Bees']]);
	await eve.goto('/leaderboard/tiles?view=live');
	assert.match(await main(eve).innerText(), /Ants[^]*Bees/);
	await judy.goto('/admin/leaderboard/tiles/unfrozen');
	assert.match(await main(judy).innerText(), /Bees[^]*Ants/);
	await judy.goto('/contest/autumn');
	await judy.getByRole('link', { name: 'See it without the freeze' }).click();
	await judy.getByText('This scoreboard is not public.').waitFor();
	assert.deepEqual(await places(judy), [['1', 'Bees'], ['2', 'Ants']]);

	// The contest ends, and the host reveals the places.
	pass(60);
	assert.deepEqual(await scoreboard(eve), [['1', 'Ants'], ['2', 'Bees']]);
	await dan.goto('/leaderboard/tiles/submit');
	await main(dan).getByText(/deadline/).first().waitFor();
	assert.equal(await dan.getByRole('button', { name: 'Submit', exact: true }).count(), 0);
	await host.goto('/contest/autumn');
	await host.getByRole('link', { name: 'Reveal' }).click();
	await host.waitForURL(/reveal$/);
	assert.deepEqual(await places(host), [['', 'Ants'], ['', 'Bees']]);
	await host.keyboard.press('Space');
	await host.waitForURL(/step=1$/);
	assert.deepEqual(await places(host), [['', 'Bees'], ['2', 'Ants']]);
	await host.keyboard.press('Space');
	await host.waitForURL(/step=2$/);
	assert.deepEqual(await places(host), [['1', 'Bees'], ['2', 'Ants']]);
	assert.deepEqual(await scoreboard(eve), [['1', 'Ants'], ['2', 'Bees']]);
	await host.getByRole('link', { name: 'Declare the standings final' }).click();
	await host.getByRole('button', { name: 'Declare the standings final…' }).click();
	await host.getByRole('button', { name: 'Declare them final' }).click();
	await host.getByText('The standings have been final since').waitFor();

	// Everybody downloads the standings, and the teams their certificates.
	await eve.goto('/contest/autumn');
	await reloadUntil(eve, eve.getByRole('heading', { name: 'Final standings' }));
	assert.deepEqual(await places(eve), [['1', 'Bees'], ['2', 'Ants']]);
	const csv = await fileOf(eve, 'CSV');
	assert.equal(csv.name, 'autumn.csv');
	assert.deepEqual(readFileSync(csv.path, 'utf8').trim().split('\r\n').slice(1), [
		'1,false,Bees,20,1,10,500,1,10,600', '2,false,Ants,12,2,6,1000,2,6,4000']);
	await main(eve).getByRole('link', { name: 'JSON', exact: true }).click();
	const { final, rows } = JSON.parse(await eve.locator('body').innerText());
	assert.deepEqual([final, rows.map((row) => [row.place, row.user, row.points])],
		[true, [[1, 'Bees', 20], [2, 'Ants', 12]]]);
	for (const [page, team, members, place, points] of [[ada, 'Ants', 'ada, ben', '2nd', 12],
		[ben, 'Ants', 'ada, ben', '2nd', 12], [cyd, 'Bees', 'cyd, dan', '1st', 20]]) {
		const [name, words] = await certificate(page);
		assert.equal(name, `autumn-${team}.pdf`);
		assert.match(words, new RegExp(`Autumn contest This certifies that ${team} ${members} took `
			+ `${place} place with ${points} points, of 2 contestants`));
	}
	for (const [page, team] of [[ada, 'Bees'], [judy, 'Ants'], [eve, 'eve']])
		assert.notEqual((await page.request.get(`/contest/autumn/certificate/${team}`)).status(),
			200);
});
