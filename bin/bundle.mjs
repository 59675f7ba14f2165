// Makes the commands one bundle, which loads in half the time: that of a clone stands beside its packages, until a source changes
// (bin/runsheet.mjs), and that of a package in dist/.

import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { KEPT, LIST, PACKAGES, changedAt, keptBundle, newestKept } from './kept-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** They come with files of their own, or are shared with Temporal, which loads converters by their paths. */
const OUTSIDE =
  /^(@temporalio|@aws-sdk|@fastify|fastify|file-type|nodemailer|open|pino|prom-client|sharp)(\/|$)/;
/** Temporal's client loads these from beside the bundle, and they share what the commands know. */
const CONVERTERS = ['labelled', 'failures', 'encrypted-failures'];
const FINDS_CONVERTERS = 'src/temporal/encryption/converter.ts';

/** `placeOf`: the file of a source that has others beside it, such as pages and programs. Returns the files of which it is made. */
export async function bundleCommands(out, placeOf) {
  const converters = CONVERTERS.map((name) => [name, join(root, `src/temporal/encryption/${name}.ts`)]);
  const bundle = await rolldown({
    input: { main: join(root, 'src/cli/main.ts'), ...Object.fromEntries(converters) },
    platform: 'node',
    external: OUTSIDE,
    logLevel: 'silent',
    plugins: [{ name: 'places', transform: (code, id) => atItsPlace(code, id, out, placeOf) }],
  });
  const { output } = await bundle.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

function atItsPlace(code, id, out, placeOf) {
  const name = relative(root, id).split(sep).join('/');
  if (!code.includes('import.meta.url') || !/^(src|activities|workflows)\//.test(name)) return undefined;
  if (name === FINDS_CONVERTERS) return undefined;
  const place = relative(out, placeOf(name)).split(sep).map(encodeURIComponent).join('/');
  return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
}

const DAY_MS = 86_400_000;
const FOLDERS = ['src', 'activities', 'workflows'];

/** What a bundle is made of, with the folders, which change when a file comes or goes. */
const sources = () => [
  'node_modules/.package-lock.json',
  'bin/bundle.mjs',
  ...FOLDERS,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  ),
];

/** Not in a folder that commands use: they load parts later. */
async function keepBundle() {
  // No user may write to a bundle who may not write to the packages.
  process.umask(process.umask() | (~statSync(PACKAGES).mode & 0o022));
  const made = join(KEPT, `making-${randomUUID()}`);
  mkdirSync(made, { recursive: true });
  try {
    const list = sources().map((path) => [path, changedAt(path)]);
    writeFileSync(join(made, LIST), JSON.stringify(list));
    // The package of the clone does not reach here, and guessing the kind of a module takes Node longer.
    writeFileSync(join(made, 'package.json'), JSON.stringify({ type: 'module' }));
    // The packages may be those of another clone, by a link.
    await bundleCommands(realpathSync(made), (source) => join(root, source));
    renameSync(made, join(KEPT, String(Math.max(Date.now(), newestKept() + 1))));
    discardOld();
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** What was replaced a day ago, and what was left by a build that was killed. */
function discardOld() {
  const before = Date.now() - DAY_MS;
  const names = readdirSync(KEPT);
  const newestFirst = names
    .map(Number)
    .filter(Number.isFinite)
    .toSorted((a, b) => b - a);
  const replaced = newestFirst.filter((_, at) => newestFirst[at - 1] < before).map(String);
  const isLeft = (name) =>
    name.startsWith('making-') && statSync(join(KEPT, name), { throwIfNoEntry: false })?.mtimeMs < before;
  for (const name of [...replaced, ...names.filter(isLeft)])
    rmSync(join(KEPT, name), { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && keptBundle() === undefined) await keepBundle();
