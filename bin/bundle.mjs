// Bundles the commands into one file, which loads in half the time. The bundle of a clone stays beside its packages and is used
// until a source changes (bin/runsheet.mjs); the bundle of a package is in dist/.

import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { KEPT, LIST, PACKAGES, changedAt, keptBundle, newestKept } from './kept-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Packages that bring files of their own, or are shared with Temporal, which loads converters by path. */
const OUTSIDE =
  /^(@temporalio|@aws-sdk|@fastify|fastify|file-type|nodemailer|open|pino|prom-client|sharp)(\/|$)/;
/** Temporal's client loads these files from beside the bundle, and they share state with the commands. */
const CONVERTERS = ['labelled', 'failures', 'encrypted-failures'];
const FINDS_CONVERTERS = 'src/temporal/encryption/converter.ts';

/** `placeOf` returns the file of a source that needs other files beside it, such as pages and programs. Returns the files in the bundle. */
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

/** Everything that goes into a bundle, including folders, which change when a file is added or removed. */
const sources = () => [
  'node_modules/.package-lock.json',
  'bin/bundle.mjs',
  ...FOLDERS,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  ),
];

/** The bundle is built aside, because running commands load parts of the old one later. */
async function keepBundle() {
  // Whoever may not write to the packages may not write to the bundle either.
  process.umask(process.umask() | (~statSync(PACKAGES).mode & 0o022));
  const made = join(KEPT, `making-${randomUUID()}`);
  mkdirSync(made, { recursive: true });
  try {
    const list = sources().map((path) => [path, changedAt(path)]);
    writeFileSync(join(made, LIST), JSON.stringify(list));
    // package.json of the clone does not apply here, and detecting the module type takes Node longer.
    writeFileSync(join(made, 'package.json'), JSON.stringify({ type: 'module' }));
    // The packages may be a link to those of another clone.
    await bundleCommands(realpathSync(made), (source) => join(root, source));
    renameSync(made, join(KEPT, String(Math.max(Date.now(), newestKept() + 1))));
    discardOld();
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Deletes bundles that were replaced a day ago, and leftovers of killed builds. */
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
