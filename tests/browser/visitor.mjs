// Visitors of Podium in a browser: what they do through forms, and the faults of the pages they
// see. tests/run starts a Podium for each test file; to run one file alone:
//
//	python3 tests/lib/instance.py node FILE
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const url = process.env.PODIUM_URL;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const PASSWORD = 'quiet amber lighthouse';
const FLAGS = ['--disable-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update',
	'--disable-sync'];
// A test's page lives too short for what V8's optimizing compilers cost. A process for drawing costs
// more than a thread.
const TEST_FLAGS =
	['--js-flags=--no-opt,--no-maglev,--no-concurrent-recompilation', '--in-process-gpu'];
const CHROMIUMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const SCENE_LIMIT_MS = 480_000, PAGE_LIMIT_MS = 30_000;
export const RUN_LIMIT_MS = 300_000;

if (!url) {
	console.error('PODIUM_URL is not set. Use tests/run browser, or: '
		+ 'python3 tests/lib/instance.py node FILE');
	process.exit(2);
}

// ---- the browser and its visitors ----

let running;

function browser() {
	running ??= chromium.launch(
		{ executablePath: process.env.CHROMIUM || CHROMIUMS.find(existsSync),
		chromiumSandbox: process.getuid() !== 0,
		args: [...FLAGS, ...process.argv[1].endsWith('.test.mjs') ? TEST_FLAGS : []] });
	return running;
}

// Call this at the end of each file.
export async function closeBrowser() {
	await (await running)?.close();
}

// Collects faults: console messages, failed requests and errors. A 4xx answer to the page itself is
// no fault, because tests ask for such pages; a 4xx answer to anything that a page loads is one.
function collectFaults(page, faults) {
	const note = (what) => faults.push(`${new URL(page.url()).pathname}: ${what}`);
	page.on('request', (request) => {
		if (!request.url().startsWith(url + '/') && !/^(data|blob|about):/.test(request.url()))
			note(`asks for ${request.url()}`);
	});
	page.on('response', (answer) => {
		if (answer.status() >= (answer.request().isNavigationRequest() ? 500 : 400))
			note(`${answer.url()} answers ${answer.status()}`);
	});
	page.on('console', (message) => {
		if (['error', 'warning'].includes(message.type())
			&& !message.text().startsWith('Failed to load resource: the server responded'))
			note(`in the console: ${message.text()}`);
	});
	page.on('pageerror', (error) => note(`a script fails: ${error.message}`));
}

// Opens a fresh browser context: no cookies, nothing stored. Animations are off, so that no check
// sees a page halfway through a change of colours.
export async function visit(
		{ scripts = true, dark = false, width = 1280, height = 900, watch = true, zone } = {}) {
	const context = await (await browser())
		.newContext({ baseURL: url, javaScriptEnabled: scripts,
		colorScheme: dark ? 'dark' : 'light',
		viewport: { width, height }, timezoneId: zone, acceptDownloads: true,
		serviceWorkers: 'block', reducedMotion: 'reduce' });
	context.setDefaultTimeout(PAGE_LIMIT_MS);
	const page = await context.newPage(), faults = [];
	if (watch)
		collectFaults(page, faults);
	return { page, context, faults };
}

// Adds a test whose visitors leave at its end. The test also fails if a visitor saw a fault. With
// FAILURES=FOLDER, a failed scene writes a picture and the text of each visitor's last page.
export function scene(name, body, limitMs = SCENE_LIMIT_MS) {
	test(name, { timeout: limitMs }, async () => {
		const visitors = [];
		const come = async (options) => {
			visitors.push(await visit(options));
			return visitors.at(-1).page;
		};
		try {
			await body(come);
			assert.deepEqual(visitors.flatMap((visitor) => visitor.faults), []);
		} catch (error) {
			await keepPictures(name, visitors);
			throw error;
		} finally {
			for (const visitor of visitors)
				await visitor.context.close();
		}
	});
}

async function keepPictures(name, visitors) {
	const folder = process.env.FAILURES;
	if (!folder)
		return;
	mkdirSync(folder, { recursive: true });
	for (const [number, { page }] of visitors.entries()) {
		const path = join(folder, `${name.replace(/[^a-z0-9]+/gi, '-')}-${number}`);
		await page.screenshot({ path: path + '.png', fullPage: true }).catch(() => {});
		writeFileSync(path + '.html',
			`<!-- ${page.url()} -->\n` + await page.content().catch(() => ''));
	}
}

// ---- accounts ----

export async function register(page, name, password = PASSWORD) {
	await page.goto('/register');
	await fillAndSend(page,
		{ Name: name, Password: password, 'Password again': password }, 'Register');
	await page.locator('.who').getByRole('link', { name, exact: true }).waitFor();
}

export async function logIn(page, name, password = PASSWORD) {
	await page.goto('/login');
	await fillAndSend(page, { Name: name, Password: password }, 'Log in');
	await page.locator('.who').getByRole('link', { name, exact: true }).waitFor();
}

export async function fillAndSend(page, fields, button) {
	const main = page.locator('main');
	for (const [label, value] of Object.entries(fields))
		await main.getByLabel(label, { exact: true }).fill(value);
	await main.getByRole('button', { name: button, exact: true }).click();
}

// Opens the menu of the row with this name.
export const openMenu = (page, name) =>
	page.locator('.menu summary', { hasText: `Actions for ${name}` }).click();

export const oneTimePassword = () => readFileSync(process.env.PODIUM_ADMIN_PASSWORD_FILE, 'utf8')
	.trim();

let adminHasOwnPassword = false;

// Logs in as the admin. The first time, the admin must replace the one-time password.
export async function logInAsAdmin(page) {
	await logIn(page, 'admin', adminHasOwnPassword ? PASSWORD : oneTimePassword());
	if (adminHasOwnPassword)
		return;
	await fillAndSend(page,
		{ 'Current password': oneTimePassword(), 'New password': PASSWORD,
		'New password again': PASSWORD }, 'Change the password');
	await page.getByText('Your password was changed').waitFor();
	adminHasOwnPassword = true;
}

// ---- tasks ----

export const RIGHT = 'def custom_kernel(number):\n    return number + 1\n';
export const WRONG = 'def custom_kernel(number):\n    return number\n';
// A right submission that is so slow that its page shows one case after the other.
export const SLOW =
	'import time\n\ndef custom_kernel(number):\n    time.sleep(1.5)\n    return number + 1\n';

// The task "add one to a number". Its harness needs no torch, so that it starts quickly.
export const EVAL = `import os
import sys
import time

import submission

mode, path = sys.argv[1:]
pipe = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
family = "test" if mode == "test" else "benchmark"
cases = open(path).read().splitlines()
print(f"{family}-count: {len(cases)}", file=pipe)
for i, case in enumerate(cases):
    number = int(case.split(":")[1])
    began = time.perf_counter_ns()
    got = submission.custom_kernel(number)
    duration = time.perf_counter_ns() - began
    print(f"{family}.{i}.spec: {case}", file=pipe)
    if got != number + 1:
        print(f"{family}.{i}.status: fail", file=pipe)
        print(f"{family}.{i}.error: {number} became {got}, not {number + 1}", file=pipe)
        print("check: fail", file=pipe)
        sys.exit(112)
    if family == "test":
        print(f"test.{i}.status: pass", file=pipe)
    else:
        figures = {"runs": 1, "mean": duration, "std": 0, "err": 0, "best": duration,
            "worst": duration}
        for name, value in figures.items():
            print(f"benchmark.{i}.{name}: {value}", file=pipe)
print("check: pass", file=pipe)
`;
const TASK = (description, keys = '') => `lang: py
description: ${JSON.stringify(description)}
${keys}files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests: [{number: 1}, {number: 22}, {number: 333}]
benchmarks: [{number: 4444}]
templates: {Python: template.py}
`;

// Makes a zip of files, given as text by path.
export function zipOf(name, files) {
	const folder = mkdtempSync(join(tmpdir(), 'podium-zip.'));
	try {
		for (const [path, text] of Object.entries(files)) {
			mkdirSync(dirname(join(folder, path)), { recursive: true });
			writeFileSync(join(folder, path), text);
		}
		execFileSync('python3',
			['-m', 'zipfile', '-c', name,
			...new Set(Object.keys(files).map((path) => path.split('/')[0]))], { cwd: folder });
		return { name, mimeType: 'application/zip', buffer: readFileSync(join(folder, name)) };
	} finally {
		rmSync(folder, { recursive: true });
	}
}

// Makes a zip with the given files, or with the task "add one".
export const taskZip = (description = 'Add one to a **number**.', files) =>
	zipOf('task.zip',
		files ?? { 'task.yml': TASK(description), 'eval.py': EVAL, 'template.py': WRONG });

export const sourceFile =
	(text, name = 'kernel.py') => ({ name, mimeType: 'text/x-python', buffer: Buffer.from(text) });

// Runs podium-admin, as an operator does on the host.
export const operate = (...words) => execFileSync(
	join(ROOT, process.env.B ?? 'build/release', 'podium-admin'), words);

// Publishes a leaderboard, or a version of its task.
export const publish = (name, ...version) =>
	operate('task', 'publish', '--unchecked', name, ...version);

// Creates a public leaderboard for the CPU with the task "add one", without a browser.
export function loadTask(name) {
	const folder = join(mkdtempSync(join(tmpdir(), 'podium-task.')), name);
	mkdirSync(folder);
	writeFileSync(join(folder, 'task.yml'), TASK('Add one.', 'gpus: [CPU]\n'));
	writeFileSync(join(folder, 'eval.py'), EVAL);
	writeFileSync(join(folder, 'template.py'), WRONG);
	operate('task', 'load', '--unchecked', folder);
	rmSync(dirname(folder), { recursive: true });
}

// Creates a leaderboard with the first device that a worker offers, or with the models `others`,
// which no worker offers, and publishes it without the check.
export async function createLeaderboard(page, name,
		{ task = taskZip(), others = '', deadline = '' } = {}) {
	await page.goto('/admin/leaderboards/new');
	await page.getByLabel('Name', { exact: true }).fill(name);
	await page.getByLabel('Task, as a zip').setInputFiles(task);
	// The form ticks the device if there is only one.
	await page.locator('input[name=gpu]').first().setChecked(!others);
	if (others)
		await page.getByLabel('Other GPU models').fill(others);
	if (deadline)
		await page.getByLabel('Deadline (UTC)').fill(deadline);
	await page.getByRole('button', { name: 'Preview' }).click();
	await page.getByRole('button', { name: 'Create hidden' }).click();
	await page.waitForURL(`**/leaderboard/${name}**`);
	publish(name);
	await page.goto(`/leaderboard/${name}`);
}

// Opens the settings of a leaderboard, lets `change` fill in the form, and saves.
export async function editLeaderboard(page, name, change) {
	await page.goto(`/admin/leaderboard/${name}/edit`);
	await change(page);
	await page.getByRole('button', { name: 'Save' }).click();
	await page.waitForURL(`**/leaderboard/${name}*`);
}

export const setDeadline = (page, name, deadline) =>
	editLeaderboard(page, name, () => page.getByLabel('Deadline (UTC)').fill(deadline));

// ---- submissions ----

export const CHIP = '.job h2 .chip';
export const chip = (page) => page.locator(CHIP).first();

// The field for the code: the editor with scripts, a text field without. codeIn reads either.
export const codeField = (page) => page.getByLabel('Code', { exact: true });
export const codeIn = (page) => page.locator('textarea[name=code]').inputValue();
export const fileField = (page) => page.getByLabel('Or a file', { exact: true });

// Submits to the first device that a worker offers, in the form's own mode if none is given. The
// submission's page is open afterwards.
export async function submit(page, board, { code, file, mode }) {
	await page.goto(`/leaderboard/${board}/submit`);
	if (code)
		await codeField(page).fill(code);
	if (file)
		await fileField(page).setInputFiles(file);
	if (mode)
		await page.getByRole('radio', { name: new RegExp(`^${mode}\\b`) }).check();
	await page.locator('.choice',
		{ has: page.locator('input[name=gpu]'), hasNotText: 'no worker offers it' }).first()
		.locator('input').check();
	await page.getByRole('button', { name: 'Submit', exact: true }).click();
	await page.waitForURL(/\/submission\/\d+$/);
	return Number(page.url().match(/\d+$/)[0]);
}

// Waits until the open page shows the submission's verdict. Without scripts the page reloads
// itself, so this function polls the page and does not wait inside it.
export async function verdictOf(page) {
	const end = Date.now() + RUN_LIMIT_MS;
	while (Date.now() < end) {
		const word = (await chip(page).textContent().catch(() => 'queued')).trim();
		if (word !== 'queued' && word !== 'running')
			return word;
		await new Promise((done) => setTimeout(done, 100));
	}
	throw new Error(`${page.url()} shows no verdict after ${RUN_LIMIT_MS / 1000} s`);
}

// Counts how often the page is loaded from now on and, if scripts are on, records each state that
// it shows: the state's name, the progress and the number of cases.
export async function recordStates(page) {
	const record = { loadings: 0, states: () => page.evaluate(() => window.podiumStates) };
	await page.addInitScript(() => {
		window.podiumStates = [];
		const note = () => {
			const word = document.querySelector('.job h2 .chip')?.textContent.trim();
			const progress = document.querySelector('.job progress')?.getAttribute('aria-label') ?? '';
			const cases = document.querySelectorAll('.job tbody tr').length;
			const state = `${word} ${progress} ${cases}`;
			if (word && window.podiumStates.at(-1) !== state)
				window.podiumStates.push(state);
		};
		new MutationObserver(note)
			.observe(document, { childList: true, subtree: true, characterData: true });
	});
	page.on('framenavigated', (frame) => {
		if (frame === page.mainFrame() && /\/submission\/\d+$/.test(frame.url()))
			record.loadings++;
	});
	return record;
}

