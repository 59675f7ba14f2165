// What design and style ask of the tree, where a test can tell. Function sizes, `any` and empty catches are the linter's.

import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeBundle } from '../src/temporal/bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('{src,workflows,activities,test,bench,bin}/**/*.{ts,mjs}', { cwd: ROOT });
const SOURCES = FILES.filter((file) => /^(src|workflows|activities)\//.test(file));
const EVERYONE = ['src/batch', 'src/errors.ts', 'src/outside-text.ts'];

/** Which folder may use which, beside itself and what everyone may; `type:` where only a type may be imported. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'src/batch': [],
  'src/errors.ts': ['src/catalogue.ts', 'src/catalogue', 'src/exit.ts', 'src/nearest.ts', 'src/reason.ts'],
  'src/catalogue.ts': ['src/exit.ts', 'src/catalogue'],
  'src/catalogue': ['src/exit.ts'],
  'src/exit.ts': [],
  'src/nearest.ts': ['fastest-levenshtein'],
  'src/reason.ts': ['src/secrets.ts'],
  'src/outside-text.ts': [],
  'src/secrets.ts': [],
  'src/log.ts': ['pino', 'src/secrets.ts'],
  'src/made-once.ts': [],
  'src/connections.ts': [],
  'src/allowed-folders.ts': [],
  'src/page-door.ts': ['src/secrets.ts'],
  'src/file-fault.ts': [],
  'src/key-file.ts': ['src/file-fault.ts'],
  'src/config.ts': [
    'smol-toml',
    'zod',
    'src/file-fault.ts',
    'src/run-service',
    'src/secrets.ts',
    'type:src/log.ts',
  ],
  workflows: ['@temporalio/workflow', '@temporalio/common', 'type:activities'],
  'src/store': ['zod'],
  'src/sheet': ['csv-parse', 'type:src/run-service/contract', 'src/store'],
  'src/run-service': [
    'ipaddr.js',
    'undici',
    'type:src/config.ts',
    'src/key-file.ts',
    'src/run-service/contract',
    'src/secrets.ts',
  ],
  'src/run-service/contract': ['zod', 'zod-openapi'],
  'src/webhook': [
    'src/connections.ts',
    'src/key-file.ts',
    'src/made-once.ts',
    'src/run-service',
    'src/run-service/contract',
    'src/secrets.ts',
    'type:src/config.ts',
    'type:pino',
  ],
  'src/results': ['csv-stringify', 'src/sheet', 'src/store'],
  'src/account': ['src/results', 'src/run-service/contract', 'src/store', 'src/webhook', 'src/run-service'],
  'src/intake': [
    'src/file-fault.ts',
    'src/sheet',
    'src/store',
    'src/run-service',
    'type:src/run-service/contract',
  ],
  'src/migration': ['src/run-service', 'src/run-service/contract'],
  'src/temporal': [
    '@temporalio/client',
    '@temporalio/common',
    '@temporalio/envconfig',
    '@temporalio/proto',
    '@temporalio/worker',
    'httpxy',
    'zod',
    'workflows',
    'src/run-service',
    'src/connections.ts',
    'src/made-once.ts',
    'src/page-door.ts',
    'src/secrets.ts',
    'type:src/config.ts',
    'type:src/webhook',
    'type:pino',
  ],
  'src/local-service': [
    '@fastify/multipart',
    'fastify',
    'undici',
    'zod',
    'src/connections.ts',
    'src/page-door.ts',
    'src/run-service/contract',
  ],
  activities: [
    '@temporalio/activity',
    '@temporalio/common',
    '@temporalio/client',
    'file-type',
    'src/account',
    'src/run-service',
    'src/run-service/contract',
    'src/results',
    'src/sheet',
    'src/store',
    'src/webhook',
    'type:pino',
  ],
  'src/worker.ts': [
    '@temporalio/worker',
    'activities',
    'src/allowed-folders.ts',
    'src/results',
    'src/run-service',
    'src/sheet',
    'src/store',
    'src/temporal',
    'src/webhook',
    'type:src/config.ts',
    'type:pino',
  ],
  'src/cli': [
    '@stricli/core',
    'csv-stringify',
    'src/allowed-folders.ts',
    'src/config.ts',
    'src/file-fault.ts',
    'src/log.ts',
    'src/worker.ts',
    'src/account',
    'src/intake',
    'src/local-service',
    'src/migration',
    'src/results',
    'src/run-service',
    'src/run-service/contract',
    'src/secrets.ts',
    'src/sheet',
    'src/store',
    'src/temporal',
    'src/webhook',
  ],
};

describe('the tree', () => {
  it('uses only what each folder may use', () => {
    expect(SOURCES.flatMap((file) => importsOf(file).flatMap((one) => offence(file, one)))).toEqual([]);
  });

  it('has no rule that nobody needs', () => {
    const used = new Set(
      SOURCES.flatMap((file) => importsOf(file).map((one) => `${unitOf(file)} ${one.target}`)),
    );
    const rules = Object.entries(MAY_USE).flatMap(([unit, targets]) =>
      targets.map((one) => `${unit} ${one.replace('type:', '')}`),
    );
    expect(rules.filter((rule) => !used.has(rule))).toEqual([]);
  });

  it('has files of at most 300 lines', () => {
    const lengths = FILES.map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
  });

  it('has no drawer for what has no name', () => {
    const parts = FILES.flatMap((file) => file.split('/')).map((part) => basename(part).replace(/\..*$/, ''));
    expect(parts.filter((part) => /^(utils?|helpers?|common|shared|types|misc)$/.test(part))).toEqual([]);
  });

  it('reads the environment in one file', () => {
    const readers = SOURCES.filter((file) => /process\.env/.test(textOf(file)));
    expect(readers).toEqual(['src/config.ts']);
  });

  it('prints in one folder', () => {
    const printers = SOURCES.filter((file) => /console\.|process\.(stdout|stderr)/.test(textOf(file)));
    expect(printers.filter((file) => !file.startsWith('src/cli/'))).toEqual([]);
  });
});

describe('the workflow bundle', () => {
  let code = '';
  let sources: readonly string[] = [];

  beforeAll(async () => {
    const [before = '', map = ''] = (await makeBundle()).split(
      '//# sourceMappingURL=data:application/json;charset=utf-8;base64,',
    );
    code = before;
    ({ sources } = JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] });
  });

  it('has less than 600 KB of code', () => {
    expect(code.length).toBeLessThan(600_000);
  });

  it('holds workflows, the pure heart and the SDK, and nothing else', () => {
    const own = sources.filter((source) => !source.includes('node_modules') && /\.(ts|js)$/.test(source));
    const strangers = own.filter(
      (source) => !/\/(workflows|src\/batch)\//.test(source) && !/webpack|autogenerated/.test(source),
    );
    expect(own.length).toBeGreaterThan(10);
    expect(strangers).toEqual([]);
    expect(sources.filter((source) => /node_modules\/(zod|undici|pino)\//.test(source))).toEqual([]);
  });
});

type Import = { readonly target: string; readonly typeOnly: boolean };

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

function importsOf(file: string): readonly Import[] {
  const pattern = /(?:^|\n)(?:import|export)(\s+type)?\s(?:[^;]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/g;
  return [...textOf(file).matchAll(pattern)]
    .map(([, type, from, lazily]) => ({
      target: targetOf(file, from ?? lazily ?? ''),
      typeOnly: type !== undefined,
    }))
    .filter(({ target }) => !target.startsWith('node:'));
}

function targetOf(file: string, name: string): string {
  if (name.startsWith('.')) return unitOf(relative(ROOT, join(ROOT, dirname(file), name)));
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The folder that the rules speak of; a file where it lies at the top of src. */
function unitOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/');
  if (top !== 'src') return top;
  return third === 'contract' ? `${top}/${second}/${third}` : `${top}/${second}`;
}

function offence(file: string, { target, typeOnly }: Import): readonly string[] {
  const unit = unitOf(file);
  const allowed = new Set([unit, ...(unit === 'src/batch' ? [] : EVERYONE), ...(MAY_USE[unit] ?? [])]);
  const isFine = allowed.has(target) || (typeOnly && allowed.has(`type:${target}`));
  return isFine ? [] : [`${file} uses ${target}`];
}
