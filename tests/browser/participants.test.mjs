// What participants do with their submissions in a browser: submit again, compare, withdraw, copy a
// source; and the numbers of one ranking on all pages, in all formats and in the terminal. The
// worker's GPUs and podium-run are pretended:
//
//	python3 tests/lib/instance.py --pretend node tests/browser/participants.test.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { looksRight } from './checks.mjs';
import { rebuildRanking, sql } from './full.mjs';
import { closeBrowser, codeIn, fileField, fillAndSend, EVAL, logIn, logInAsAdmin, publish,
	register, scene, submit, taskZip, url, verdictOf, visit, WRONG } from './visitor.mjs';

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
async function createBoard(name, files) {
	const { page, context } = await visit({ watch: false });
	await logInAsAdmin(page);
	await page.goto('/admin/leaderboards/new');
	await page.getByLabel('Name', { exact: true }).fill(name);
	await page.getByLabel('Task, as a zip').setInputFiles(taskZip('', files));
	await page.locator('input[name=gpu][value=H200]').check();
	await page.getByRole('button', { name: 'Preview' }).click();
	await page.getByRole('button', { name: 'Create hidden' }).click();
	await page.waitForURL(`**/leaderboard/${name}**`);
	publish(name);
	await context.close();
}

let furnished;

// Creates, once for this file, a leaderboard and two results of ada.
function furnish() {
	furnished ??= (async () => {
		await createBoard(BOARD, { 'task.yml': TASK, 'eval.py': EVAL, 'template.py': WRONG });
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
		for (const id of [second, first])
			await page.getByLabel(`Compare submission ${id}`, { exact: true }).check();
		await page.getByRole('button', { name: 'Compare' }).click();
		await page.waitForURL(({ pathname, searchParams }) => pathname === '/compare'
			&& searchParams.get('a') === String(first)
			&& searchParams.get('b') === String(second));
		await main(page).getByText('25 % faster').first().waitFor();
		await main(page).getByText(`${second} is 25 % faster than ${first}.`).waitFor();
		await main(page).getByText(`${second} has rank 1, ${first} is not ranked.`).waitFor();
		await main(page).locator('del b', { hasText: '+ 1.5' }).waitFor();
		await main(page).locator('ins', { hasText: 'over two lines' }).waitFor();
	}
});

// Faults of the entries on the open page, on a phone. Runs in the page.
function entryFaults() {
	const faults = [], box = (element) => element.getBoundingClientRect();
	for (const entry of document.querySelectorAll('.entries tbody')) {
		const results = [...entry.querySelectorAll('.state, .rank, .number')]
			.filter((cell) => cell.textContent.trim());
		for (const cell of results) {
			if (box(cell).left < 0 || box(cell).right > innerWidth)
				faults.push(`${cell.className} is outside: ${cell.textContent}`);
			for (const about of entry.querySelectorAll('.about'))
				if (box(about).bottom > box(cell).top + 1)
					faults.push(`${about.textContent} is below ${cell.textContent}`);
		}
		if (!results.length)
			faults.push(`no result: ${entry.textContent}`);
		for (const target of entry.querySelectorAll('a, label'))
			if (box(target).height < 24)
				faults.push(`${target.outerHTML} is ${box(target).height} px high`);
	}
	for (const region of document.querySelectorAll('.scroll:has(.entries)'))
		if (region.scrollWidth > region.clientWidth)
			faults.push(`${region.ariaLabel} scrolls`);
	return faults;
}

scene('on a phone, an entry shows what it is, then a line for each device', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await page.setViewportSize({ width: 390, height: 844 });
	for (const path of ['/mine', `/leaderboard/${BOARD}/mine`,
		`/leaderboard/${BOARD}?view=submissions`, '/user/ada']) {
		await page.goto(path);
		await main(page).locator('.entries tbody .number').first().waitFor();
		assert.deepEqual(await page.evaluate(entryFaults), [], path);
	}
});

scene('the pages of participants pass the checks at any width and colour', async (come) => {
	const [first, second] = await furnish();
	const page = await comeAs(come, 'ada');
	for (const path of ['/mine', '/mine?mode=test', `/leaderboard/${BOARD}/mine`,
		`/compare?a=${first}&b=${second}`, `/compare?b=${second}`, `/compare?pick=${first}`,
		'/compare?a=x&b=y', '/user/ada', `/leaderboard/${BOARD}?view=submissions`,
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
	await main(page).getByRole('link', { name: 'Improve it' }).click();
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
	const icon = (name) => page.locator(`link[rel=icon][href='/static/state-${name}.svg']`);
	const out = main(page).locator('#printed-stdout-0'),
		err = main(page).locator('#printed-stderr-0');
	await out.getByText('two').waitFor();
	assert.match(await page.title(), /^test 1\/9 · Submission \d+ · Podium$/);
	assert.deepEqual([await page.getByRole('progressbar').getAttribute('value'),
		await icon('open').count()], ['1', 1]);
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
	assert.match(await page.title(), /^passed · Submission \d+ · Podium$/);
	assert.deepEqual([await icon('open').count(), await icon('passed').count()], [0, 1]);
});

// Replaces the browser's notifications, which headless browsers do not show. The reader answers
// the question with `answer`.
const withNotifications = (page, answer, focused = false) => page.addInitScript(([said, has]) => {
	window.told = [];
	window.asked = 0;
	document.hasFocus = () => has;
	window.Notification = class {
		static permission = localStorage.getItem('said') ?? 'default';
		static async requestPermission() {
			window.asked++;
			localStorage.setItem('said', said);
			return this.permission = said;
		}
		constructor(title, { body }) {
			window.told.push(`${title}: ${body}`);
		}
	};
}, [answer, focused]);
const told = (page) => page.evaluate(() => window.told);

// Submits a job that waits for the file `name`, lets `act` use its page, and lets the job end.
async function untilItEnds(page, name, act) {
	await submit(page, BOARD,
		{ code: printing(name, { stdout: 'x', stderr: '' }), mode: 'Test' });
	await main(page).locator('#printed-stdout-0').waitFor();
	await act(main(page).locator('[data-notify]'));
	writeFileSync(ending(name), '');
	assert.equal(await verdictOf(page), 'passed');
}

scene('a notification comes only for who has asked for it, and is remembered', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await withNotifications(page, 'granted');
	await untilItEnds(page, 'unasked', async (button) => {
		assert.equal(await button.textContent(), 'Notify me');
	});
	assert.deepEqual([await told(page), await page.evaluate(() => window.asked)], [[], 0]);
	await untilItEnds(page, 'asked', async (button) => {
		await button.click();
		await page.getByRole('button', { name: 'Notification on', pressed: true }).waitFor();
		await looksRight(page);
	});
	await page.waitForFunction(() => window.told.length);
	assert.match((await told(page)).join(),
		/^passed · Submission \d+ · Podium: Every case was right\./);
	await untilItEnds(page, 'again', async (button) => {
		assert.equal(await button.textContent(), 'Notification on');
	});
	await page.waitForFunction(() => window.told.length);
	await untilItEnds(page, 'off', (button) => button.click());
	await page.waitForTimeout(500);
	assert.deepEqual(await told(page), []);
});

scene('a reader who sees the page or refuses gets no notification', async (come) => {
	await furnish();
	const page = await comeAs(come, 'ada');
	await withNotifications(page, 'denied');
	await untilItEnds(page, 'refused', async (button) => {
		await button.click();
		await main(page).getByText('Your browser blocks notifications of this site.').waitFor();
		assert.equal(await button.textContent(), 'Notify me');
	});
	assert.deepEqual(await told(page), []);
	const second = await comeAs(come, 'ada');
	await withNotifications(second, 'granted', true);
	await untilItEnds(second, 'seen-there', (button) => button.click());
	await second.waitForTimeout(500);
	assert.deepEqual(await told(second), []);
	const plain = await comeAs(come, 'ada', { scripts: false });
	await plain.goto(page.url());
	assert.equal(await plain.locator('[data-notify]:visible').count(), 0);
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
	await main(page).getByText(/(; |queue, )starts /).waitFor();
	await page.locator('summary', { hasText: 'What each mode does' }).click();
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
		await main(page).locator('#submission .keyword').first().waitFor();
		await main(page).locator('summary', { hasText: 'utils.' }).click();
		await main(page).locator(`[id="utils.${language === 'py' ? 'py' : 'h'}-L1"]`).waitFor();
		await looksRight(page);
	}
});

scene('the help copies the commands of an example and marks the section in view', async (come) => {
	const page = await come();
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.goto('/help/terminal');
	const section = main(page).locator('[id="4-submit"] ~ .snippet').nth(1);
	assert.match(await section.locator('pre').textContent(), /^\$ podium submit [^]*\nPassed\./);
	await section.getByRole('button', { name: 'Copy' }).click();
	await main(page).getByText('Copied').waitFor();
	assert.match(await page.evaluate(() => navigator.clipboard.readText()),
		/^podium submit mine\.py --mode ranked .*\npodium ranking vectoradd_py$/);
	const marked = () => page.locator('.sections [aria-current]').allTextContents();
	for (const title of ['Come back later', '1. Sign in']) {
		await page.locator('.sections').getByRole('link', { name: title }).click();
		await page.waitForFunction((wanted) =>
			document.querySelector('.sections [aria-current]')?.textContent === wanted, title);
		assert.deepEqual(await marked(), [title]);
	}
	await page.keyboard.press('End');
	await page.waitForFunction(() =>
		document.querySelector('.sections [aria-current]')?.textContent === 'In your shell');
	await looksRight(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await page.getByRole('button', { name: 'open the menu of the help' }).click();
	await page.locator('.sections').getByRole('link', { name: '4. Submit' }).click();
	await page.locator('.sections').waitFor({ state: 'hidden' });
	assert.match(page.url(), /#4-submit$/);
});

// ---- one ranking has the same numbers everywhere ----

const NUMBERS = 'numbers';
const ISOLATED = `lang: py
description: A ranking with ties, noise, and a time too short to measure.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: "@STOCK@"}
  - {name: utils.py, source: "@STOCK@"}
  - {name: reference.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 1024}]
podium: {engine: isolated}
`;
const TIE = { ratio: 1, ratio_low: 0.994, ratio_high: 1.006 },
	FASTER = { ratio: 0.988, ratio_low: 0.985, ratio_high: 0.991 };
// Half of the interval is 1.96 times the error. The judge's low_ns and high_ns do not count.
const result = (ns, err, compare = TIE, more = {}) => `# ${JSON.stringify({
	cases: [{ ...timed(ns), err_ns: err, low_ns: ns - 900, high_ns: ns + 1100, constant_ns: 6000,
		blocks: 8, ...more }],
	verdict: { score_ns: ns, score_err_ns: err }, compare: { verdict: compare } })}\n`;
// In the order in which they submit. fay is faster than ann head to head; eve's first result is
// changed to 40.6 µs, so that her file has the mean of two.
const SOURCES = {
	ann: result(31900, 107), fay: result(31950, 107, FASTER), cyd: result(64321, null),
	dan: result(500, 25, TIE, { floor_ns: 500 }), eve: result(40200, 100),
	bob: result(45900, 26020),
};
// What people read, in the order of the ranking. `short`: where no ± is shown.
const ENTRIES = {
	dan: { rank: '1', time: '< 0.5 µs', short: '< 0.5 µs', fastest: 'fastest', above: '' },
	fay: { rank: '2', time: '31.95 ± 0.21 µs', short: '31.95 µs', fastest: '64×',
		above: '64×' },
	ann: { rank: '3', time: '31.90 ± 0.21 µs', short: '31.90 µs', fastest: '64×',
		above: '0.16 % faster', reason: 'Behind fay: slower head to head.' },
	eve: { rank: '=4', time: '40.40 ± 0.39 µs', short: '40.40 µs', fastest: '81×',
		above: '+27 %', results: 2 },
	bob: { rank: '=4', time: '46 ± 51 µs', short: '46 µs', fastest: '92×', above: '+44 %',
		reason: 'Ties with ann, but an entry between them has another rank.' },
	cyd: { rank: '6', time: '64.32 µs ± unknown', short: '64.32 µs', fastest: '129×',
		above: '+59 %' },
};
// The same for programs: time, error, ends of the interval, floor.
const FIGURES = {
	dan: [500, 25, null, null, 500], fay: [31950, 107, 31740.28, 32159.72, null],
	ann: [31900, 107, 31690.28, 32109.72, null], eve: [40400, 200, 40008, 40792, null],
	bob: [45900, 26020, 0, 96899.2, null], cyd: [64321, null, null, null, null],
};
const tokens = {}, numbers = {};
let ranked;

function rank() {
	ranked ??= (async () => {
		await createBoard(NUMBERS,
			{ 'task.yml': ISOLATED, 'eval.py': '# generate_input, check_implementation\n' });
		for (const [name, code] of Object.entries(SOURCES)) {
			const { page, context } = await visit({ watch: false });
			await register(page, name);
			numbers[name] = await submit(page, NUMBERS, { code, mode: 'Ranked' });
			assert.equal(await verdictOf(page), 'passed');
			if (name === 'eve') {
				sql(`UPDATE jobs SET score_ns = 40600 WHERE submission_id = ${numbers.eve}`);
				rebuildRanking();
				await submit(page, NUMBERS, { code, mode: 'Ranked' });
				assert.equal(await verdictOf(page), 'passed');
			}
			await page.goto('/account/tokens');
			await fillAndSend(page, { Name: 'terminal' }, 'Create token');
			tokens[name] = await main(page).locator('#new-token').textContent();
			await context.close();
			while (sql("SELECT 1 FROM jobs WHERE state IN ('queued', 'running')").length)
				await new Promise((done) => setTimeout(done, 100));
		}
	})();
	return ranked;
}

const flat = (text) => text.replace(/\s+/g, ' ').trim();
const wordsOf = async (page, path) => {
	await page.goto(path);
	return flat(await main(page).innerText());
};

// The cells of the table's row that names the user.
async function cellsOf(table, user) {
	const row = table.locator('tbody tr', { has: table.page().getByRole('rowheader',
		{ name: new RegExp(`^${user}\\b`) }) });
	return (await row.locator('th, td').allInnerTexts()).map(flat);
}

function includes(place, text, part) {
	assert.ok(text.includes(part), `${place} does not have ${JSON.stringify(part)}: ${text}`);
}

scene('pages show the same time, ±, rank and gaps of an entry', async (come) => {
	await rank();
	const page = await come();
	for (const [user, entry] of Object.entries(ENTRIES)) {
		const { rank: place, time, short, fastest, above, reason, results } = entry;
		await page.goto(`/leaderboard/${NUMBERS}?gpu=H200&columns=all`);
		const mean = results ? ` mean of ${results} results` : '';
		assert.deepEqual((await cellsOf(page.locator('.ranking'), user)).slice(0, 5),
			[place, `${user}${reason ? ' why?' : ''}`, time + mean, fastest, above]);
		if (reason)
			includes('leaderboard', flat(await main(page).textContent()),
				`${user}, rank ${place}: ${reason}`);
		await page.goto(`/leaderboard/${NUMBERS}?view=live`);
		assert.deepEqual(await cellsOf(page.locator('table'), user),
			[place, user, short, fastest, above]);
		includes('devices', await wordsOf(page, `/leaderboard/${NUMBERS}?view=gpus`),
			`${user} ${short} rank ${place}`);
		includes('shapes', await wordsOf(page, `/leaderboard/${NUMBERS}?view=shapes`),
			`${place} ${user} ${results ? '' : short}`.trim());
		includes('profile', await wordsOf(page, `/user/${user}`),
			`${NUMBERS} H200 ${time} ${place} of 6`);
		const about = await wordsOf(page, `/submission/${numbers[user]}`);
		includes('submission', about, `Rank ${place} of 6 on H200${reason ? ` ${reason}` : ''}`);
		includes('submission', about, results
			? `This file has ${results} ranked results on H200. The ranking counts their mean, ${time}.`
			: `Time, 95 % interval ${time} `);
	}
	const home = await wordsOf(page, '/');
	includes('home', home, `${ENTRIES.dan.short} record by dan · 6 ranked`);
	includes('podium', await wordsOf(page, `/leaderboard/${NUMBERS}?gpu=H200`),
		['dan', 'fay', 'ann'].map((user) =>
			`${ENTRIES[user].rank} ${user} ${ENTRIES[user].short}`).join(' '));
	includes('trend', await wordsOf(page, `/leaderboard/${NUMBERS}?view=trend&gpu=H200`),
		'bob 46 µs cyd 64.32 µs Fastest of all');
});

scene('an author reads the same numbers about their own entry', async (come) => {
	await rank();
	for (const user of ['dan', 'eve', 'bob', 'cyd']) {
		const page = await comeAs(come, user), { rank: place, time } = ENTRIES[user];
		includes('history', await wordsOf(page, `/leaderboard/${NUMBERS}/mine`),
			`H200 ${time} ${place} of 6`);
		includes('own rank', await wordsOf(page, `/leaderboard/${NUMBERS}?gpu=H200`),
			`Your rank ${place} of 6 Your time ${time} `);
	}
});

scene('an interval never begins below zero, and an unknown one says so', async (come) => {
	await rank();
	const page = await come();
	const about = (user) => wordsOf(page, `/submission/${numbers[user]}`);
	for (const [user, time, interval] of [
		['ann', '31.90 ± 0.21 µs', '31.69 to 32.11 µs'], ['bob', '46 ± 51 µs', '0 to 97 µs'],
		['cyd', '64.32 µs ± unknown', 'at least 4 blocks needed']]) {
		includes('submission', await about(user), `Time, 95 % interval ${time}`);
		includes('folded', flat(await main(page).textContent()), interval);
	}
	const pair = `a=${numbers.ann}&b=${numbers.cyd}`;
	const compared = await wordsOf(page, `/compare?${pair}`);
	includes('comparison', compared, '31.90 ± 0.21 µs 64.32 µs ± unknown 2.02× slower, ± unknown');
	includes('comparison', await wordsOf(page, `/compare?a=${numbers.dan}&b=${numbers.bob}`),
		'score < 0.5 µs 46 ± 51 µs');
	const { gpus: [gpu] } = await (await page.request.get(`/api/v1/compare?${pair}`)).json();
	assert.deepEqual(['lower', 'upper', 'verdict'].map((key) => gpu.score[key]),
		[null, null, null]);
});

scene('files and the interface have the same numbers', async (come) => {
	await rank();
	const { request } = await come();
	const read = async (path) => (await request.get(path)).text();
	const { rows } = JSON.parse(await read(`/leaderboard/${NUMBERS}.json?gpu=H200`));
	const [header, ...lines] = (await read(`/leaderboard/${NUMBERS}.csv?gpu=H200`))
		.trim().split('\r\n').map((line) => line.split(','));
	const table = lines.map((line) => Object.fromEntries(header.map((name, i) => [name, line[i]])));
	const { items } = JSON.parse(
		await read(`/api/v1/leaderboards/${NUMBERS}/rankings?gpu=H200`));
	assert.deepEqual(items.map((one) => one.user), Object.keys(ENTRIES));
	const round = (number) => number === null ? null : Math.round(100 * number) / 100;
	for (const [user, { rank: place, reason, results = 1 }] of Object.entries(ENTRIES)) {
		const of = (list) => list.find((one) => one.user === user);
		const whole = [`${of(items).tie ? '=' : ''}${of(items).rank}`, of(items).results];
		assert.deepEqual(whole, [place, results]);
		assert.equal(of(items).reason, reason ?? null);
		assert.equal(`${of(rows).tie ? '=' : ''}${of(rows).rank}`, place);
		assert.equal(`${of(table).tie === 'true' ? '=' : ''}${of(table).rank}`, place);
		const file = ['score_ns', 'score_err_ns', 'interval_95_low_ns', 'interval_95_high_ns',
			'floor_ns'];
		const api = ['score_ns', 'score_err_ns', 'lower_ns', 'upper_ns', 'floor_ns'];
		assert.deepEqual(file.map((key) => round(of(rows)[key])), FIGURES[user]);
		assert.deepEqual(
			file.map((key) => of(table)[key] === '' ? null : round(Number(of(table)[key]))),
			FIGURES[user]);
		assert.deepEqual(api.map((key) => round(of(items)[key])), FIGURES[user]);
		if (results === 1) {
			const { jobs: [job] } = JSON.parse(
				await read(`/api/v1/submissions/${numbers[user]}`));
			assert.deepEqual(api.map((key) => round(job[key])), FIGURES[user]);
			const shape = job.stages.at(-1).cases[0];
			assert.deepEqual(['mean_ns', 'err_ns', 'lower_ns', 'upper_ns', 'floor_ns']
				.map((key) => round(shape[key])), FIGURES[user]);
		}
		includes('badge', await read(`/leaderboard/${NUMBERS}/badge.svg?gpu=H200&user=${user}`),
			`${user}: rank ${place}, ${ENTRIES[user].short.replace('<', '&lt;')}`);
	}
	includes('badge', await read(`/leaderboard/${NUMBERS}/badge.svg?gpu=H200`),
		'&lt; 0.5 µs by dan');
	const feed = await read(`/leaderboard/${NUMBERS}.atom?gpu=H200`);
	assert.deepEqual([...feed.matchAll(/<title>(\w+: .*?) on H200/g)].map((found) => found[1]),
		['dan: &lt; 0.5 µs', 'ann: 31.90 µs']);
});

scene('the terminal prints the same numbers', async () => {
	await rank();
	const root = fileURLToPath(new URL('../..', import.meta.url));
	const podium = (user, ...words) => execFileSync(
		join(root, process.env.B ?? 'build/release', 'podium'), words.map(String),
		{ encoding: 'utf8', env: { ...process.env, PODIUM_SERVER: url, COLUMNS: '250',
			PODIUM_TOKEN: tokens[user], HOME: dirname(process.env.PODIUM_ADMIN_PASSWORD_FILE) } });
	const lines = podium('ann', 'ranking', NUMBERS).split('\n').slice(2);
	for (const [user, entry] of Object.entries(ENTRIES)) {
		const { rank: place, time, short, fastest, above, reason = '' } = entry;
		const line = lines.find((one) => one.includes(` ${user} `));
		const start = [place, user, time, fastest, above].filter(Boolean);
		assert.deepEqual(line.trim().split(/ {2,}/).slice(0, start.length), start);
		assert.ok(line.endsWith(reason));
		if (!entry.results)
			for (const words of [['status', numbers[user]], ['history']])
				includes(words[0], podium(user, ...words), words[0] === 'status' ? time : short);
	}
	includes('status', podium('cyd', 'status', numbers.cyd),
		'64.32 µs ± unknown (at least 4 blocks needed)');
	const compared = podium('ann', 'compare', numbers.dan, numbers.cyd);
	includes('compare', compared, '< 0.5 µs');
	includes('compare', compared, '64.32 µs ± unknown');
	includes('compare', podium('ann', 'compare', numbers.ann, numbers.cyd),
		'2.016 (at least 4 blocks needed)');
});
