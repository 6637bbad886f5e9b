// Builds static/editor.js and static/editor.LICENSE.txt from this folder. `make editor` installs
// the packages of package-lock.json and runs it. The first line of editor.js has a hash of the
// inputs and one of the code, so that a test can tell that both belong together.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const output = process.argv[2] ?? join(here, '..', 'static');
const INPUTS = ['build.mjs', 'editor.js', 'package-lock.json'];
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex');

const { outputFiles: [{ text }], metafile } = await build({ absWorkingDir: here,
	entryPoints: ['editor.js'], bundle: true, minify: true, format: 'iife', target: 'es2022',
	charset: 'utf8', legalComments: 'none', metafile: true, write: false });
const packages = [...new Set(Object.keys(metafile.inputs)
	.map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean))].sort();
const licences = packages.map((name) => {
	const folder = join(here, 'node_modules', name);
	const { version } = JSON.parse(readFileSync(join(folder, 'package.json')));
	return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
});
const inputs = hash(INPUTS.map((name) => hash(readFileSync(join(here, name)))).join('\n'));

writeFileSync(join(output, 'editor.js'), `/*! Built by \`make editor\` from editor/: inputs ${inputs}, `
	+ `code ${hash(text)}. Licences: editor.LICENSE.txt */\n${text}`);
writeFileSync(join(output, 'editor.LICENSE.txt'),
	`static/editor.js contains these packages.\n\n${licences.join(`\n${'-'.repeat(72)}\n\n`)}`);
