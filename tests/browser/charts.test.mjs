// The charts of a leaderboard and its view for a projector, in a real browser.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { faultsAsShown, looksRight, overflow, structureFaults } from './checks.mjs';
import { closeBrowser, createLeaderboard, logIn, logInAsAdmin, register, RIGHT, scene, submit,
	verdictOf, visit } from './visitor.mjs';

after(closeBrowser);

const BOARD = 'charted';
let furnished;

// Creates a leaderboard with one result, once for this file.
function furnish() {
	furnished ??= (async () => {
		const { page, context } = await visit({ watch: false });
		await logInAsAdmin(page);
		await createLeaderboard(page, BOARD);
		await ranked('first');
		await context.close();
	})();
	return furnished;
}

async function ranked(name) {
	const { page, context } = await visit({ watch: false });
	await register(page, name);
	await submit(page, BOARD, { code: RIGHT, mode: 'Ranked' });
	assert.equal(await verdictOf(page), 'passed');
	await context.close();
}

// Opens the page until it shows the trend. The cached trend may be a few seconds old.
async function openTrend(page) {
	await furnish();
	const chart = page.getByRole('img', { name: /^Best times on CPU/ });
	do
		await page.goto(`/leaderboard/${BOARD}?view=trend`);
	while (!await chart.count());
	return chart;
}

scene('without scripts, the page has the trend and its table', async (come) => {
	const page = await come({ scripts: false }), chart = await openTrend(page);
	assert.ok((await chart.boundingBox()).height > 200);
	const table = page.getByRole('region', { name: 'Best times on CPU over time' });
	assert.equal(await table.isVisible(), false);
	await page.getByText('The trend as a table').focus();
	await page.keyboard.press('Enter');
	await table.getByRole('rowheader', { name: 'first' }).waitFor();
	// This scene has no scripts, and axe needs them. Run only the other checks.
	assert.deepEqual([...await page.evaluate(structureFaults), ...await page.evaluate(overflow)],
		[]);
});

scene('each view fits 360 px and a wide screen', async (come) => {
	const page = await come();
	await openTrend(page);
	for (const link of ['By shape', 'By device', 'Projector']) {
		await page.goto(`/leaderboard/${BOARD}`);
		await page.getByRole('link', { name: link }).click();
		await page.getByRole('rowheader', { name: 'first' }).waitFor();
		await looksRight(page);
	}
});

scene('the chart keeps its text at every width', async (come) => {
	const heights = [];
	for (const width of [360, 1440]) {
		const chart = await openTrend(await come({ width, height: 800 }));
		heights.push(Math.round((await chart.locator('text').first().boundingBox()).height));
		for (const label of await chart.locator('text').all()) {
			const [inner, outer] = [await label.boundingBox(), await chart.boundingBox()];
			assert.ok(inner.x >= outer.x - 1 && inner.x + inner.width <= outer.x + outer.width + 1,
				`${await label.textContent()} at ${JSON.stringify(inner)} is cut off by `
				+ JSON.stringify(outer));
		}
	}
	assert.equal(heights[0], heights[1]);
});

scene('a ranked user sees a line of their own, with rings and a label', async (come) => {
	await furnish();
	for (const options of [{ width: 360, height: 740 }, { width: 1440, dark: true }]) {
		const page = await come(options);
		await logIn(page, 'first');
		const chart = await openTrend(page), word = chart.getByText('you', { exact: true });
		await word.waitFor();
		await page.getByRole('listitem').filter({ hasText: 'first (you)' }).waitFor();
		const [inner, outer] = [await word.boundingBox(), await chart.boundingBox()];
		assert.ok(inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width
			&& inner.y >= outer.y);
		assert.deepEqual(await faultsAsShown(page), []);
		await page.goto(`/leaderboard/${BOARD}?view=shapes`);
		await page.getByRole('rowheader', { name: '1 first (you)' }).waitFor();
		assert.deepEqual(await faultsAsShown(page), []);
	}
});

scene('the projector view has large text and fits its screen', async (come) => {
	await furnish();
	for (const size of [{ width: 1280, height: 720 }, { width: 1920, height: 1080, dark: true }]) {
		const page = await come(size);
		await page.goto(`/leaderboard/${BOARD}?view=live`);
		await page.getByText('Newest record: first').waitFor();
		// Find and measure the cell in one step, because the page replaces it when it changes.
		const letters =
			await page.evaluate(
			() => parseFloat(getComputedStyle([...document.querySelectorAll('th[scope=row]')]
			.find((cell) => cell.textContent.includes('first'))).fontSize));
		assert.ok(letters >= size.height / 36, `${letters} px on ${size.height}`);
		assert.deepEqual(await faultsAsShown(page), []);
		assert.equal(await page.evaluate(
			() => document.documentElement.scrollHeight <= innerHeight), true);
	}
});

scene('without scripts, the projector view reloads itself', async (come) => {
	const page = await come({ scripts: false });
	await furnish();
	await page.goto(`/leaderboard/${BOARD}?view=live`);
	await page.getByRole('rowheader', { name: 'first' }).waitFor();
	await ranked('unscripted');
	await page.getByRole('rowheader', { name: 'unscripted' }).waitFor();
});

scene('the projector view shows a new result without a reload', async (come) => {
	const page = await come();
	await furnish();
	await page.goto(`/leaderboard/${BOARD}?view=live`);
	await page.getByRole('rowheader', { name: 'first' }).waitFor();
	assert.equal(await page.getByRole('navigation').count(), 0);
	await page.evaluate(() => { window.stayed = true; });
	await ranked('second');
	await page.getByRole('rowheader', { name: 'second' }).waitFor();
	assert.equal(await page.evaluate(() => window.stayed), true);
});
