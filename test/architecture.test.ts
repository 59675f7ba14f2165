// What design and style ask of the tree, where a test can tell. Function sizes, `any` and empty catches are the linter's.

import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{src,workflows,activities,test,bench,bin}/**/*.{ts,mjs}', { cwd: ROOT });
const SOURCES = FILES.filter((file) => /^(src|workflows|activities)\//.test(file));

/** Which folder may use which, beside itself; `type:` where only types may be imported. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'src/batch': [],
  workflows: ['@temporalio/common', '@temporalio/workflow', 'src/batch', 'type:activities'],
  'src/errors': ['fastest-levenshtein'],
  'src/host': ['pino', 'smol-toml', 'zod', 'src/errors'],
  'src/run-service/contract': ['zod', 'zod-openapi', 'src/errors'],
  'src/run-service': [
    'ipaddr.js',
    'undici',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
  ],
  'src/store': ['zod', 'src/batch', 'src/errors'],
  'src/sheet': ['csv-parse', 'src/batch', 'src/errors', 'type:src/run-service/contract', 'src/store'],
  'src/create-batch': [
    'type:src/host',
    'src/batch',
    'src/errors',
    'type:src/run-service/contract',
    'src/run-service',
    'src/store',
    'src/sheet',
    'src/results',
  ],
  'src/results/forecast': ['src/batch'],
  'src/results': [
    'csv-stringify',
    'src/batch',
    'src/errors',
    'src/store',
    'src/sheet',
    'src/results/forecast',
    'src/local-service',
  ],
  'src/audit': [
    'zod',
    'src/batch',
    'src/errors',
    'src/run-service/contract',
    'src/run-service',
    'src/store',
    'src/results',
    'src/webhook',
  ],
  'src/run-service/migration': ['src/batch', 'src/errors', 'src/run-service/contract', 'src/run-service'],
  'src/webhook': [
    'type:pino',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
    'src/run-service',
  ],
  'src/temporal': [
    '@temporalio/client',
    '@temporalio/common',
    '@temporalio/envconfig',
    '@temporalio/proto',
    '@temporalio/worker',
    'httpxy',
    'type:pino',
    'zod',
    'src/batch',
    'src/create-batch',
    'workflows',
    'src/errors',
    'src/host',
    'src/run-service',
  ],
  'src/local-service': [
    '@fastify/multipart',
    'fastify',
    'undici',
    'zod',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
  ],
  activities: [
    'src/create-batch',
    '@temporalio/activity',
    '@temporalio/client',
    '@temporalio/common',
    'file-type',
    'p-map',
    'type:pino',
    'src/batch',
    'src/errors',
    'src/store',
    'type:src/host',
    'src/run-service/contract',
    'src/run-service',
    'type:src/sheet',
    'src/results',
    'src/audit',
    'src/webhook',
  ],
  'src/worker.ts': [
    'type:@temporalio/client',
    '@temporalio/worker',
    'type:pino',
    'type:src/batch',
    'workflows',
    'type:src/host',
    'src/run-service',
    'src/store',
    'src/sheet',
    'src/results',
    'src/webhook',
    'src/temporal',
    'activities',
  ],
  'src/cli': [
    '@stricli/core',
    'cronstrue',
    'csv-stringify',
    'src/batch',
    'workflows',
    'src/errors',
    'src/host',
    'src/store',
    'src/run-service/contract',
    'src/run-service',
    'src/sheet',
    'src/create-batch',
    'src/results/forecast',
    'src/results',
    'src/audit',
    'src/run-service/migration',
    'src/webhook',
    'src/temporal',
    'src/local-service',
    'src/worker.ts',
  ],
};

/** Files of one subject in several layers; those in src/cli are named after their commands. */
const SAME_MEANING: readonly string[] = [
  'answers.ts',
  'cancel-runs.ts',
  'create-batch.ts',
  'dashboard.ts',
  'duplicates.ts',
  'files-and-logs.ts',
  'index.ts',
  'keep-evidence.ts',
  'keep-log.ts',
  'load-pass.ts',
  'logs.ts',
  'queue.ts',
  'reference.ts',
  'refusals.ts',
  'run.ts',
  'signals.ts',
  'v1.ts',
];

/** Private words that had standard terms: dependencies, unconfirmed, immediately, automatically and so on. */
const BANNED =
  /\b(?:nobody|whoever|by itself|at once|doubt|uncertain|becomes? of|hands|catalogue|madeOnce|bounces|leavings|fates?|wordsOf)\b/i;

describe('the tree', () => {
  it('uses only what each folder may use', () => {
    expect(SOURCES.flatMap((file) => importsOf(file).flatMap((one) => offence(file, one)))).toEqual([]);
  });

  it('has no rule that is unused or wider than its use', () => {
    const used = new Set(
      SOURCES.flatMap((file) => importsOf(file).map((one) => `${unitOf(file)} ${one.target}`)),
    );
    const valued = new Set(
      SOURCES.flatMap((file) =>
        importsOf(file).flatMap((one) => (one.typeOnly ? [] : [`${unitOf(file)} ${one.target}`])),
      ),
    );
    const isNeeded = (unit: string, rule: string): boolean =>
      rule.startsWith('type:') ? used.has(`${unit} ${rule.slice(5)}`) : valued.has(`${unit} ${rule}`);
    const rules = Object.entries(MAY_USE).flatMap(([unit, all]) => all.map((rule) => ({ unit, rule })));
    expect(rules.filter(({ unit, rule }) => !isNeeded(unit, rule))).toEqual([]);
    expect(MAY_USE['src/batch']).toEqual([]);
  });

  it('uses neither folders nor files in a circle', () => {
    const uses = SOURCES.flatMap((file) =>
      importsOf(file).flatMap(({ path, target }) => (path === undefined ? [] : [{ file, path, target }])),
    );
    const files = uses.map(({ file, path }) => [file, path] as const);
    const folders = uses.map(({ file, target }) => [folderOf(unitOf(file)), folderOf(target)] as const);
    expect(circlesIn(files)).toEqual([]);
    expect(circlesIn(folders.filter(([from, to]) => from !== to))).toEqual([]);
  });

  it('has names that stand once, or mean the same wherever they stand', () => {
    const sources = SOURCES.filter((file) => !file.startsWith('src/cli/'));
    const names = Map.groupBy(sources, (file) => basename(file));
    const several = [...names].filter(([, files]) => files.length > 1).map(([name]) => name);
    expect(several.toSorted()).toEqual(SAME_MEANING);
  });

  it('has few entries at its top', () => {
    expect(
      new Set(SOURCES.filter((file) => file.startsWith('src/')).map((file) => file.split('/')[1])).size,
    ).toBeLessThanOrEqual(14);
  });

  it('has files of at most 300 lines', () => {
    const lengths = FILES.map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
  });

  it('has no drawer for what has no name', () => {
    const parts = FILES.flatMap((file) => file.split('/')).map((part) => basename(part).replace(/\..*$/, ''));
    expect(parts.filter((part) => /^(utils?|helpers?|common|shared|types|misc)$/.test(part))).toEqual([]);
  });

  it('speaks in plain words', () => {
    const files = SOURCES.filter((file) => BANNED.test(textOf(file)));
    expect(files.map((file) => `${file}: ${BANNED.exec(textOf(file))?.[0]}`)).toEqual([]);
  });

  it('gives each test that replaces a module a process of its own', () => {
    const tests = FILES.filter((file) => file.endsWith('.test.ts'));
    const replacing = tests.filter((file) => /^vi\.mock\(/m.test(textOf(file)));
    const config = textOf('vitest.config.ts');
    expect(replacing.length).toBeGreaterThan(0);
    expect(replacing.filter((file) => !config.includes(`'${file}'`))).toEqual([]);
  });

  it('reads the environment in one file', () => {
    expect(SOURCES.filter((file) => /process\.env/.test(textOf(file)))).toEqual(['src/host/config.ts']);
  });

  it('prints in one folder', () => {
    const printers = SOURCES.filter((file) => /console\.|process\.(stdout|stderr)/.test(textOf(file)));
    expect(printers.filter((file) => !file.startsWith('src/cli/'))).toEqual([]);
  });
});

type Import = { readonly target: string; readonly path: string | undefined; readonly typeOnly: boolean };
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

function importsOf(file: string): readonly Import[] {
  const pattern = /(?:^|\n)(?:import|export)(\s+type)?\s(?:[^;]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/g;
  return [...textOf(file).matchAll(pattern)]
    .map(([, type, from, lazily]) => ({
      ...targetOf(file, from ?? lazily ?? ''),
      typeOnly: type !== undefined,
    }))
    .filter(({ target }) => !target.startsWith('node:'));
}

function targetOf(file: string, name: string): Pick<Import, 'target' | 'path'> {
  if (name.startsWith('.')) {
    const path = relative(ROOT, join(ROOT, dirname(file), name));
    return { target: unitOf(path), path };
  }
  const parts = name.split('/').slice(0, name.startsWith('@') ? 2 : 1);
  return { target: parts.join('/'), path: undefined };
}

/** What is used by what it uses itself: names that are left when those that use nothing any more are taken away. */
function circlesIn(uses: readonly (readonly [from: string, to: string])[]): readonly string[] {
  for (let left = uses; ;) {
    const users = new Set(left.map(([from]) => from));
    const next = left.filter(([, to]) => users.has(to));
    if (next.length === left.length) return [...users].toSorted();
    left = next;
  }
}

const folderOf = (unit: string): string => unit.split('/').slice(0, 2).join('/');

/** The folder that the rules speak of; a file where it lies at the top of src. */
function unitOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/');
  if (top !== 'src') return top;
  const isOwn = ['contract', 'forecast', 'migration'].includes(third);
  return `${top}/${second}${isOwn ? `/${third}` : ''}`;
}

function offence(file: string, { target, typeOnly }: Import): readonly string[] {
  const unit = unitOf(file);
  const allowed = new Set([unit, ...(MAY_USE[unit] ?? [])]);
  const isFine = allowed.has(target) || (typeOnly && allowed.has(`type:${target}`));
  return isFine ? [] : [`${file} uses ${target}`];
}
