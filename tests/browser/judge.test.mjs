// What pages show of the isolated engine's times and of held results, in a browser. The worker's
// GPUs and podium-run are pretended:
//
//	python3 tests/lib/instance.py --pretend node tests/browser/judge.test.mjs
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { looksRight } from './checks.mjs';
import { sql } from './full.mjs';
import { closeBrowser, logInAsAdmin, publish, register, scene, submit, taskZip, verdictOf, visit,
	EVAL } from './visitor.mjs';

test.after(closeBrowser);

// BOARD has the longest name that is allowed.
const BOARD = 'judged'.padEnd(64, '_judged'),
	SIZES = [{ width: 360, height: 740 }, { width: 1440, height: 900 }], MOST_BYTES = 100_000;
const TASK = `lang: py
description: A small task.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [${Array.from({ length: 30 }, (_, i) => `{size: ${1024 + i}, seed: 5}`)}]
ranking_by: geom
podium:
  bytes: 6 * size * size
`;

const pack = (numbers) => Buffer.from(new Float32Array(numbers).buffer).toString('base64');

// A judge's result of a case: `calls` times near `ns`, of which a few are far away.
const judged = (ns,
	calls) => ({ runs: calls, mean_ns: ns, std_ns: 90, err_ns: 15, best_ns: ns - 80,
	worst_ns: ns + 110, median_ns: ns - 10,
	low_ns: ns - 40, high_ns: ns + 40, constant_ns: 12480, own_ns: ns + 6400, gap_ns: 35,
	message: 'The time limit left room for it.', blocks: Math.floor(calls / 25), repeated: 1,
	samples: pack(Array.from({ length: calls },
		(_, i) => ns + 120 * Math.sin(i * i) + (i % 97 === 96 ? 40000 : 0))),
	device: { sm_clock_mhz: [1755, 1980], memory_clock_mhz: [3201, 3201], temperature_c: [31, 62],
		power_w: [120, 698], slowed_by: ['power cap'] } });
const says = (ns, { calls = 100, score = ns, engine = 'isolated', compare, ...verdict } = {}) =>
	`# ${JSON.stringify({ compare,
	cases: Array.from({ length: 30 }, () => judged(ns, calls)),
	verdict: { score_ns: score, engine, ...verdict } })}\n`;

// A judge's result of a head-to-head run, which ends when the file `until` exists.
const compared =
	(ratio, low, high, until) => ({ until, verdict: { ratio, ratio_low: low, ratio_high: high },
	cases: Array.from({ length: 30 },
		() => ({ ...judged(31900 * ratio, 100), rival_ns: 31900, ratio, ratio_low: low,
		ratio_high: high })) });

const main = (page) => page.locator('main');

let furnished;

// Creates, once for this file, the leaderboard and three results: an ordinary one, one with as many
// calls as possible, and one of the custom engine, which is not ranked.
function furnish() {
	furnished ??= (async () => {
		const { page: admin, context } = await visit({ watch: false });
		await logInAsAdmin(admin);
		await admin.goto('/admin/leaderboards/new');
		await admin.getByLabel('Name', { exact: true }).fill(BOARD);
		await admin.getByLabel('Task, as a zip')
			.setInputFiles(taskZip('', { 'task.yml': TASK, 'eval.py': EVAL }));
		await admin.locator('input[name=gpu][value=H200]').check();
		await admin.getByRole('button', { name: 'Preview' }).click();
		await admin.getByRole('button', { name: 'Create hidden' }).click();
		await admin.waitForURL(`**/leaderboard/${BOARD}**`);
		publish(BOARD);
		sql("UPDATE task_engines SET engine = 'isolated'");
		const ids = {};
		for (const [name, text] of [['ordinary', says(31900)],
			['heavy', says(48000, { calls: 4000 })],
			['custom', says(52000,
					{ engine: 'custom', engine_reason: 'Its input has a type of its own.' })]]) {
			const { page, context: own } = await visit({ watch: false });
			await register(page, `${name}-one`);
			ids[name] = await submit(page, BOARD, { code: text, mode: 'Ranked' });
			assert.equal(await verdictOf(page), 'passed');
			await own.close();
		}
		await context.close();
		return ids;
	})();
	return furnished;
}

scene('each case has a chart of its calls with a text alternative', async (come) => {
	const { ordinary, heavy, custom } = await furnish();
	const page = await come();
	for (const path of [`/submission/${ordinary}`, `/submission/${heavy}`, `/submission/${custom}`,
			`/leaderboard/${BOARD}`, '/judge']) {
		await page.goto(path);
		await looksRight(page);
	}
	await page.goto(`/submission/${ordinary}`);
	await page.locator('svg.samples').first().waitFor();
	const name = new RegExp('^100 calls: median 31\\.90 µs, the fastest .* '
		+ '95 % interval of the time 31\\.871 to 31\\.929 µs, 1 beyond');
	const picture = page.getByRole('img', { name }).first();
	for (const { size, widest } of [{ size: SIZES[0], widest: 330 },
		{ size: SIZES[1], widest: 700 }])
		for (const dark of [false, true]) {
			await page.setViewportSize(size);
			await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
			const box = await picture.boundingBox();
			assert.ok(box.width > 240 && box.width <= widest && box.height >= 60,
				JSON.stringify(box));
			const light = await picture.locator('.calls')
				.evaluate((path) => getComputedStyle(path).stroke.match(/\d+/g).slice(0, 3)
				.reduce((a, b) => a + Number(b), 0));
			assert.ok(dark ? light > 500 : light < 200, `${dark} ${light}`);
		}
	const dots = await picture.locator('.calls')
		.evaluate((path) => path.getAttribute('d').match(/M/g).length);
	assert.equal(dots, 99);
	assert.equal(await page.locator('svg.samples').count(), 24);
	await page.getByText('Only the first cases have a picture.').waitFor();
});

scene('the badge of an engine links to its explanation', async (come) => {
	const { custom } = await furnish();
	const page = await come();
	await page.goto(`/leaderboard/${BOARD}?columns=all`);
	const cells = await page.locator('tbody a.engine').allTextContents();
	assert.deepEqual(cells, ['isolated', 'isolated']);
	await page.locator('tbody a.engine').first().click();
	await page.waitForURL('**/judge#isolated');
	await page.goto(`/submission/${custom}`);
	await page.getByText('Its input has a type of its own.').waitFor();
	await page.locator('.job h2').getByRole('link', { name: 'custom' }).click();
	await page.waitForURL('**/judge#custom');
});

scene(`a result with the most calls costs at most ${MOST_BYTES / 1000} KB`, async (come) => {
	const { heavy } = await furnish();
	const page = await come();
	const network = await page.context().newCDPSession(page);
	let bytes = 0;
	network.on('Network.loadingFinished', (load) => { bytes += load.encodedDataLength; });
	await network.send('Network.enable');
	await page.goto(`/submission/${heavy}`, { waitUntil: 'load' });
	assert.ok(bytes > 1000 && bytes <= MOST_BYTES, `${bytes} bytes`);
});

for (const scripts of [true, false])
	scene(`an admin reviews held results ${scripts ? 'with' : 'without'} scripts`, async (come) => {
		await furnish();
		const suffix = scripts ? 'on' : 'off', admin = await come({ scripts }),
			people = [await come({ scripts }), await come({ scripts })];
		const ids = [];
		for (const [i, page] of people.entries()) {
			await register(page, `fast-${i}-${suffix}`.padEnd(32, 'W'));
			ids.push(await submit(page, BOARD,
				{ code: says(100, { score: 100 + i }), mode: 'Ranked' }));
			assert.equal(await verdictOf(page), 'passed');
			await page.getByText('The result is held for review').waitFor();
			await page.getByText('Shape (size: 1024; seed: 5): 100.0 ns for 6.3 MB would be 62.9 TB/s')
				.waitFor();
		}
		if (scripts)
			await looksRight(people[0]);
		await logInAsAdmin(admin);
		await admin.getByRole('link', { name: 'Held 2 results' }).click();
		if (scripts)
			await looksRight(admin);
		const first = admin.locator('section',
			{ has: admin.getByRole('heading', { name: `Submission ${ids[0]} on H200` }) });
		await first.getByLabel('Reason for a rejection').fill('   ');
		await first.getByRole('button', { name: 'Reject' }).click();
		await first.getByText('Give a reason. The author sees it.').waitFor();
		if (scripts)
			await looksRight(admin);
		await first.getByLabel('Reason for a rejection').fill('It remembers the answers.');
		await first.getByRole('button', { name: 'Reject' }).click();
		await admin.getByLabel('To do it, type the submission’s number').fill('0');
		await admin.getByRole('button', { name: 'Reject it' }).click();
		await admin.getByText('so nothing was changed').waitFor();
		if (scripts)
			await looksRight(admin);
		await admin.getByLabel('To do it, type the submission’s number').fill(String(ids[0]));
		await admin.getByRole('button', { name: 'Reject it' }).click();
		await admin.getByText('was rejected on H200').waitFor();
		await admin.getByRole('button', { name: `Release and rank submission ${ids[1]} on H200` })
			.click();
		await admin.getByText(/^Submission \d+ was released on \S+ and is ranked\.$/).waitFor();
		await admin.getByText('No result is held.').waitFor();
		assert.equal(await admin.getByRole('link', { name: /^Review/ }).count(), 0);
		await people[0].reload();
		await people[0].getByText('Rejected by the admin admin: It remembers the answers.').first()
			.waitFor();
		assert.equal(await verdictOf(people[0]), 'protocol violation');
		await people[1].reload();
		await people[1].getByText(/^Rank =?\d+ of \d+ on \S+$/).waitFor();
		if (scripts)
			await looksRight(people[0]);
	});

for (const scripts of [true, false]) {
	const how = scripts ? 'by itself' : 'by loading itself anew', suffix = scripts ? 'on' : 'off';

	scene(`a page changes ${how} when the comparison it shows has finished`, async (come) => {
		await furnish();
		const until = join(dirname(process.env.PODIUM_ADMIN_PASSWORD_FILE), `compared-${suffix}`);
		const page = await come({ scripts }), reader = await come({ scripts });
		await register(page, `close-${suffix}`.padEnd(32, 'W'));
		const compare = scripts ? compared(0.998, 0.994, 1.003, until)
			: compared(0.9985, 0.998, 0.999, until);
		await submit(page, BOARD,
			{ code: says(scripts ? 31910 : 31895, { compare }), mode: 'Ranked' });
		const loadings = { page: 0, reader: 0 };
		await main(page).getByText('is under way; the ranks may still change.').first().waitFor();
		await reader.goto(await page.getByRole('link', { name: 'comparison', exact: true }).last()
			.getAttribute('href'));
		await main(reader).getByText('The ranks may still change.').waitFor();
		if (scripts)
			await looksRight(reader);
		for (const [name, one] of Object.entries({ page, reader }))
			one.on('framenavigated', () => loadings[name]++);
		writeFileSync(until, '');
		const words = scripts ? '0.998 (0.994 to 1.003): a tie' : '0.15 % faster';
		await main(reader).getByText(words).first().waitFor();
		await main(page).getByText(words).first().waitFor();
		await main(page).getByText('under way').waitFor({ state: 'detached' });
		if (!scripts) {
			assert.ok(loadings.page && loadings.reader, JSON.stringify(loadings));
			return;
		}
		assert.deepEqual(loadings, { page: 0, reader: 0 });
		for (const one of [page, reader])
			await looksRight(one);
		await reader.goto(`/leaderboard/${BOARD}`);
		await looksRight(reader);
	});
}
