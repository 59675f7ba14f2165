// Builds the style and the script of each page that a browser shows. A package has them in dist/pages (bin/build.mjs); a clone keeps
// them beside its packages, in a folder named by the digest of what they are made of.

import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGES, isAsSafeAsPackages } from './kept-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageFile = createRequire(import.meta.url).resolve;
const KEPT = join(PACKAGES, '.cache/runsheet/pages');
const DAY_MS = 86_400_000;

const PAGES = {
  report: {
    entry: 'src/results/page/browser/main.ts',
    styles: [packageFile('uplot/dist/uPlot.min.css'), 'src/results/page/browser/style.css'],
    notice: 'preact: MIT, (c) Jason Miller; uPlot: MIT, (c) Leon Sorokin',
  },
  dashboard: {
    entry: 'src/run-service/dashboard/browser/main.tsx',
    styles: ['src/run-service/dashboard/browser/style.css'],
    notice: 'preact: MIT, (c) Jason Miller',
  },
};
const FOLDERS = Object.values(PAGES).map(({ entry }) => dirname(entry));
/** The only modules outside of these folders whose values a page may import. */
const SHARED = ['src/options/text/printed-numbers.ts', 'src/host/formats/media-types.ts'];
/** Packages whose other versions may give other bytes. */
const MADE_BY = ['rolldown', 'preact', 'uplot'];

/** `{ [page]: { style, script } }`. Equal sources give equal bytes: a server shows a stored page only if its script is this one. */
export async function buildPages() {
  const { rolldown } = await import('rolldown');
  const pages = Object.entries(PAGES).map(async ([page, { entry, styles, notice }]) => {
    const bundle = await rolldown({
      input: join(root, entry),
      platform: 'browser',
      tsconfig: false,
      logLevel: 'silent',
      transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    });
    const { output } = await bundle.generate({ format: 'iife', minify: true });
    const [{ code, moduleIds }] = output;
    refuseModulesOutside(moduleIds);
    const style = styles.map((path) => readFileSync(resolve(root, path), 'utf8')).join('\n');
    return [page, { style: `\n${style}`, script: `\n/*! ${notice} */\n${code}` }];
  });
  return Object.fromEntries(await Promise.all(pages));
}

/** The digest of a page covers only its folders, the shared modules and packages. */
function refuseModulesOutside(modules) {
  const own = [
    ...FOLDERS.map((folder) => join(root, folder) + sep),
    ...SHARED.map((path) => join(root, path)),
  ];
  const inside = [...own, `${sep}node_modules${sep}`, '\0'];
  const outside = modules.filter((module) => !inside.some((part) => module.includes(part)));
  if (outside.length > 0) throw new Error(`a page may import only types from ${outside.join(', ')}`);
}

/** Writes `<page>.css` and `<page>.js` for each page. */
export function writePages(pages, out) {
  mkdirSync(out, { recursive: true });
  for (const [page, { style, script }] of Object.entries(pages)) {
    writeFileSync(join(out, `${page}.css`), style);
    writeFileSync(join(out, `${page}.js`), script);
  }
}

/** The pages of a clone. They are built again when a source or a package has changed, and kept where this user may write. */
export async function pagesOfClone() {
  const kept = join(KEPT, digestOfSources());
  const built = readPages(kept);
  if (built !== undefined) return built;
  const pages = await buildPages();
  try {
    keepPages(pages, kept);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes(error.code)) throw error;
  }
  return pages;
}

function digestOfSources() {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(root, join(parentPath, name))),
  );
  const digest = createHash('sha256');
  for (const path of ['bin/pages.mjs', ...SHARED, ...files.toSorted()])
    digest
      .update(`${path}\n`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  for (const name of MADE_BY) digest.update(readFileSync(join(PACKAGES, name, 'package.json')));
  return digest.digest('hex').slice(0, 32);
}

function readPages(folder) {
  const parents = [folder, KEPT, dirname(KEPT), dirname(dirname(KEPT))];
  try {
    if (!isAsSafeAsPackages(parents)) return undefined;
    const read = (name) => readFileSync(join(folder, name), 'utf8');
    return Object.fromEntries(
      Object.keys(PAGES).map((page) => [page, { style: read(`${page}.css`), script: read(`${page}.js`) }]),
    );
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Several processes may do this at once: the first of them names the folder. */
function keepPages(pages, kept) {
  // No user may write to a script who may not write to the packages.
  const mask = process.umask(process.umask() | (~statSync(PACKAGES).mode & 0o022));
  const made = join(KEPT, `making-${randomUUID()}`);
  try {
    writePages(pages, made);
    renameSync(made, kept);
    discardOld();
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  } finally {
    process.umask(mask);
    rmSync(made, { recursive: true, force: true });
  }
}

/** Folders of other sources, and of builds that were killed, stay for a day. */
function discardOld() {
  for (const name of readdirSync(KEPT)) {
    const { mtimeMs = Infinity } = statSync(join(KEPT, name), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < Date.now() - DAY_MS) rmSync(join(KEPT, name), { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await pagesOfClone();
