// A contest in a browser: its form, its registration, and the reveal with the keyboard and without
// scripts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { closeBrowser, logInAsAdmin, operate, register, scene } from './visitor.mjs';

test.after(closeBrowser);

const places = (page) => page.locator('tbody tr').evaluateAll((rows) => rows.map((row) =>
	[row.querySelector('.rank').textContent.trim(), row.querySelector('.name').textContent.trim()]));
const step = (page) => page.getByText(/^step \d+ of \d+$/).textContent();

scene('a host makes a contest, and participants register', async (come) => {
	const host = await come(), guest = await come({ scripts: false });
	await logInAsAdmin(host);
	await host.goto('/contests');
	await host.getByRole('link', { name: 'New contest' }).click();
	await host.getByLabel('Name', { exact: true }).fill('spring');
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

	await logInAsAdmin(plain);
	await plain.goto('/contest/past/reveal');
	await plain.getByRole('link', { name: 'Next', exact: true }).click();
	assert.equal(await step(plain), 'step 1 of 2');
	await plain.getByRole('link', { name: 'Back', exact: true }).click();
	assert.equal(await step(plain), 'step 0 of 2');
});
