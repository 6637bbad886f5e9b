// `make bench-browser`: how soon a person sees the main pages, with an empty cache. Each page is
// opened in two ways: as it is, and as on a slow phone (a processor four times slower, 1.6 Mbit/s,
// 150 ms to the site). PAGES=WORD opens only pages whose names contain the word. Prints medians of
// RUNS visits:
//
//	paint     first contentful paint, ms
//	largest   largest contentful paint, ms
//	blocked   total blocking time: the sum of what each task takes beyond 50 ms, ms
//	shift     cumulative layout shift
//	KB        bytes of all answers, with their headers
//	requests  how many
import { CROWD, fill, LONG_USER, makeEmpty } from './full.mjs';
import { closeBrowser, logIn, logInAsAdmin, visit } from './visitor.mjs';

const RUNS = Number(process.env.RUNS ?? 5), PAGES = process.env.PAGES ?? '';
const PHONE = { latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 75e4 / 8 };

// Runs in the page.
function watchPaints() {
	window.figures = { largest: 0, blocked: 0, shift: 0 };
	const watch = (type, note) =>
		new PerformanceObserver((list) => list.getEntries().forEach(note))
		.observe({ type, buffered: true });
	watch('largest-contentful-paint', ({ startTime }) => window.figures.largest = startTime);
	watch('longtask', ({ duration }) => window.figures.blocked += duration - 50);
	watch('layout-shift', ({ value }) => window.figures.shift += value);
}

async function figuresOf(enter, path, isPhone) {
	const { page, context } = await visit(
		{ watch: false, ...(isPhone ? { width: 390, height: 844 } : { width: 1440 }) });
	await enter(page);
	const session = await context.newCDPSession(page);
	let bytes = 0, requests = 0;
	session.on('Network.loadingFinished', (load) => {
		bytes += load.encodedDataLength;
		requests++;
	});
	await session.send('Network.enable');
	await session.send('Network.clearBrowserCache');
	if (isPhone) {
		await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
		await session.send('Network.emulateNetworkConditions', { offline: false, ...PHONE });
	}
	await page.addInitScript(watchPaints);
	await page.goto(path, { waitUntil: 'load' });
	await page.waitForTimeout(300);
	const figures = await page.evaluate(() => ({ ...window.figures,
		paint: performance.getEntriesByName('first-contentful-paint')[0].startTime }));
	await context.close();
	return { ...figures, KB: bytes / 1000, requests };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function row(name, enter, path) {
	const cells = [];
	for (const isPhone of [false, true]) {
		const visits = [];
		for (let i = 0; i < RUNS; i++)
			visits.push(await figuresOf(enter, path, isPhone));
		const of = (figure) => median(visits.map((one) => one[figure]));
		cells.push(of('paint').toFixed(0), of('largest').toFixed(0), of('blocked').toFixed(0));
		if (isPhone)
			cells.push(of('shift').toFixed(3), of('KB').toFixed(1), of('requests'));
	}
	console.log(`| ${[name, ...cells].join(' | ')} |`);
}

const nobody = async () => {}, author = (page) => logIn(page, LONG_USER);
// The help needs no data.
const ids = 'help'.includes(PAGES) && PAGES ? {} : (await makeEmpty(), await fill());
console.log('| page | paint | largest | blocked | phone: paint | largest | blocked | shift | KB '
	+ '| requests |\n|' + '---|'.repeat(10));
for (const [name, enter, path] of [
	['home', nobody, '/'], ['board, 100 rows', nobody, `/leaderboard/${CROWD}?gpu=H200`],
	['task', nobody, `/leaderboard/${CROWD}/task`], ['queue', nobody, '/queue'],
	['profile', nobody, `/user/${LONG_USER}`], ['help', nobody, '/help/first-submission'],
	['submit', author, `/leaderboard/${CROWD}/submit`],
	['submission', author, `/submission/${ids.own}`], ['history', author, '/mine'],
	['panel', logInAsAdmin, '/admin']])
	if (name.includes(PAGES))
		await row(name, enter, path);
await closeBrowser();
