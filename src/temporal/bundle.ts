// Provides the workflow code as one bundle. The npm package contains it; a clone builds it once and caches it until its sources
// change, because bundling is the slowest step of a start.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkerOptions } from '@temporalio/worker';
import { replaceFile } from '../host/replace-file.ts';
import { refuseUnbuildable } from './clone-path.ts';

export type WorkflowBundle = NonNullable<WorkerOptions['workflowBundle']>;

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const isSource = import.meta.url.endsWith('.ts');
const PACKED = at('../../workflow-bundle.js');
const KEPT = at('../../node_modules/.cache/runsheet');
const WORKFLOWS = at('../../workflows');

export async function workflowBundle(): Promise<WorkflowBundle> {
  if (!isSource && existsSync(PACKED)) return { codePath: PACKED };
  refuseUnbuildable();
  const { isAsSafeAsPackages } = (await import(
    new URL('../../bin/kept-bundle.mjs', import.meta.url).href
  )) as KeptBundle;
  if (!isAsSafeAsPackages([KEPT, dirname(KEPT)])) return { code: await makeBundle() };
  const codePath = join(KEPT, `workflow-bundle-${await sourcesHash()}.js`);
  if (existsSync(codePath)) return { codePath };
  const code = await makeBundle();
  try {
    await keep(codePath, code);
    return { codePath };
  } catch (error) {
    // The clone belongs to another user, or is on a disk that is read-only or full.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return { code };
  }
}

/** The part of bin/kept-bundle that a clone uses; the npm package never gets here. */
type KeptBundle = { isAsSafeAsPackages(folders: readonly string[]): boolean };

/**
 * The SDK formats the stack of each promise in a workflow, which serves only queries, and those are not allowed. With
 * one frame a replay takes a third less processor time, and an error still names the function that threw it.
 */
const ONE_FRAME = 'Error.stackTraceLimit = 1;';
/** Code before this line keeps the lines and columns of the source map. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=/;

/** @public The build of the package calls it. */
export async function makeBundle(): Promise<string> {
  const workflowFile = (name: string): string => join(WORKFLOWS, `${name}.${isSource ? 'ts' : 'js'}`);
  const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };
  const { code } = await bundleWorkflowCode({
    workflowsPath: workflowFile('index'),
    workflowInterceptorModules: [workflowFile('query-replay-guard'), workflowFile('payload-guard')],
    failureConverterPath: workflowFile('failure-converter'),
    logger: quiet,
    // Without the bundler's path comments and the comments of the sources the bundle is a fifth smaller.
    webpackConfigHook: (config) => ({
      ...config,
      output: { ...config.output, pathinfo: false },
      module: { ...config.module, rules: config.module?.rules?.map(forNode) ?? [] },
    }),
  });
  return code.replace(SOURCE_MAP, (map) => `\n${ONE_FRAME}${map}`);
}

type WebpackRule = { readonly use?: { readonly options?: { readonly jsc?: object } } };

/**
 * The rule that compiles our own sources, changed to remove comments and to keep syntax that Node knows, which is
 * quicker.
 */
function forNode<R>(rule: R): R {
  const { use } = rule as WebpackRule;
  if (use?.options === undefined) return rule;
  const minify = { compress: false, mangle: false, format: { comments: false } };
  const options = { ...use.options, jsc: { ...use.options.jsc, target: 'es2022', minify }, minify: true };
  return { ...rule, use: { ...use, options } };
}

async function keep(path: string, code: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  replaceFile(path, code, { mode: 0o666 });
  const stale = (await readdir(dirname(path))).filter((name) => /^workflow-bundle-[0-9a-f]+\.js$/.test(name));
  const outdated = stale.map((name) => join(dirname(path), name)).filter((file) => file !== path);
  await Promise.all(outdated.map((file) => rm(file, { force: true })));
}

async function sourcesHash(): Promise<string> {
  const hash = createHash('sha256');
  const folders = [WORKFLOWS, at('../batch'), at('../options')];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files.sort()) hash.update(relative(folder, file)).update(await readFile(file));
  }
  for (const file of ['../../package.json', import.meta.url]) hash.update(await readFile(at(file)));
  return hash.digest('hex').slice(0, 16);
}
