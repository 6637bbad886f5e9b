// The account pages in a browser, with and without scripts: sessions, tokens, passwords, the notice
// of being overtaken, the data export and deletion.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { looksRight } from './checks.mjs';
import { PASSWORD, RIGHT, closeBrowser, createLeaderboard, fillAndSend, logIn, logInAsAdmin,
	register, scene, sourceFile, submit, url, verdictOf } from './visitor.mjs';

test.after(closeBrowser);

const main = (page) => page.locator('main');
const SLOWER = 'import time\n\ndef custom_kernel(number):\n    time.sleep(0.2)\n'
	+ '    return number + 1\n';

const tab = (page, name) => page.getByRole('navigation', { name: 'Account' })
	.getByRole('link', { name, exact: true });

for (const scripts of [true, false]) {
	const how = scripts ? 'with scripts' : 'without scripts', suffix = scripts ? 'on' : 'off';
	const look = async (page) => scripts && looksRight(page);

	scene(`a user ends a lost session from another one ${how}`, async (come) => {
		const here = await come({ scripts }), lost = await come({ scripts }),
			third = await come({ scripts }), name = `sam-${suffix}`;
		await register(here, name);
		await logIn(lost, name);
		await logIn(third, name);
		await here.goto('/account');
		await tab(here, 'Sessions').click();
		assert.equal(await tab(here, 'Sessions').getAttribute('aria-current'), 'page');
		assert.equal(await main(here).locator('tbody tr').count(), 3);
		await look(here);
		await main(here).getByRole('button', { name: /^End \w/ }).first().click();
		await main(here).getByText('Whoever used it has to log in again').waitFor();
		assert.equal(await main(here).locator('tbody tr').count(), 2);
		await main(here).getByRole('button', { name: 'End all others' }).click();
		await main(here).getByText('1 other session ends').waitFor();
		await look(here);
		await main(here).getByRole('button', { name: 'End them' }).click();
		await main(here).getByText('There are no other sessions.').waitFor();
		for (const page of [lost, third]) {
			await page.goto('/account');
			assert.equal(new URL(page.url()).pathname, '/login');
		}
	});

	// Sends the requests of a terminal that signs in.
	const terminal =
		async (path, body) => (
		await fetch(`${url}/api/v1/device/${path}`,
		{ method: 'POST', headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify(body) })).json();

	scene(`a user signs in a terminal with the code that it shows ${how}`, async (come) => {
		const page = await come({ scripts }),
			offer = await terminal('code', { name: `box ${suffix}`, scopes: ['read'] });
		await register(page, `uma-${suffix}`);
		await page.goto('/account/tokens');
		await main(page).getByRole('link', { name: 'enter the code' }).click();
		await look(page);
		await main(page).getByLabel('Code').fill('BCDF-BCDF');
		await main(page).getByRole('button', { name: 'Continue' }).click();
		await main(page).locator('#code-error', { hasText: 'No terminal waits with this code' })
			.waitFor();
		await look(page);
		await page.goto(offer.verification_uri_complete);
		assert.equal(await main(page).getByLabel('Code').inputValue(), offer.user_code);
		await main(page).getByRole('button', { name: 'Continue' }).click();
		await main(page).getByText(offer.user_code, { exact: true }).waitFor();
		await main(page).getByText('Confirm only a sign-in that you started yourself').waitFor();
		assert.equal(await main(page).getByLabel('Name of its token').inputValue(),
			`box ${suffix}`);
		assert.equal(await main(page).getByText('submit, cancel').count(), 0);
		await look(page);
		assert.equal((await terminal('token', { device_code: offer.device_code })).error,
			'authorization_pending');
		await main(page).getByRole('button', { name: 'Sign in this terminal' }).click();
		await main(page).getByText('The terminal is signed in.').waitFor();
		await main(page).getByRole('rowheader', { name: `box ${suffix}` }).waitFor();
		await look(page);
		assert.equal((await terminal('token', { device_code: offer.device_code })).user,
			`uma-${suffix}`);
	});

	scene(`a user links one id that popcorn-cli made and refuses another ${how}`, async (come) => {
		const page = await come({ scripts }),
			ask = async () => (await (await fetch(`${url}/popcorn/auth/init?provider=discord`))
			.json()).state;
		const calls = (id) =>
			fetch(`${url}/popcorn/user/submissions`, { headers: { 'X-Popcorn-Cli-Id': id } });
		await register(page, `vic-${suffix}`);
		for (const [answer, status] of [['Refuse', 401], ['Sign in this terminal', 200]]) {
			const id = await ask();
			await page.goto('/device');
			await main(page).getByLabel('Code').fill(`cli_id: ${id}`);
			await main(page).getByRole('button', { name: 'Continue' }).click();
			await main(page).getByText(id.slice(0, 13) + '…').waitFor();
			await main(page).getByText('Confirm only an id from your own file').waitFor();
			await look(page);
			assert.equal((await calls(id)).status, 401);
			await main(page).getByRole('button', { name: answer }).click();
			await main(page).getByRole('status').waitFor();
			assert.equal((await calls(id)).status, status);
		}
	});

	scene(`a token is created, shown once and revoked ${how}`, async (come) => {
		const page = await come({ scripts });
		await register(page, `tess-${suffix}`);
		await page.goto('/account/tokens');
		await look(page);
		await main(page).getByLabel('Name', { exact: true }).fill('laptop "<b>"');
		for (const scope of ['read', 'submit'])
			await main(page).getByRole('checkbox', { name: scope }).uncheck();
		await main(page).getByRole('button', { name: 'Create token' }).click();
		await main(page).locator('#scope-error').waitFor();
		assert.equal(await main(page).getByLabel('Name', { exact: true }).inputValue(),
			'laptop "<b>"');
		await look(page);
		await main(page).getByRole('checkbox', { name: 'read' }).check();
		await main(page).getByLabel('Expires').selectOption('in 7 days');
		await main(page).getByRole('button', { name: 'Create token' }).click();
		const secret = await main(page).locator('#new-token').textContent();
		assert.match(secret, /^podium_[\w-]{43}$/);
		await look(page);
		await page.reload();
		assert.equal(await main(page).getByText(secret).count(), 0);
		await main(page).getByRole('rowheader', { name: 'laptop "<b>"' }).waitFor();
		await main(page).getByText(secret.slice(0, 13) + '…').waitFor();
		await main(page).getByRole('button', { name: 'Revoke laptop' }).click();
		await main(page).getByText('Podium will refuse programs').waitFor();
		await look(page);
		await main(page).getByRole('button', { name: 'Revoke token' }).click();
		await main(page).getByText('The token was revoked').waitFor();
		await main(page).getByText('You have no tokens.').waitFor();
	});

	scene(`a new password revokes all tokens if the box is ticked ${how}`, async (come) => {
		const page = await come({ scripts });
		await register(page, `paul-${suffix}`);
		await page.goto('/account');
		const box = main(page).getByRole('checkbox', { name: /^Also revoke the API token/ });
		assert.equal(await box.count(), 0);
		await tab(page, 'API tokens').click();
		await fillAndSend(page, { Name: 'laptop' }, 'Create token');
		await tab(page, 'Password').click();
		await box.check();
		await look(page);
		await fillAndSend(page,
			{ 'Current password': 'not this one',
			'New password': 'quite another one',
			'New password again': 'quite another one' }, 'Change the password');
		await main(page).locator('#current-error').waitFor();
		assert.equal(await box.isChecked(), true);
		await fillAndSend(page,
			{ 'Current password': PASSWORD,
			'New password': 'quite another one',
			'New password again': 'quite another one' }, 'Change the password');
		await main(page).getByText('every other session was ended, and every API token was revoked')
			.waitFor();
		await look(page);
		await tab(page, 'API tokens').click();
		await main(page).getByText('You have no tokens.').waitFor();
	});

	scene(`an overtaken user reads it, exports the data and leaves ${how}`, async (come) => {
		const admin = await come({ scripts }), first = await come({ scripts }),
			second = await come({ scripts }), board = `account-${suffix}`;
		await logInAsAdmin(admin);
		await createLeaderboard(admin, board);
		await register(first, `olga-${suffix}`);
		const number = await submit(first, board, { file: sourceFile(SLOWER), mode: 'Ranked' });
		assert.equal(await verdictOf(first), 'passed');
		await register(second, `nina-${suffix}`);
		await submit(second, board, { code: RIGHT, mode: 'Ranked' });
		assert.equal(await verdictOf(second), 'passed');

		await first.goto(`/leaderboard/${board}?gpu=CPU`);
		const news = main(first)
			.getByText(`nina-${suffix} is now ahead of you on ${board}, CPU, where your rank is 2.`);
		await news.waitFor();
		await look(first);
		await main(first).getByRole('button', { name: 'Dismiss' }).click();
		assert.equal(first.url(), `${url}/leaderboard/${board}?gpu=CPU`);
		assert.equal(await news.count(), 0);

		await first.goto('/account/data');
		await look(first);
		const downloading = first.waitForEvent('download');
		await main(first).getByRole('link', { name: 'Download your data' }).click();
		const download = await downloading;
		assert.equal(download.suggestedFilename(), `podium-olga-${suffix}.json`);
		const data = JSON.parse(readFileSync(await download.path(), 'utf8'));
		assert.deepEqual(data.submissions.map((one) => [one.id, one.source]), [[number, SLOWER]]);

		await main(first).getByRole('link', { name: 'Delete your account…' }).click();
		await main(first).getByText('1 place in rankings, under the name').waitFor();
		await look(first);
		await fillAndSend(first,
			{ 'Your password': PASSWORD,
			[`To delete it, type olga-${suffix}`]: 'nobody' },
			'Delete my account forever');
		await main(first).locator('#name-error', { hasText: `type olga-${suffix}.` }).waitFor();
		await look(first);
		await fillAndSend(first,
			{ 'Your password': PASSWORD,
			[`To delete it, type olga-${suffix}`]: `olga-${suffix}` },
			'Delete my account forever');
		await first.getByRole('heading', { name: 'Your account is deleted' }).waitFor();
		await look(first);
		await first.goto(`/leaderboard/${board}?gpu=CPU`);
		await main(first).getByText(/^deleted-user-\d+$/).first().waitFor();
		// The chart is cached for a few seconds, so the deleted name may still be there.
		while (await main(first).getByText(`olga-${suffix}`).count())
			await first.reload();
		await first.getByRole('link', { name: 'Log in' }).waitFor();
	});
}
