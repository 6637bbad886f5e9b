// What every page owes its readers: found by following every link as a visitor, a participant and an admin.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axeFaults, overflow, structureFaults } from './checks.mjs';
import { closeBrowser, createLeaderboard, fillAndSend, logIn, logInAsAdmin, PASSWORD, register, RIGHT, scene, setDeadline, SLOW, sourceFile,
	submit, taskZip, url, verdictOf, visit, WRONG } from './visitor.mjs';

after(closeBrowser);

const NARROW = { width: 360, height: 740 };
const FIRST_VISIT_BYTES = 100_000, MOST_PAGES = 600;

// ---- a site with everything on it that is hard to show ----

const LONG_BOARD = 'a_leaderboard_whose_name_is_as_long_as_names_may_be_' + 'x'.repeat(12), LONG_USER = 'W'.repeat(32);
const LONG_FILE = 'a_file_name_without_any_place_to_break_it_'.repeat(4) + '.py';
const DESCRIPTION = `# A heading

A very long word: ${'w'.repeat(300)}, and \`${'code'.repeat(60)}\`.

| ${Array.from({ length: 14 }, (_, i) => `column ${i}`).join(' | ')} |
|${'---|'.repeat(14)}
| ${Array.from({ length: 14 }, (_, i) => i * 1e9).join(' | ')} |

    ${'a line of code that goes on, '.repeat(20)}

![a picture of elsewhere](https://example.org/picture.png) <img src="https://example.org/other.png">
<script src="https://example.org/script.js"></script> [a link](https://example.org/)
`;
const NOISY = `import sys
print("${'out'.repeat(200)}")
print("\\x1b[31m<b>red</b>", file=sys.stderr)

def custom_kernel(number):
    return "${'a wrong answer without end '.repeat(20)}"
`;

let furnished;

// Makes it once for this file, and returns the addresses of pages that no link leads to at every time.
function furnish() {
	furnished ??= (async () => {
		const { page: admin, context: adminContext } = await visit({ watch: false }), { page, context } = await visit({ watch: false });
		await logInAsAdmin(admin);
		await createLeaderboard(admin, LONG_BOARD, { task: taskZip(DESCRIPTION), deadline: '2090-01-01T00:00' });
		await createLeaderboard(admin, 'waiting', { others: 'H200 ANOTHERDEVICE' });
		await createLeaderboard(admin, 'ended');
		await setDeadline(admin, 'ended', '2001-01-01T00:00');
		await register(page, LONG_USER);
		const ids = {};
		ids.noisy = await submit(page, LONG_BOARD, { file: sourceFile(NOISY, LONG_FILE), mode: 'Test' });
		ids.broken = await submit(page, LONG_BOARD, { code: 'this is no Python', mode: 'Test' });
		ids.passed = await submit(page, LONG_BOARD, { code: RIGHT, mode: 'Ranked' });
		await verdictOf(page);
		await page.goto('/leaderboard/waiting/submit');
		await page.getByLabel('or pasted code').fill(WRONG);
		await page.locator('input[name=gpu]').first().check();
		await page.getByRole('button', { name: 'Submit', exact: true }).click();
		await page.waitForURL(/\/submission\/\d+$/);
		ids.queued = Number(page.url().match(/\d+$/)[0]);
		await context.close();
		await adminContext.close();
		return ids;
	})();
	return furnished;
}

const ROLES = {
	'a visitor': async () => {},
	'a participant': (page) => logIn(page, LONG_USER),
	'an admin': logInAsAdmin,
};

// ---- following every link ----

// Pages of one shape come from one template: /leaderboard/matmul_py/task and /leaderboard/softmax_py/task.
function shape(path) {
	const [address, query] = path.split('?');
	const parts = address.replace(/^\/(leaderboard|submission|user)\/[^/]+/, '/$1/*').replace(/^(\/admin\/leaderboard)\/[^/]+/, '$1/*')
		.replace(/^(\/leaderboard\/\*\/(?:task|raw|template))\/.+/, '$1/*');
	return parts + (query ? '?' + query.replace(/=[^&]*/g, '') : '');
}

const links = (page) => page.evaluate(() => [...document.querySelectorAll('a[href]')]
	.filter((link) => link.origin === location.origin && !link.hasAttribute('download')).map((link) => link.pathname + link.search));

// Loads every page that can be reached, and calls `look` on each. What is no HTML is only asked for.
async function crawl(page, look) {
	const { queued } = await furnish();
	const waiting = ['/', `/submission/${queued}`, `/user/${LONG_USER}`, '/login', '/register'], known = new Set(waiting);
	const looked = [];
	while (waiting.length) {
		const path = waiting.shift();
		const answer = await page.request.get(path);
		assert.equal(answer.status(), 200, `${path} answers ${answer.status()}`);
		if (!answer.headers()['content-type'].startsWith('text/html'))
			continue;
		await page.goto(path);
		looked.push(path);
		assert.ok(looked.length <= MOST_PAGES, `more than ${MOST_PAGES} pages, the last of them ${looked.slice(-5)}`);
		await look(path);
		for (const link of await links(page))
			if (!known.has(link)) {
				known.add(link);
				waiting.push(link);
			}
	}
	return looked;
}

const reached = new Map(); // by role: every page that was looked at

for (const [role, enter] of Object.entries(ROLES))
	scene(`every page that ${role} can reach is whole and fits a screen of 360 px`, async (come) => {
		const page = await come(NARROW), faults = [];
		await furnish();
		await enter(page);
		const looked = await crawl(page, async (path) => {
			for (const fault of [...await page.evaluate(structureFaults), ...await page.evaluate(overflow)])
				faults.push(`${path} ${fault}`);
		});
		reached.set(role, looked);
		assert.deepEqual(faults.slice(0, 20), []);
		const shapes = new Set(looked.map(shape));
		const wanted = ['/', '/queue', '/login', '/register', '/leaderboard/*', '/leaderboard/*/submit', '/leaderboard/*/task', '/leaderboard/*/task/*',
			'/submission/*', '/user/*', '/language/py', '/language/cu', '/judge'];
		if (role !== 'a visitor')
			wanted.push('/account', '/account/sessions', '/account/tokens', '/account/data', '/account/delete', '/leaderboard/*/mine');
		if (role === 'an admin')
			wanted.push('/admin', '/admin/review', '/admin/workers', '/admin/submissions', '/admin/rejudgings', '/admin/announcements', '/admin/users', '/admin/audit', '/admin/leaderboards/new', '/admin/leaderboard/*/edit', '/admin/leaderboard/*/delete');
		for (const one of wanted)
			assert.ok(shapes.has(one), `no link leads to ${one}; there are ${[...shapes]}`);
	});

const found = new Map();

// One page of each shape that somebody of this role can reach, and the submissions that ended in different ways.
function onePageOfEachShape(role, page) {
	if (!found.has(role))
		found.set(role, (async () => {
			const ids = await furnish(), seen = new Map();
			for (const path of reached.get(role) ?? await crawl(page, async () => {}))
				if (!seen.has(shape(path)))
					seen.set(shape(path), path);
			const more = [`/leaderboard/${LONG_BOARD}`, '/leaderboard/ended', ...Object.values(ids).map((id) => `/submission/${id}`)];
			return [...new Set([...seen.values(), ...more])];
		})());
	return found.get(role);
}

for (const dark of [false, true])
	for (const [role, enter] of Object.entries(ROLES))
		scene(`no page that ${role} sees breaks a rule of WCAG 2.2 AA that a program can check, ${dark ? 'dark' : 'light'}`, async (come) => {
			await furnish();
			const page = await come({ dark }), faults = [];
			await enter(page);
			for (const path of [...await onePageOfEachShape(role, page), '/nothing/here', '/leaderboard/none']) {
				await page.goto(path);
				faults.push(...(await axeFaults(page)).map((fault) => `${path} ${fault}`));
			}
			assert.deepEqual(faults, []);
		});

// ---- forms that were refused ----

const REFUSALS = {
	'/login': async (page) => fillAndSend(page, { Name: 'nobody', Password: PASSWORD }, 'Log in'),
	'/register': async (page) => fillAndSend(page, { Name: 'admin', Password: PASSWORD }, 'Register'),
	[`/leaderboard/${LONG_BOARD}/submit`]: async (page) => {
		await page.getByLabel('or pasted code').fill('#!POPCORN leaderboard other\n' + RIGHT);
		await page.getByRole('button', { name: 'Submit', exact: true }).click();
	},
	'/account': async (page) => fillAndSend(page, { 'Current password': 'not mine at all', 'New password, at least 8 characters': PASSWORD,
		'New password again': PASSWORD }, 'Change the password'),
	'/admin/leaderboards/new': async (page) => {
		await page.getByLabel('Name', { exact: true }).fill(LONG_BOARD);
		await page.getByLabel('Task, as a zip').setInputFiles(taskZip('', { 'task.yml': 'lang: rust\nnonsense: ' + 'x'.repeat(200) }));
		await page.getByRole('button', { name: 'Create the leaderboard' }).click();
	},
	[`/admin/leaderboard/${LONG_BOARD}/delete`]: async (page) => {
		await page.getByLabel('To delete it, type its name').fill('x'.repeat(64));
		await page.locator('main').getByRole('button', { name: /^Delete/ }).click();
	},
};

for (const dark of [false, true])
	scene(`a form that was refused is as good a page as any, ${dark ? 'dark' : 'light'}`, async (come) => {
		await furnish();
		const page = await come({ dark, ...NARROW }), faults = [];
		for (const [path, send] of Object.entries(REFUSALS)) {
			if (path.startsWith('/leaderboard/'))
				await logInAsAdmin(page);
			await page.goto(path);
			await send(page);
			await page.locator('.field-error, .notice.problem').first().waitFor();
			for (const fault of [...await page.evaluate(structureFaults), ...await page.evaluate(overflow), ...await axeFaults(page)])
				faults.push(`${path} ${fault}`);
		}
		assert.deepEqual(faults, []);
	});

scene('what does not exist, or is not allowed, is told on a page like the others', async (come) => {
	await furnish();
	const page = await come(NARROW);
	await logIn(page, LONG_USER);
	const faults = [];
	for (const [path, status] of [['/nothing/here', 404], ['/leaderboard/none', 404], ['/submission/999999', 404], ['/user/nobody', 404],
		['/admin', 403]]) {
		const answer = await page.goto(path);
		assert.equal(answer.status(), status, path);
		assert.ok(await page.getByRole('alert').isVisible());
		for (const fault of [...await page.evaluate(structureFaults), ...await page.evaluate(overflow)])
			faults.push(`${path} ${fault}`);
	}
	assert.deepEqual(faults, []);
});

// ---- weight, colours, keyboard ----

scene(`the first visit to a page costs at most ${FIRST_VISIT_BYTES / 1000} KB`, async (come) => {
	await furnish();
	const heavy = [];
	for (const path of await onePageOfEachShape('a visitor', await come())) {
		const { page, context } = await visit({ watch: false }); // nothing in its cache
		const network = await context.newCDPSession(page);
		let bytes = 0;
		network.on('Network.loadingFinished', (load) => { bytes += load.encodedDataLength; });
		await network.send('Network.enable');
		await page.goto(path, { waitUntil: 'load' });
		await context.close();
		assert.ok(bytes > 1000, `${path}: nothing was counted`);
		if (bytes > FIRST_VISIT_BYTES)
			heavy.push(`${path}: ${bytes} bytes`);
	}
	assert.deepEqual(heavy, []);
});

scene('a reader whose system is dark gets dark pages', async (come) => {
	const colours = [];
	for (const dark of [false, true]) {
		const page = await come({ dark });
		await page.goto('/');
		const [ground, text] = await page.evaluate(() => {
			const style = getComputedStyle(document.body);
			return [style.backgroundColor, style.color].map((colour) => colour.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
		});
		colours.push({ ground, text });
	}
	assert.ok(colours[0].ground > colours[0].text && colours[1].ground < colours[1].text, JSON.stringify(colours));
	assert.ok(colours[0].ground > 600 && colours[1].ground < 150, JSON.stringify(colours));
});

// Where Tab leads from the beginning of the page, until it leaves it. Each stop is described; one without a visible
// mark of the focus says so.
async function tabStops(page) {
	const stops = [];
	await page.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
	for (let i = 0; i < 200; i++) {
		await page.keyboard.press('Tab');
		const stop = await page.evaluate(() => {
			const element = document.activeElement;
			if (!element || element === document.body)
				return null;
			const style = getComputedStyle(element), box = element.getBoundingClientRect();
			const marked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
			const there = box.right > 0 && box.width > 0 && box.height > 0;
			return { what: element.id || element.name || element.textContent.trim(), tag: element.tagName, marked: marked && there };
		});
		if (!stop)
			break;
		stops.push(stop);
	}
	return stops;
}

scene('the keyboard reaches the content first, and every field and button of a form in its order', async (come) => {
	await furnish();
	const page = await come();
	await logIn(page, LONG_USER);
	await page.goto(`/leaderboard/${LONG_BOARD}/submit`);
	const stops = await tabStops(page);
	assert.equal(stops[0].what, 'Skip to the content');
	assert.deepEqual(stops.filter((stop) => !stop.marked), []);
	const order = stops.map((stop) => stop.what);
	const wanted = ['file', 'code', 'mode', 'gpu', 'Submit'];
	assert.deepEqual(order.filter((what) => wanted.includes(what)), wanted);

	await page.goto('/');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await page.waitForURL('**/#main');
	await page.keyboard.press('Tab');
	assert.ok(await page.evaluate(() => document.getElementById('main').contains(document.activeElement)));
});

scene('a form is filled in and sent with the keyboard alone', async (come) => {
	const page = await come();
	await page.goto('/register');
	await page.waitForFunction(() => document.activeElement?.id === 'name'); // it gets the focus by itself
	await page.keyboard.type('keyboarder');
	await page.keyboard.press('Tab');
	await page.keyboard.type(PASSWORD);
	await page.keyboard.press('Enter');
	await page.locator('.who').getByRole('link', { name: 'keyboarder' }).waitFor();
});

scene('one visitor watches while another one submits: the queue and the submission change by themselves', async (come) => {
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
