// Installs the npm clients from their registry, and runs the demo with them.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DEMO = join(ROOT, 'examples/lost-answer/main.ts');
const PAGE = readFileSync(join(ROOT, 'docs/lost-answers.md'), 'utf8');

type PublishedClient = {
  readonly client: string;
  readonly version: string;
  readonly registry: string;
  readonly posts: Readonly<Record<string, number>>;
  readonly runs?: Readonly<Record<string, number>>;
};

/** The figures that the page has for a client, with the columns of the demo. */
function published({ client, version, registry }: PublishedClient): unknown {
  const name = client === 'runsheet' ? client : `\`${client}\` ${version} (${registry})`;
  const cells = PAGE.split('\n')
    .find((line) => line.startsWith(`| ${name}`))
    ?.split('|')
    .slice(3, 7);
  const [once, closed, ...statuses] = cells?.map((cell) => Number(cell.replaceAll('*', ''))) ?? [];
  return { 'closed once': once, closed, 500: statuses[0], 502: statuses[1] };
}

it('the demo of lost answers measures what its page says: npm clients send again, runsheet buys one run', async () => {
  const args = [DEMO, '--only', 'npm', '--only', 'runsheet', '-o', 'json'];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const rows = JSON.parse(stdout) as PublishedClient[];
  expect(rows.map(({ client }) => client)).toEqual([
    'runsheet',
    'replicate',
    '@fal-ai/client',
    'openai',
    'runpod-sdk',
  ]);
  expect(rows.map(({ posts }) => posts)).toEqual(rows.map(published));
  expect(rows[0]).toMatchObject({ runs: { 'closed once': 1, closed: 1, 500: 1, 502: 1 } });
});
