// The ranking of 231 participants on a leaderboard's page, with and without scripts: the filters by
// name and language, and the way to your own row.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { looksRight } from './checks.mjs';
import { sql } from './full.mjs';
import { closeBrowser, createLeaderboard, logInAsAdmin, logIn, PASSWORD, register, RIGHT, scene,
	taskZip, visit, EVAL } from './visitor.mjs';

after(closeBrowser);

const ADDRESS = '/leaderboard/ranked?gpu=H200';
const TASK = `lang: py
description: "Add two vectors."
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{number: 1}]
benchmarks: [{number: 1000000}]
templates: {Python: template.py}
podium: {bytes: 12 * number}
`;
// ada is 131st. One submission of four is written in Triton.
const ROWS = `
SET @board = (SELECT id FROM leaderboards WHERE name = 'ranked'),
	@version = (SELECT task_version_id FROM leaderboards WHERE name = 'ranked');
UPDATE task_engines SET engine = 'isolated' WHERE task_version_id = @version;
INSERT INTO users (name, password_hash) SELECT CONCAT('participant', seq), '!' FROM seq_1_to_230;
INSERT INTO blobs (sha256, size, content) SELECT UNHEX(SHA2(name, 256)), LENGTH(name), name
	FROM users WHERE name LIKE 'participant%' OR name = 'ada';
INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode, dialect,
	submitted_at)
  SELECT @board, @version, id, 's.py', UNHEX(SHA2(name, 256)), 'ranked',
	IF(CONCAT('0', SUBSTR(name, 12)) % 4, 'pytorch', 'triton'), UTC_TIMESTAMP() FROM users
  WHERE name LIKE 'participant%' OR name = 'ada';
INSERT INTO jobs (submission_id, user_id, gpu, state, verdict, score_ns, score_err_ns, engine,
	finished_at)
  SELECT s.id, u.id, 'H200', 'done', 'passed',
	3000 + IF(u.name = 'ada', 1305, CONCAT('0', SUBSTR(u.name, 12)) * 10), 1, 'isolated',
	s.submitted_at
  FROM submissions s JOIN users u ON u.id = s.user_id WHERE s.leaderboard_id = @board;
INSERT INTO ranking (leaderboard_id, task_version_id, gpu, user_id, submission_id, job_id, score_ns,
	score_err_ns, submitted_at, engine, dialect, position, place)
  SELECT @board, @version, 'H200', s.user_id, s.id, j.id, j.score_ns, j.score_err_ns,
	s.submitted_at, j.engine, s.dialect,
    ROW_NUMBER() OVER (ORDER BY j.score_ns), ROW_NUMBER() OVER (ORDER BY j.score_ns)
  FROM submissions s JOIN jobs j ON j.submission_id = s.id WHERE s.leaderboard_id = @board;
UPDATE ranking r SET r.reason = 'chain', r.other_id = r.submission_id
  WHERE r.task_version_id = @version AND r.position IN (3, 203);`;

let furnished;

function furnish() {
	furnished ??= (async () => {
		const { page, context } = await visit({ watch: false });
		await logInAsAdmin(page);
		await createLeaderboard(page, 'ranked',
			{ task: taskZip('', { 'task.yml': TASK, 'eval.py': EVAL, 'template.py': RIGHT }),
			others: 'H200' });
		await context.clearCookies();
		await register(page, 'ada');
		await context.close();
		sql(ROWS);
	})();
	return furnished;
}

const names = async (page) => (await page.locator('.ranking tbody th').allInnerTexts())
	.map((name) => name.split('\n')[0]);

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts';

	scene(`filters by name and language find the matching rows, ${how}`, async (come) => {
		await furnish();
		const page = await come({ scripts });
		await page.goto(ADDRESS);
		await page.getByLabel('User').fill('PANT22');
		await page.getByLabel('Language').selectOption({ label: 'Triton' });
		await page.getByRole('button', { name: 'Filter' }).click();
		await page.waitForURL(/user=PANT22/);
		assert.deepEqual(await names(page),
			['Speed of light memory, 4.8 TB/s', 'participant220', 'participant224', 'participant228']);
		assert.equal(await page.getByLabel('User').inputValue(), 'PANT22');
		assert.equal(await page.getByLabel('Language').inputValue(), 'triton');
		await page.getByRole('link', { name: 'Show all' }).click();
		assert.equal((await names(page)).length, 101);
	});

	scene(`every page of the ranking links to your own row, ${how}`, async (come) => {
		await furnish();
		const page = await come({ scripts });
		await logIn(page, 'ada', PASSWORD);
		await page.goto(ADDRESS);
		await page.getByText('131 of 231').waitFor();
		assert.deepEqual((await names(page)).slice(-1), ['ada (you)']);
		await page.getByRole('link', { name: 'You are on page 2' }).click();
		await page.getByText('Page 2 of 3').waitFor();
		assert.equal((await names(page)).filter((name) => name === 'ada (you)').length, 1);
		await page.getByRole('link', { name: '131 of 231' }).click();
		assert.ok(await page.locator('#you')
			.evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight));
	});
}

scene('the keyboard alone fills in and sends the form', async (come) => {
	await furnish();
	const page = await come({ scripts: false });
	await page.goto(ADDRESS);
	await page.getByLabel('User').focus();
	await page.keyboard.type('participant7');
	await page.keyboard.press('Enter');
	await page.waitForURL(/user=participant7/);
	assert.equal((await names(page)).length, 12);
});

scene('filtered, later and empty pages have no faults at any width and colour', async (come) => {
	await furnish();
	const page = await come();
	await logIn(page, 'ada', PASSWORD);
	for (const path of [ADDRESS, `${ADDRESS}&page=3`, `${ADDRESS}&user=7&language=triton&period=day`,
		`${ADDRESS}&user=nobody`]) {
		await page.goto(path);
		await page.getByText('How ranking works').click();
		await looksRight(page);
	}
});

scene('the reasons for ranks are folded, and a row leads to its own', async (come) => {
	await furnish();
	for (const scripts of [true, false]) {
		const page = await come({ scripts, width: 390 });
		await page.goto(ADDRESS);
		const reason = page.getByText(/Ties with participant\d+, but not with the fastest of that rank/);
		assert.equal(await reason.first().isVisible(), false);
		await page.getByText('1 rank with a reason').waitFor();
		await page.getByRole('link', { name: 'why?' }).click();
		await reason.first().waitFor();
		const { width } = await reason.first().boundingBox();
		assert.ok(width <= 390, `${width} px`);
	}
});

scene('a phone shows rank, user and time of each row', async (come) => {
	await furnish();
	const page = await come({ width: 390 });
	await page.goto(ADDRESS);
	const cells = page.locator('.ranking tbody tr').nth(5).locator('td, th');
	assert.match(await cells.nth(2).innerText(), /µs/);
	const { x, width } = await cells.nth(2).boundingBox();
	assert.ok(x + width <= 390, `the time ends at ${x + width} px`);
});
