// Cancelling, pausing and quotas in a browser, with and without scripts.
import assert from 'node:assert/strict';
import test from 'node:test';
import { looksRight } from './checks.mjs';
import { RIGHT, SLOW, closeBrowser, codeField, codeIn, createLeaderboard, editLeaderboard,
	logInAsAdmin, openMenu, register, scene, submit, verdictOf } from './visitor.mjs';

test.after(closeBrowser);

const main = (page) => page.locator('main');
const LONG = SLOW.replace('1.5', '30');

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts', suffix = scripts ? 'on' : 'off',
		board = `control-${suffix}`;

	scene(`a participant cancels a running submission ${how}`, async (come) => {
		const admin = await come({ scripts }), page = await come({ scripts });
		await logInAsAdmin(admin);
		await createLeaderboard(admin, board);
		await register(page, `carl-${suffix}`);
		await submit(page, board, { code: LONG, mode: 'Test' });
		await page.getByText('Running on CPU').waitFor();
		await page.getByRole('link', { name: 'Cancel…' }).click();
		await main(page).getByText('counts toward your quota').waitFor();
		if (scripts)
			await looksRight(page);
		await page.getByRole('button', { name: /^Cancel submission \d+$/ }).click();
		await page.getByText('The submission was cancelled.').waitFor();
		assert.equal(await verdictOf(page), 'cancelled');
		await page.getByText('Cancelled by its author while it ran.').waitFor();
		// This text appears once the worker has stopped the job.
		await page.getByText('The job was cancelled before it finished.').waitFor();
		assert.equal(await page.getByRole('link', { name: 'Cancel…' }).count(), 0);
		if (scripts)
			await looksRight(page);
	});

	scene(`an admin drains a device and resumes it, as participants see ${how}`, async (come) => {
		const admin = await come({ scripts }), page = await come({ scripts });
		await logInAsAdmin(admin);
		await register(page, `dora-${suffix}`);
		await admin.goto('/admin');
		await admin.getByRole('link', { name: 'Workers', exact: true }).click();
		await openMenu(admin, 'CPU');
		await admin.getByRole('button', { name: 'Drain CPU' }).click();
		await admin.getByText('Nothing runs on it now').waitFor();
		if (scripts)
			await looksRight(admin);
		await admin.getByRole('button', { name: 'Drain it' }).click();
		await admin.getByText(/^CPU of .+ takes no new jobs\.$/).waitFor();
		await admin.getByRole('heading', { name: /^CPU/ }).getByText('drained').waitFor();
		if (scripts)
			await looksRight(admin);
		await submit(page, board, { code: RIGHT, mode: 'Test' });
		await page.getByText('An admin paused the device').waitFor();
		await page.goto('/queue');
		await page.getByText('takes no new jobs').waitFor();
		if (scripts)
			await looksRight(page);
		await page.goBack();
		await admin.getByRole('button', { name: 'Resume CPU' }).click();
		await openMenu(admin, 'CPU');
		await admin.getByRole('button', { name: 'Drain CPU' }).waitFor();
		assert.equal(await verdictOf(page), 'passed');
	});

	scene(`a used-up quota is explained and keeps the form's text ${how}`, async (come) => {
		const admin = await come({ scripts }), page = await come({ scripts });
		await logInAsAdmin(admin);
		await editLeaderboard(admin, board, async (form) => {
			await form.getByText('Quotas', { exact: true }).first().click();
			await form.getByLabel('Submissions in the mode test').fill('1');
			await form.getByLabel('Hours for the mode test').fill('6');
			if (scripts)
				await looksRight(form);
		});
		await register(page, `quentin-${suffix}`);
		await submit(page, board, { code: RIGHT, mode: 'Test' });
		assert.equal(await verdictOf(page), 'passed');
		await page.goto(`/leaderboard/${board}/submit`);
		await page.getByText('0 of 1 left').waitFor();
		await codeField(page).fill('# typed again\n');
		await page.locator('input[name=gpu]').first().check();
		const [answer] =
			await Promise.all([page.waitForResponse((one) => one.request().method() === 'POST'),
			page.getByRole('button', { name: 'Submit', exact: true }).click()]);
		assert.equal(answer.status(), 429);
		assert.ok(Number(answer.headers()['retry-after']) > 5 * 3600);
		await page.getByRole('alert').getByText('Your quota of test submissions').waitFor();
		assert.match(await codeIn(page), /# typed again/);
		if (scripts)
			await looksRight(page);
		await admin.goto(`/admin/leaderboard/${board}/edit`);
		await admin.getByLabel('Submissions in the mode ranked').fill('none');
		await admin.getByRole('button', { name: 'Save' }).click();
		await admin.locator('#quota-error', { hasText: 'Type a whole number of submissions' }).waitFor();
		assert.equal(await admin.getByLabel('Submissions in the mode ranked').inputValue(), 'none');
		if (scripts)
			await looksRight(admin);
	});
}
