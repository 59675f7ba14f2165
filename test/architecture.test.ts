// The rules of design and style that a test can check. The linter checks function sizes, `any` and empty catches.

import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesIn, folderOf, importsOf, ROOT, textOf, unitOf, type Import } from './source-imports.ts';

const FILES = globSync('{src,workflows,activities,test,bench,bin}/**/*.{ts,tsx,mjs,js}', { cwd: ROOT });
const SOURCES = FILES.filter((file) => /^(src|workflows|activities)\//.test(file));

/** From the inside out: each uses only those before it. */
const LAYERS = [
  'src/options',
  'src/errors',
  'src/batch',
  'src/host',
  'src/service-client/contract',
  'src/service-client',
  'src/service-client/migration',
  'src/run-service',
  'src/store',
  'src/notices',
  'src/sheet',
  'src/webhook',
  'src/results/forecast',
  'src/results',
  'src/audit',
  'src/batches',
  'src/schedule',
  'activities',
  'workflows',
  'src/temporal',
  'src/monitoring',
  'src/library',
  'src/index.ts',
  'src/worker',
  'src/cli',
];

/** Folders that must stay pure or small, with everything they may import; `type:` allows types only. */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  'src/options': [],
  'src/errors': ['fastest-levenshtein'],
  'src/batch': ['src/options'],
  'src/service-client/contract': ['zod', 'src/errors'],
  'src/results/forecast': ['src/batch'],
  'src/index.ts': ['src/library', 'src/errors', 'type:src/batch', 'type:src/results', 'type:src/temporal'],
  workflows: [
    '@temporalio/common',
    '@temporalio/workflow',
    'src/batch',
    'type:src/options',
    'type:activities',
  ],
};

/** Only these know Temporal. */
const WITH_TEMPORAL = new Set([
  'activities',
  'workflows',
  'src/temporal',
  'src/worker',
  'src/notices',
  'src/monitoring',
]);

describe('the tree', () => {
  it('uses only what each folder may use', () => {
    expect(SOURCES.flatMap((file) => importsOf(file).flatMap((use) => offence(file, use)))).toEqual([]);
  });

  it('makes and controls batches through the library, in the commands of runs, batches and schedules', () => {
    const commands = SOURCES.filter((file) => /^src\/cli\/(run|batch|schedule)\//.test(file));
    const behind = new Set(
      ['batches', 'store', 'service-client', 'temporal', 'results'].map((folder) => `src/${folder}`),
    );
    const past = commands.flatMap((file) =>
      importsOf(file).flatMap(({ target, path, typeOnly }) =>
        !typeOnly && behind.has(folderOf(target)) ? [`${file} uses ${path}`] : [],
      ),
    );
    expect(past).toEqual([]);
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

  it('has few entries at its top', () => {
    expect(
      new Set(SOURCES.filter((file) => file.startsWith('src/')).map((file) => file.split('/')[1])).size,
    ).toBeLessThanOrEqual(20);
  });

  it('has files of at most 400 lines', () => {
    const lengths = FILES.map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 400)).toEqual([]);
  });

  it('has no drawer for what has no name', () => {
    const parts = FILES.flatMap((file) => file.split('/')).map((part) => basename(part).replace(/\..*$/, ''));
    expect(parts.filter((part) => /^(utils?|helpers?|common|shared|types|misc)$/.test(part))).toEqual([]);
  });

  it('gives each test that replaces a module a process of its own', () => {
    const tests = FILES.filter((file) => file.endsWith('.test.ts'));
    const replacing = tests.filter((file) => /^vi\.mock\(/m.test(textOf(file)));
    const config = textOf('vitest.config.ts');
    expect(replacing.length).toBeGreaterThan(0);
    expect(replacing.filter((file) => !config.includes(`'${file}'`))).toEqual([]);
  });

  it('reads the environment in one file', () => {
    expect(SOURCES.filter((file) => /process\.env/.test(textOf(file)))).toEqual([
      'src/host/settings/config.ts',
    ]);
  });

  it('tests in one file whether a text is an http address', () => {
    const tests = /\^\(?(?:\?:)?https\?:(?!\\S)/;
    expect(SOURCES.filter((file) => tests.test(textOf(file)))).toEqual(['src/host/http/web-address.ts']);
  });

  it('opens connections to other machines in one file, which knows the proxy', () => {
    const opens = /\bnew (?:Agent|Pool|ProxyAgent|EnvHttpProxyAgent)\(\{|\bawait fetch\(/;
    const openers = SOURCES.filter((file) => opens.test(textOf(file)));
    // The scripts of pages run in a browser.
    expect(openers.filter((file) => !file.includes('/browser/'))).toEqual(['src/host/http/outgoing.ts']);
    const grpc = SOURCES.filter((file) => /\bConnection\.connect\(/.test(textOf(file)));
    expect(grpc.filter((file) => !/(?:client|worker)Route\(/.test(textOf(file)))).toEqual([]);
  });

  it('prints in one folder', () => {
    const printers = SOURCES.filter((file) => /console\.|process\.(stdout|stderr)/.test(textOf(file)));
    expect(printers.filter((file) => !file.startsWith('src/cli/'))).toEqual([]);
  });
});

function offence(file: string, { target, typeOnly }: Import): readonly string[] {
  const unit = unitOf(file);
  const closed = CLOSED[unit];
  const mayUse = (): boolean => {
    if (target === unit) return true;
    if (closed !== undefined)
      return closed.includes(target) || (typeOnly && closed.includes(`type:${target}`));
    if (target.startsWith('@temporalio/')) return WITH_TEMPORAL.has(unit);
    return LAYERS.indexOf(target) < LAYERS.indexOf(unit);
  };
  return mayUse() ? [] : [`${file} uses ${target}`];
}
