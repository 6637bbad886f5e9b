// The way from registering to a ranked result in Firefox and in WebKit. The other suites use
// Chromium.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test, { before } from 'node:test';
import puppeteer from 'puppeteer-core';
import { CHIP, loadTask, PASSWORD, RUN_LIMIT_MS, url } from './visitor.mjs';

const BOARD = 'engines', STEP_LIMIT_MS = 120_000, TEST_LIMIT_MS = 600_000;
// One line, because an editor may indent the next one.
const SOURCE = 'custom_kernel = lambda number: number + 1';

const lack = (...programs) => {
	const missing = programs.filter(
		(program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
	return missing.length ? `there is no ${missing.join(' and no ')}` : false;
};

// ---- two browsers: each has go, evaluate, click, type and close ----

async function openFirefox() {
	const browser = await puppeteer.launch(
		{ browser: 'firefox', executablePath: '/usr/bin/firefox-esr' });
	const page = await browser.newPage(), faults = [];
	page.on('pageerror', (error) => faults.push(error.message));
	return {
		go: (path) => page.goto(url + path),
		evaluate: (body, ...values) => page.evaluate(body, ...values),
		click: (selector) => page.click(selector),
		async type(selector, text) {
			await page.click(selector);
			await page.keyboard.down('Control');
			await page.keyboard.press('a');
			await page.keyboard.up('Control');
			await page.keyboard.type(text);
		},
		async close() {
			await browser.close();
			assert.deepEqual(faults, []);
		},
	};
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	return port;
}

// Starts a program that ends with the test.
function start(program, words, options) {
	const child = spawn(program, words, { stdio: 'ignore', ...options });
	process.once('exit', () => child.kill());
	return child;
}

// A session of WebDriver (https://www.w3.org/TR/webdriver2/). WebKit needs a screen.
async function openWebKit() {
	const screen = start('Xvfb', ['-displayfd', '3', '-nolisten', 'tcp'],
		{ stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
	const [display] = await once(screen.stdio[3], 'data'), port = await freePort();
	const driver = start('WebKitWebDriver', [`--port=${port}`],
		{ env: { ...process.env, DISPLAY: `:${String(display).trim()}`, GDK_BACKEND: 'x11' } });
	const call = async (method, path, body) => {
		const answer = await fetch(`http://127.0.0.1:${port}/session${path}`,
			{ method, body: body && JSON.stringify(body) });
		const { value } = await answer.json();
		assert.ok(answer.ok, `${path}: ${value?.error} ${value?.message}`);
		return value;
	};
	const { sessionId } = await until(() => call('POST', '', { capabilities: {} })
		.catch((error) => {
			if (error.cause?.code !== 'ECONNREFUSED')
				throw error;
		}));
	const find = async (selector) => Object.values(await call('POST', `/${sessionId}/element`,
		{ using: 'css selector', value: selector }))[0];
	const evaluate = (body, ...values) => call('POST', `/${sessionId}/execute/sync`,
		{ script: `return (${body})(...arguments)`, args: values });
	// WebKit's driver does not always scroll to what it clicks.
	const click = async (selector) => {
		await evaluate((one) => document.querySelector(one).scrollIntoView({ block: 'center' }),
			selector);
		await call('POST', `/${sessionId}/element/${await find(selector)}/click`, {});
	};
	return {
		go: (path) => call('POST', `/${sessionId}/url`, { url: url + path }),
		evaluate,
		click,
		async type(selector, text) {
			// Control and A. WebDriver releases Control at the end of a call.
			for (const keys of ['\uE009a', text])
				await call('POST', `/${sessionId}/element/${await find(selector)}/value`,
					{ text: keys });
		},
		async close() {
			await call('DELETE', `/${sessionId}`);
			driver.kill();
			screen.kill();
		},
	};
}

// ---- the way ----

async function until(condition, limitMs = STEP_LIMIT_MS) {
	for (const end = Date.now() + limitMs; Date.now() < end;) {
		const value = await condition();
		if (value)
			return value;
		await new Promise((done) => setTimeout(done, 100));
	}
	throw new Error(`nothing came of ${condition} in ${limitMs / 1000} s`);
}

// Waits until the path of the open page matches and its scripts have run: the editor takes the
// place of a field. A page that is being left cannot be asked.
const arrive = (browser, path) => until(async () =>
	path.test(await browser.evaluate(() =>
		document.readyState === 'complete' ? location.pathname : '').catch(() => '')));

const textOf = (browser, selector) => browser.evaluate(
	(one) => document.querySelector(one)?.textContent.trim() ?? '', selector).catch(() => '');

async function fromRegisteringToRanked(browser, name) {
	await browser.go('/register');
	await browser.type('#name', name);
	await browser.type('#password', PASSWORD);
	await browser.type('#again', PASSWORD);
	await browser.click('main button[type=submit]');
	await until(async () => await textOf(browser, '.who [href="/account"]') === name);
	await browser.go(`/leaderboard/${BOARD}`);
	await browser.click(`main a[href="/leaderboard/${BOARD}/submit"]`);
	await arrive(browser, /\/submit$/);
	const editor = await browser.evaluate(() => Boolean(document.querySelector('.cm-content')));
	await browser.type(editor ? '.cm-content' : '#code', SOURCE);
	await browser.click('input[name=mode][value=ranked]');
	if (!await browser.evaluate(() => document.querySelector('input[name=gpu]').checked))
		await browser.click('input[name=gpu]');
	await browser.click('main form.form button.primary[type=submit]');
	await arrive(browser, /^\/submission\/\d+$/);
	// The page follows the job by itself.
	const word = await until(async () => {
		const text = await textOf(browser, CHIP);
		return text && !['queued', 'running'].includes(text) && text;
	}, RUN_LIMIT_MS);
	assert.equal(word, 'passed');
	await browser.go(`/leaderboard/${BOARD}?fresh=${name}`);
	assert.match(await textOf(browser, 'table.ranking tbody'), new RegExp(name));
}

before(() => loadTask(BOARD));

for (const [name, open, reason] of [['Firefox', openFirefox, lack('firefox-esr')],
		['WebKit', openWebKit, lack('WebKitWebDriver', 'Xvfb')]])
	test(`from registering to a ranked result in ${name}`,
		{ skip: reason, timeout: TEST_LIMIT_MS }, async () => {
		const browser = await open();
		try {
			await fromRegisteringToRanked(browser, `user-of-${name}`);
		} finally {
			await browser.close();
		}
	});
