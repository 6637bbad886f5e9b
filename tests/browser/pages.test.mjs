// The checks that every page must pass. Each role opens every GET address of cgi/router.c that it
// may see, on an empty and on a full site. The checks are axe in light and dark, the HTML, the
// structure, the width at 360 and 1440 px and at 200 % zoom, the weight, and the console. An address
// without an example in addresses.mjs, or without a link to it, fails the test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import vnu from 'vnu-jar';
import { EMPTY, FULL, NO_PAGES, pathsOf, ROLES, routeOf, ROUTES } from './addresses.mjs';
import { contentOf, faultsAsShown, faultsOf, htmlFaults, NARROW, overflow,
	structureFaults } from './checks.mjs';
import { CROWD, fill, LONG_BOARD, LONG_USER, makeEmpty } from './full.mjs';
import { closeBrowser, codeField, fillAndSend, logIn, logInAsAdmin, PASSWORD, register, RIGHT,
	scene, SLOW, submit, taskZip, url, verdictOf, visit } from './visitor.mjs';

after(closeBrowser);

// The HTML of each page that was checked, N.html, for the Nu HTML Checker.
const SAVED = mkdtempSync(join(tmpdir(), 'podium-pages.')), savedPaths = [];
after(() => rmSync(SAVED, { recursive: true }));

// The most that a first visit to a page may load. The pages of languages show the whole source of a
// harness, and the pages that submit load the editor.
const FIRST_VISIT_BYTES = 35_000, LANGUAGE_BYTES = 70_000, SUBMIT_BYTES = 190_000,
	FIRST_VISIT_REQUESTS = 5, SUBMIT_REQUESTS = 6;
const WALK_LIMIT_MS = 600_000;

// ---- two sites ----

let emptied, filled;
const empty = () => emptied ??= makeEmpty();
const furnish = () => filled ??= empty().then(fill);

scene('every address of the router has an example', async () => {
	assert.ok(ROUTES.length > 60, `${ROUTES.length} addresses were read`);
	const ids = { own: 1, other: 2, first: 3, queued: 4, noisy: 5, broken: 6, passed: 7,
		comparison: 1, rejudging: 1, rejudged: 1, set: 1, link: '/password/0', hooks: [1],
		mail: ['/mail/confirm/0', '/mail/unsubscribe/0'] };
	const shown = new Set(FULL(ids).map((one) => routeOf(one.path ?? one).pattern)),
		patterns = ROUTES.map(({ pattern }) => pattern);
	assert.deepEqual(
		patterns.filter((pattern) => !shown.has(pattern) && !NO_PAGES.includes(pattern)), []);
	assert.deepEqual(
		NO_PAGES.filter((pattern) => !patterns.includes(pattern) || shown.has(pattern)), []);
});

// ---- looking at every page ----

const linked = new Map(); // role -> the links on its pages
// Contents that were checked, so that a page that looks the same to two roles is checked once. The
// parts around <main> are checked once for each role.
const seen = new Set();

// The links to this site that are no downloads.
const linksOf = (text, path) => [...text.matchAll(/<a\s[^>]*>/g)]
	.filter(([tag]) => !/\sdownload\b/.test(tag))
	.map(([tag]) => tag.match(/\shref="([^"]*)"/)?.[1]).filter((href) => href !== undefined)
	.map((href) => new URL(href.replaceAll('&amp;', '&'), url + path))
	.filter(({ origin }) => origin === new URL(url).origin)
	.map(({ pathname, search }) => pathname + search);

// The sheet of a page has parts of style.css (PARTS in the Makefile). Returns the rules for elements
// of this page that its sheet lacks.
const STYLES = readFileSync(new URL('../../static/style.css', import.meta.url), 'utf8');
const lacking = new Map(); // address of a sheet -> the rules of style.css that it lacks
async function missedRules(page) {
	const sheet = await page.evaluate(() => document.styleSheets[0].href);
	if (!lacking.has(sheet))
		lacking.set(sheet, await page.evaluate((styles) => {
			const rulesOf = (of, around = '') => [...of.cssRules].flatMap((rule) => rule.selectorText
				? [{ text: around + rule.cssText, selector: rule.selectorText.replace(
				/::[a-z-]+|:(hover|focus|focus-visible|focus-within|target|popover-open|disabled|checked)\b/g,
				':is(*)') }]
				: rulesOf(rule.cssRules ? rule : { cssRules: [] }, `${rule.conditionText} `));
			const whole = new CSSStyleSheet();
			whole.replaceSync(styles);
			const plain = (text) => text.replace(/\s+/g, '');
			const own = new Set(rulesOf(document.styleSheets[0]).map(({ text }) => plain(text)));
			return rulesOf(whole).filter(({ text }) => !own.has(plain(text)));
		}, STYLES));
	return page.evaluate((rules) => rules.filter(({ selector }) => document.querySelector(selector))
		.map(({ text }) => `lacks the rule ${text}`), lacking.get(sheet));
}

// What a page may weigh. The editor is part of the pages that submit, for those who may.
function budgetOf(path, role) {
	if (path.startsWith('/language/'))
		return { bytes: LANGUAGE_BYTES, requests: FIRST_VISIT_REQUESTS };
	return /\/submit(\?|$)/.test(path) && role !== 'a visitor'
		? { bytes: SUBMIT_BYTES, requests: SUBMIT_REQUESTS, hasEditor: true }
		: { bytes: FIRST_VISIT_BYTES, requests: FIRST_VISIT_REQUESTS };
}

// Returns a function that opens a page as on a first visit, and returns its faults if the page
// exceeds its budget.
async function makeWeigher(page, role) {
	const network = await page.context().newCDPSession(page);
	let bytes = 0, requests = 0;
	// On a busy machine, the first update of a page can come before the event `load`.
	const updates = new Set();
	network.on('Network.requestWillBeSent', ({ requestId, type }) => {
		if (type === 'Fetch')
			updates.add(requestId);
	});
	network.on('Network.loadingFinished', (load) => {
		if (updates.has(load.requestId))
			return;
		bytes += load.encodedDataLength;
		requests += load.encodedDataLength > 0; // a data: address is no request
	});
	await network.send('Network.enable');
	await network.send('Network.setCacheDisabled', { cacheDisabled: true });
	return async (path) => {
		const budget = budgetOf(path, role);
		bytes = requests = 0;
		await page.goto(path, { waitUntil: budget.hasEditor ? 'networkidle' : 'load' });
		// The browser asks for a font when it lays the page out, which may be after `load`.
		await page.evaluate(() => document.body.offsetHeight && document.fonts.ready);
		assert.ok(bytes > 1000, `${path}: nothing was counted`);
		return bytes > budget.bytes || requests > budget.requests
			? [`weighs ${bytes} bytes in ${requests} requests`] : [];
	};
}

// The faults of the pages. The browser opens no page whose content was seen before.
async function lookAt(page, paths, role) {
	const faults = [], found = linked.get(role) ?? new Set(), weigh = await makeWeigher(page, role);
	linked.set(role, found);
	for (const path of paths) {
		const answer = await page.request.get(path);
		assert.equal(answer.status(), 200, `${path} answers ${answer.status()} to ${role}`);
		assert.equal(new URL(answer.url()).pathname, path.split('?')[0],
			`${path} leads ${role} elsewhere`);
		const text = await answer.text(), content = seen.has(role) ? contentOf(text) : text;
		for (const link of linksOf(text, path))
			found.add(link);
		if (!seen.has(content)) {
			writeFileSync(join(SAVED, `${savedPaths.length}.html`), text);
			savedPaths.push(path);
			faults.push(...[...await weigh(path), ...htmlFaults(text), ...await faultsOf(page),
				...await missedRules(page)].map((fault) => `${path} ${fault}`));
		}
		seen.add(content).add(role);
	}
	assert.deepEqual(faults.slice(0, 30), []);
}

for (const [role, { enter }] of Object.entries(ROLES))
	scene(`every page of an empty site passes the checks for ${role}`, async (come) => {
		await empty();
		const page = await come();
		await enter(page);
		await lookAt(page, pathsOf(EMPTY, role), role);
	}, WALK_LIMIT_MS);

for (const [role, { enter }] of Object.entries(ROLES))
	scene(`every page of a full site passes the checks for ${role}`, async (come) => {
		const ids = await furnish(), page = await come();
		await enter(page);
		await lookAt(page, pathsOf(FULL(ids), role), role);
	}, WALK_LIMIT_MS);

// ---- the Nu HTML Checker ----

const java = spawnSync('java', ['-version']).status === 0;

test('the Nu HTML Checker finds no error in any page', { skip: !java && 'there is no java' }, () => {
	assert.ok(savedPaths.length > 100, `${savedPaths.length} pages were saved`);
	const { stderr } = spawnSync('java',
		['-jar', String(vnu), '--errors-only', '--exit-zero-always', '--format', 'json', SAVED],
		{ encoding: 'utf8', maxBuffer: 2 ** 26 });
	assert.deepEqual(JSON.parse(stderr).messages.map(({ url: file, lastLine, message, extract }) =>
		`${savedPaths[parseInt(file.match(/(\d+)\.html$/)[1])]}, line ${lastLine}: ${message} `
		+ extract), []);
});

// ---- links ----

// Addresses that differ only in a name share a template: /leaderboard/matmul_py/task and
// /leaderboard/softmax_py/task.
const shape = (path) => routeOf(path)?.pattern + (path.split('?')[1] ?? '').replace(/=[^&]*/g, '');

for (const [role, { enter }] of Object.entries(ROLES))
	scene(`no link that ${role} sees is dead`, async (come) => {
		await furnish();
		const page = await come(), dead = [], tried = new Map();
		await enter(page);
		for (const path of linked.get(role)) {
			tried.set(shape(path), (tried.get(shape(path)) ?? 0) + 1);
			if (tried.get(shape(path)) > 3)
				continue;
			const answer = await page.request.get(path, { maxRedirects: 0 });
			if (answer.status() >= 400)
				dead.push(`${path} answers ${answer.status()}`);
		}
		assert.ok(tried.size > 10);
		assert.deepEqual(dead, []);
	});

// Pages without a link: an admin hands out the address, or a form leads there.
const WITHOUT_A_LINK = ['/password/*', '/account/confirm', '/account/deleted', '/admin/sets/*'];

scene('a link leads to every page', async () => {
	const reached =
		new Set([...linked.values()].flatMap((paths) => [...paths])
		.map((path) => routeOf(path)?.pattern));
	assert.deepEqual(
		ROUTES.map(({ pattern }) => pattern)
		.filter((pattern) => !reached.has(pattern) && !NO_PAGES.includes(pattern)
		&& !WITHOUT_A_LINK.includes(pattern)), []);
});

// ---- forms that were refused ----

const REFUSALS = {
	'/login': async (page) => fillAndSend(page, { Name: 'nobody', Password: PASSWORD }, 'Log in'),
	'/register': async (page) =>
		fillAndSend(page, { Name: 'admin', Password: PASSWORD, 'Password again': PASSWORD },
			'Register'),
	[`/leaderboard/${LONG_BOARD}/submit`]: async (page) => {
		await codeField(page).fill('#!POPCORN leaderboard other\n' + RIGHT);
		await page.getByRole('button', { name: 'Submit', exact: true }).click();
	},
	'/account': async (page) =>
		fillAndSend(page,
		{ 'Current password': 'not mine at all', 'New password': PASSWORD,
		'New password again': PASSWORD }, 'Change the password'),
	'/admin/leaderboards/new': async (page) => {
		await page.getByLabel('Name', { exact: true }).fill(LONG_BOARD);
		await page.getByLabel('Task, as a zip')
			.setInputFiles(taskZip('', { 'task.yml': 'lang: rust\nnonsense: ' + 'x'.repeat(200) }));
		await page.getByRole('button', { name: 'Preview' }).click();
	},
	[`/admin/leaderboard/${LONG_BOARD}/delete`]: async (page) => {
		await page.getByLabel('To delete it, type its name').fill('x'.repeat(64));
		await page.locator('main').getByRole('button', { name: /^Delete/ }).click();
	},
};

for (const dark of [false, true])
	scene(`a refused form passes the checks, ${dark ? 'dark' : 'light'}`, async (come) => {
		await furnish();
		const page = await come({ dark, ...NARROW }), faults = [];
		for (const [path, send] of Object.entries(REFUSALS)) {
			if (path.startsWith('/leaderboard/'))
				await logInAsAdmin(page);
			await page.goto(path);
			await send(page);
			await page.locator('.error-summary, .notice.problem').first().waitFor();
			for (const fault of await faultsAsShown(page))
				faults.push(`${path} ${fault}`);
		}
		assert.deepEqual(faults, []);
	});

scene('an error page looks like the other pages', async (come) => {
	await furnish();
	const page = await come(NARROW);
	await logIn(page, LONG_USER);
	const faults = [];
	for (const [path, status] of [['/nothing/here', 404], ['/leaderboard/none', 404],
		['/submission/999999', 404], ['/user/nobody', 404],
		['/admin', 403]]) {
		const answer = await page.goto(path);
		assert.equal(answer.status(), status, path);
		assert.equal(await page.getByRole('alert').count(), status === 404 ? 0 : 1);
		for (const fault of [...await page.evaluate(structureFaults),
			...await page.evaluate(overflow)])
			faults.push(`${path} ${fault}`);
	}
	assert.deepEqual(faults, []);
});

// ---- colours, keyboard ----

scene('a reader whose system is dark gets dark pages', async (come) => {
	const colours = [];
	for (const dark of [false, true]) {
		const page = await come({ dark });
		await page.goto('/');
		const [ground, text] = await page.evaluate(() => {
			const style = getComputedStyle(document.body);
			return [style.backgroundColor, style.color].map(
				(colour) => colour.match(/[\d.]+/g).slice(0, 3)
				.reduce((sum, part) => sum + Number(part), 0));
		});
		colours.push({ ground, text });
	}
	assert.ok(colours[0].ground > colours[0].text && colours[1].ground < colours[1].text,
		JSON.stringify(colours));
	assert.ok(colours[0].ground > 600 && colours[1].ground < 150, JSON.stringify(colours));
});

for (const scripts of [true, false])
	scene(`a visitor switches the theme ${scripts ? 'with' : 'without'} scripts`, async (come) => {
		const page = await come({ scripts }), ground = () => page.locator('body')
			.evaluate((body) => getComputedStyle(body).backgroundColor.match(/\d+/)[0]);
		const chosen = async (name) => {
			await page.getByRole('button', { name, exact: true }).click();
			await page.waitForURL('**/queue?x=1');
			await page.locator(`button[aria-pressed=true]:text-is("${name}")`).waitFor();
			return Number(await ground());
		};
		await page.goto('/queue?x=1');
		assert.ok(await chosen('Dark') < 50);
		await page.emulateMedia({ colorScheme: 'dark' });
		assert.ok(await chosen('Light') > 200);
		assert.ok(await chosen('System') < 50);
	});

scene('pages do not move while they load', async () => {
	for (const path of ['/', '/queue', `/leaderboard/${CROWD}?gpu=H200`])
		for (const width of [390, 1440]) {
			const { page, context } = await visit({ watch: false, width });
			await page.addInitScript(() => {
				window.moved = [];
				new PerformanceObserver((list) => list.getEntries().forEach((entry) =>
					window.moved.push(entry.value))).observe({ type: 'layout-shift', buffered: true });
			});
			await page.goto(path, { waitUntil: 'networkidle' });
			assert.deepEqual(await page.evaluate(() => window.moved), [], `${path} at ${width} px`);
			await context.close();
		}
});

// Presses Tab from the top of the page to its end. Returns a description of each stop, which says
// so if the focus is invisible there.
async function tabStops(page) {
	const stops = [];
	await page.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
	for (let i = 0; i < 200; i++) {
		await page.keyboard.press('Tab');
		const stop = await page.evaluate(() => {
			const element = document.activeElement;
			if (!element || element === document.body)
				return null;
			const frame = element.closest('.cm-editor') ?? element; // the editor marks its frame
			const style = getComputedStyle(frame), box = frame.getBoundingClientRect();
			const marked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
			const there = box.right > 0 && box.width > 0 && box.height > 0;
			return { what: element.id || element.name || element.textContent.trim(),
				tag: element.tagName, marked: marked && there };
		});
		if (!stop)
			break;
		stops.push(stop);
	}
	return stops;
}

scene('Tab reaches the content first, then each field and button in order', async (come) => {
	await furnish();
	const page = await come();
	await logIn(page, LONG_USER);
	await page.goto(`/leaderboard/${LONG_BOARD}/submit`);
	const stops = await tabStops(page);
	assert.equal(stops[0].what, 'Skip to the content');
	assert.deepEqual(stops.filter((stop) => !stop.marked), []);
	const order = stops.map((stop) => stop.what);
	const wanted = ['code', 'file', 'mode', 'gpu', 'Submit'];
	assert.deepEqual(order.filter((what) => wanted.includes(what)), wanted);

	await page.goto('/');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await page.waitForURL('**/#main');
	await page.keyboard.press('Tab');
	assert.ok(await page.evaluate(
		() => document.getElementById('main').contains(document.activeElement)));
});

scene('the keyboard alone fills in and sends a form', async (come) => {
	const page = await come();
	await page.goto('/register');
	// the page focuses the first field
	await page.waitForFunction(() => document.activeElement?.id === 'name');
	await page.keyboard.type('keyboarder');
	await page.keyboard.press('Tab');
	await page.keyboard.type(PASSWORD);
	await page.keyboard.press('Tab');
	await page.keyboard.type(PASSWORD);
	await page.keyboard.press('Enter');
	await page.locator('.who').getByRole('link', { name: 'keyboarder' }).waitFor();
});

scene('the queue and a submission update themselves for a second visitor', async (come) => {
	await furnish();
	const page = await come(), author = await come();
	await register(author, 'ariel');
	const id = await submit(author, LONG_BOARD, { code: SLOW, mode: 'Test' });
	await page.goto('/queue');
	assert.ok((await page.locator('main').textContent()).includes('ariel'));
	await page.goto(`/submission/${id}`);
	assert.equal(await verdictOf(page), 'passed');
	assert.ok(page.url().startsWith(url));
});
