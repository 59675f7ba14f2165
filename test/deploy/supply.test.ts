// Everything that is fetched to build, test or publish is named by its content: whoever moves a tag changes nothing here.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './manifests.ts';

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT });

type Step = { readonly uses?: string; readonly run?: string };
type Job = {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
};
const workflow = (file: string): Workflow => parse(textOf(file)) as Workflow;

it('workflows name each action by its commit, and say which version that is', () => {
  const uses = WORKFLOWS.flatMap((file) => textOf(file).match(/uses:.*/g) ?? []);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((line) => !/^uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual(
    [],
  );
});

it('images of other people are named by their digest', () => {
  const bases = [...textOf('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image ?? '');
  const { services } = parse(textOf('docker-compose.yml'), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly image: string }>>;
  };
  const images = [...bases, ...Object.values(services).map(({ image }) => image)];
  const foreignImages = images.filter((image) => !image.startsWith('runsheet:'));
  expect(foreignImages.length).toBeGreaterThan(5);
  expect(foreignImages.filter((image) => !/:[\w.-]+@sha256:[\da-f]{64}$/.test(image))).toEqual([]);
});

it('the job that may publish runs nothing of this repository and no dependency', () => {
  const { permissions, jobs } = workflow('.github/workflows/release.yml');
  const publishing = Object.values(jobs).filter((job) => job.permissions?.['id-token'] === 'write');
  expect([permissions, publishing.length]).toEqual([{ contents: 'read' }, 1]);
  const [{ needs = '', steps } = { steps: [] }] = publishing;
  expect(
    steps.map(({ uses = '', run = '' }) => uses.split('@')[0] || run.split(' ').slice(0, 2).join(' ')),
  ).toEqual(['actions/setup-node', 'actions/download-artifact', 'npm publish']);
  const before = jobs[needs]?.steps.map(({ run }) => run) ?? [];
  expect(before).toEqual(expect.arrayContaining(['npm ci', 'npm test', 'npm pack']));
});

it('packages come from lock files, which name no registry', () => {
  const folders = globSync('**/package.json', { cwd: ROOT, exclude: ['**/node_modules', 'dist'] })
    .map(dirname)
    .filter((folder) => 'dependencies' in (JSON.parse(textOf(join(folder, 'package.json'))) as object));
  expect(folders).toEqual(expect.arrayContaining(['.', 'docs/site', 'docs/api-reference']));
  const locks = folders.map((folder) => join(folder, 'package-lock.json'));
  expect(locks.filter((lock) => !existsSync(join(ROOT, lock)))).toEqual([]);
  const named = [...locks, ...WORKFLOWS].filter((file) => /registry|"resolved": "https/.test(textOf(file)));
  expect(named).toEqual([]);
  expect(textOf('package.json')).not.toMatch(/npm install|--no-package-lock/);
  for (const file of WORKFLOWS) expect(textOf(file)).not.toMatch(/npm (?:install|i|exec)\b|npx /);
});
