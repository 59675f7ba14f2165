// What design and style ask of the tree, where a test can tell. Function sizes, `any` and empty catches are the linter's.

import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesIn, folderOf, importsOf, ROOT, textOf, unitOf, type Import } from './source-imports.ts';

const FILES = globSync('{src,workflows,activities,test,bench,bin}/**/*.{ts,mjs,js}', { cwd: ROOT });
const SOURCES = FILES.filter((file) => /^(src|workflows|activities)\//.test(file));

/** Which folder may use which, beside itself; `type:` where only types may be imported. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'src/options': [],
  'src/schedule': [
    'src/options',
    '@temporalio/client',
    '@temporalio/common',
    'type:@temporalio/worker',
    'src/batch',
    'src/create-batch',
    'src/errors',
    'type:src/sheet',
    'src/store',
    'zod',
  ],
  'src/notices': [
    '@temporalio/activity',
    '@temporalio/common',
    'nodemailer',
    'src/batch',
    'src/errors',
    'type:src/host',
    'src/options',
    'src/run-service',
    'type:src/store',
    'zod',
  ],
  'src/batch': ['src/options'],
  workflows: [
    'type:src/options',
    '@temporalio/common',
    '@temporalio/workflow',
    'src/batch',
    'type:activities',
  ],
  'src/errors': ['fastest-levenshtein'],
  'src/host': ['@aws-sdk/credential-provider-node', 'pino', 'smol-toml', 'undici', 'zod', 'src/errors'],
  'src/run-service/contract': ['zod', 'zod-openapi', 'src/errors'],
  'src/run-service': [
    'src/options',
    'ipaddr.js',
    'undici',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
  ],
  'src/store': [
    'src/options',
    'aws4fetch',
    'p-map',
    'saxes',
    'undici',
    'zod',
    'src/batch',
    'src/errors',
    'src/host',
  ],
  'src/sheet': [
    'src/options',
    'csv-parse',
    'saxes',
    'yauzl',
    'src/batch',
    'src/errors',
    'type:src/run-service/contract',
    'src/store',
  ],
  'src/create-batch': [
    'src/options',
    'zod',
    'p-map',
    'src/host',
    'src/batch',
    'src/errors',
    'type:src/run-service/contract',
    'src/notices',
    'src/run-service',
    'src/store',
    'src/sheet',
    'src/results',
  ],
  'src/results/forecast': ['src/batch'],
  'src/results': [
    'src/options',
    'file-type',
    'csv-stringify',
    'p-map',
    'sharp',
    'yazl',
    'src/batch',
    'src/errors',
    'src/store',
    'src/sheet',
    'src/results/forecast',
  ],
  'src/audit': [
    'src/options',
    'p-map',
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
    'quick-lru',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
    'src/run-service',
  ],
  'src/temporal': [
    'src/schedule',
    'src/options',
    '@temporalio/activity',
    '@temporalio/client',
    '@temporalio/common',
    '@temporalio/envconfig',
    '@temporalio/proto',
    '@temporalio/worker',
    'httpxy',
    'type:pino',
    'zod',
    'src/batch',
    'workflows',
    'src/errors',
    'src/host',
    'src/run-service',
  ],
  'src/service': [
    'src/options',
    '@fastify/multipart',
    'fastify',
    'quick-lru',
    'undici',
    'zod',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
  ],
  activities: [
    'src/notices',
    'src/options',
    'src/schedule',
    'src/create-batch',
    '@temporalio/activity',
    '@temporalio/client',
    '@temporalio/common',
    'file-type',

    'p-map',
    'type:pino',
    'quick-lru',
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
  'src/worker': [
    'src/notices',
    'src/schedule',
    'type:@temporalio/client',
    'type:@temporalio/common',
    '@temporalio/plugin',
    '@temporalio/worker',
    'type:pino',
    'activities',
    'src/audit',
    'type:src/batch',
    'src/errors',
    'src/host',
    'src/monitoring',
    'src/run-service',
    'src/sheet',
    'src/store',
    'src/temporal',
    'src/webhook',
    'workflows',
  ],
  'src/monitoring': [
    'type:@temporalio/client',
    '@temporalio/common',
    'type:@temporalio/worker',
    'type:pino',
    'prom-client',
    'type:activities',
    'src/batch',
    'src/errors',
    'src/host',
    'src/run-service/contract',
    'src/run-service',
    'src/results',
    'src/store',
    'src/temporal',
  ],
  'src/library': [
    'src/notices',
    'src/options',
    'src/schedule',
    'csv-parse',
    'src/batch',
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
    'src/temporal',
    'workflows',
  ],
  'src/index.ts': ['src/library', 'src/errors', 'type:src/batch', 'type:src/results', 'type:src/temporal'],
  'src/cli': [
    'src/notices',
    'src/options',
    'src/schedule',
    '@stricli/core',
    'cli-truncate',
    'cronstrue',
    'csv-stringify',
    'open',
    'p-map',
    'zod',
    'src/batch',
    'workflows',
    'src/errors',
    'src/host',
    'src/store',
    'src/run-service/contract',
    'src/run-service',
    'src/sheet',
    'src/create-batch',
    'type:src/results/forecast',
    'src/results',
    'src/audit',
    'src/run-service/migration',
    'src/temporal',
    'src/service',
    'src/worker',
    'src/library',
  ],
};

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
    expect(SOURCES.filter((file) => /process\.env/.test(textOf(file)))).toEqual(['src/host/config.ts']);
  });

  it('opens connections to other machines in one file, which knows the proxy', () => {
    const opens = /\bnew (?:Agent|Pool|ProxyAgent|EnvHttpProxyAgent)\(\{|\bawait fetch\(/;
    const openers = SOURCES.filter((file) => opens.test(textOf(file)));
    // The scripts of pages run in a browser.
    expect(openers.filter((file) => !/\/page\/|-script\.ts$/.test(file))).toEqual(['src/host/outgoing.ts']);
    const grpc = SOURCES.filter((file) => /\bConnection\.connect\(/.test(textOf(file)));
    expect(grpc.filter((file) => !/(?:client|worker)Route\(/.test(textOf(file)))).toEqual([]);
  });

  it('prints in one folder', () => {
    const printers = SOURCES.filter((file) => /console\.|process\.(stdout|stderr)/.test(textOf(file)));
    expect(printers.filter((file) => !file.startsWith('src/cli/'))).toEqual([]);
  });
});

function offence(file: string, { target, typeOnly }: Import): readonly string[] {
  const allowed = new Set([unitOf(file), ...(MAY_USE[unitOf(file)] ?? [])]);
  const isFine = allowed.has(target) || (typeOnly && allowed.has(`type:${target}`));
  return isFine ? [] : [`${file} uses ${target}`];
}
