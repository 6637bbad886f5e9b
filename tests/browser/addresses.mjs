// The addresses of pages, for the tests and the script that look at every page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CREATOR, CROWD, DEVICE, LONG_BOARD, LONG_TEAM, LONG_USER, LONG_WORKER } from './full.mjs';
import { logIn, logInAsAdmin } from './visitor.mjs';

// The pattern and the access level of each GET row of the router's table, in its order.
const regexOf = (pattern) => new RegExp('^' + pattern.replaceAll('.', '\\.')
	.replaceAll('**', '.+').replace(/(?<!\.\+|\.)\*/g, '[^/]+') + '$');
export const ROUTES = [...readFileSync(new URL('../../cgi/router.c', import.meta.url), 'utf8')
	.split('ROUTES[] = {')[1].split('};')[0]
	.matchAll(/\{ METHOD_GET,\s+"([^"]+)",\s+\w+,\s+(\w+),/g)]
	.map(([, pattern, access]) => ({ pattern, access, regex: regexOf(pattern) }));
export const routeOf = (path) => ROUTES.find(({ regex }) => regex.test(path.split(/[?#]/)[0]));

export const ROLES = {
	'a visitor': { enter: async () => {}, may: ['ANYONE'] },
	'a participant': { enter: (page) => logIn(page, LONG_USER), may: ['ANYONE', 'LOGGED_IN'] },
	'a creator': { enter: (page) => logIn(page, CREATOR),
		may: ['ANYONE', 'LOGGED_IN', 'STAFF', 'CREATORS'] },
	'an admin': { enter: logInAsAdmin, may: ['ANYONE', 'LOGGED_IN', 'STAFF', 'CREATORS', 'ADMINS'] },
};

// The pages of docs/, and of parts of them, that /help serves.
const HELP_PAGES = [...readFileSync(new URL('../../Makefile', import.meta.url), 'utf8')
	.matchAll(/^HELP(?:_PARTS)? := ((?:.*\\\n)*.*)/gm)].flatMap(([, names]) => names.match(/[\w:-]+/g))
	.map((name) => `/help/${name.replace(':', '-')}`);

// Responses that are not pages: data for programs, files and images.
export const NO_PAGES = ['/leaderboard/*.json', '/leaderboard/*.csv', '/leaderboard/*.atom',
	'/leaderboard/*/badge.svg', '/leaderboard/*/share.png',
	'/contest/*.json', '/contest/*.csv', '/contest/*/certificate/*',
	'/leaderboard/*/live', '/admin/leaderboard/*/dryrun/status', '/admin/hooks/*/status',
	'/leaderboard/*/raw/**', '/leaderboard/*/template/*', '/submission/*/status',
	'/submission/*/source', '/submission/*/artifact/*', '/submission/*/plan/*',
	'/comparison/*/status', '/queue/status', '/language/*/*', '/account/export', '/healthz',
	'/metrics', '/help/terminal/podium', '/help/terminal/podium.sha256',
	// The steps of a login through a provider.
	'/sign-in', '/sign-in/*', '/sign-in/*/callback',
	// These pages exist only during a login or a set-up, where factors.test.mjs looks at them.
	'/login/factor', '/account/security/app'];

// Lets only these roles look at the paths, if the router admits them.
const only = (roles, ...paths) => paths.map((path) => ({ path, roles }));
const VISITOR = ['a visitor'], AUTHOR = ['a participant'], ADMIN = ['an admin'],
	OWNERS = ['a creator', 'an admin'], MEMBERS = ['a participant', ...OWNERS];

const ANYWHERE = ['/', '/submit', '/mine', '/compare', '/queue', '/archive', '/contests', '/join', '/language/py',
	'/language/cu', '/judge', '/help', ...HELP_PAGES, '/account', '/account/identities',
	'/account/security', '/account/confirm',
	'/account/sessions', '/account/tokens', '/account/mail', '/device', '/account/data',
	'/account/delete', ...only(VISITOR, '/account/deleted', '/login', '/register', '/forgot'),
	'/admin',
	'/admin/leaderboards/new', '/admin/invites', '/admin/hooks',
	'/admin/contests/new', '/admin/sets/new', '/admin/workers', '/admin/review', '/admin/submissions',
	'/admin/announcements', '/admin/rejudgings', '/admin/users', '/admin/audit'];
export const EMPTY = [...ANYWHERE, `/user/${LONG_USER}`];

const crowd = (rest) => `/leaderboard/${CROWD}${rest}`,
	long = (rest) => `/leaderboard/${LONG_BOARD}${rest}`;
export const FULL = (ids) => [...EMPTY,
	...only(VISITOR, crowd('?gpu=H200')), // 100 rows; other roles look at the next page
	...['?gpu=H200&page=2', '?gpu=H200&user=nobody', '?view=shapes&gpu=H200', '?view=gpus',
		'?view=live', '?view=trend', '?view=submissions', '/submit', '/mine', '/questions',
		'/task/file/eval.py'].map(crowd),
	...['', '/submit', '/task', '?view=shapes', '?view=trend', '?view=submissions'].map(long),
	...['bare', 'bare?view=shapes', 'bare?view=gpus', 'bare?view=live', 'bare?view=trend',
		'bare?view=submissions', 'bare/submit', 'bare/mine',
		'bare/questions',
		'deviceless', 'deviceless/submit', 'ended', 'ended/submit',
		'practice', 'practice/submit', 'frozen', 'archived'].map((rest) => `/leaderboard/${rest}`),
	'/contest/past', '/contest/coming', '/contest/past/teams', '/contest/coming/teams',
	`/user/${LONG_TEAM}`,
	...only(OWNERS, '/contest/past/reveal?step=2', '/contest/past/unfrozen', '/admin/contest/past'),
	...only(MEMBERS, '/leaderboard/closed_one'), ...only(OWNERS, '/leaderboard/hidden_one'),
	...['noisy', 'broken', 'passed', 'own'].map((name) => `/submission/${ids[name]}`),
	...only(['a participant', 'an admin'], `/submission/${ids.first}`),
	...only(AUTHOR, ...Array.from({ length: 11 }, (_, i) => `/submission/${ids.first + 1 + i}`),
		crowd(`/submit?from=${ids.own}`), `/submission/${ids.queued}/cancel`,
		`/submission/${ids.own}/withdraw`, `/submission/${ids.own}/note`, '/mine?mode=test',
		`/compare?a=${ids.own}&b=${ids.queued}`),
	`/compare?a=${ids.own}&b=${ids.other}`, `/comparison/${ids.comparison}`, '/user/participant7',
	ids.link, ...ids.mail, `/join?code=code-of-a-class-2`,
	...['edit', 'task', 'delete', 'publishing', 'versions', 'diff?from=1&to=2',
		'switch?version=2', 'clone', 'dryrun', 'similar', 'hooks', 'roles', 'exceptions',
		'unfrozen']
		.map((page) => `/admin${long(`/${page}`)}`),
	'/admin/leaderboard/closed_one/publishing', `/admin/leaderboard/${CROWD}/dryrun`,
	`/admin/leaderboard/${CROWD}/edit`, ...only(ADMIN, `/admin/sets/${ids.set}`),
	`/admin/host/${LONG_WORKER}`, `/admin/submission/${ids.own}`, `/admin/submission/${ids.first}`,
	`/admin/device/${LONG_WORKER}/${DEVICE}`,
	`/admin/rejudgings/${ids.rejudging}`, `/admin/rejudgings/${ids.rejudging}/${ids.rejudged}`,
	`/admin/users/${LONG_USER}/ban`, '/admin/users?page=2', '/admin/users?q=nobody-is-called-this',
	'/admin/audit?who=nobody',
	`/admin/submissions?user=${LONG_USER}`, ...ids.hooks.map((id) => `/admin/hooks/${id}`)];

// The pages of a site that usual.mjs furnished.
export const USUAL = ({ board, reader, best, other }) => [...ANYWHERE, `/user/${reader}`,
	...['', '?view=shapes', '?view=gpus', '?view=live', '?view=trend', '?view=submissions', '/task',
		'/submit', '/mine', '/questions',
		'/task/file/eval.py'].map((rest) => `/leaderboard/${board}${rest}`),
	`/submission/${best}`, `/compare?a=${best}&b=${other}`,
	...['edit', 'task', 'delete', 'publishing', 'versions', 'clone', 'dryrun', 'similar', 'hooks',
		'roles', 'exceptions', 'unfrozen']
		.map((page) => `/admin/leaderboard/${board}/${page}`),
	`/admin/submission/${best}`];

export function pathsOf(list, role) {
	return list.map((one) => one.path ? one : { path: one }).filter(({ path, roles }) => {
		const route = routeOf(path);
		assert.ok(route, `the router has no ${path}`);
		return ROLES[role].may.includes(route.access) && (!roles || roles.includes(role));
	}).map(({ path }) => path);
}
