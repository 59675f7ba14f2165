// The commands of docs/pipelines.md, in a folder that has nothing but the examples, and what its page then shows.

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openBrowser, openPage } from '../results/page/browser.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { type Ended } from '../stage/stage.ts';
import { ROOT } from './written.ts';

const text = readFileSync(join(ROOT, 'docs/pipelines.md'), 'utf8');
const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(text) ?? [];

describe('the page about pipelines', () => {
  const stage = sharedStage();
  const said: Ended[] = [];
  beforeAll(async () => {
    cpSync(join(ROOT, 'examples'), stage.path('examples'), { recursive: true });
    for (const line of commands.trim().split('\n')) said.push(await stage.run(line.split(' ').slice(1)));
  }, 400_000);

  it('has commands that make each stage, and wait for picks between', () => {
    expect(said.map(({ code, stderr }) => (code === 0 ? 0 : [code, stderr.split('\n').at(-3)]))).toEqual([
      0,
      [8, '  helps     runsheet pick poster finals --picks picks.csv'],
      0,
      0,
      0,
    ]);
    expect(said.at(-1)?.stdout).toMatch(
      /^poster\n +drafts +finished +4 of 4 rows, \$[\d.]+\n +finals +finished +2 of 2 rows, .*\n +prints +finished +2 of 2 rows, .*\n$/,
    );
  });

  it('shows the file that the commands use', () => {
    const [, shown] = /```toml\n([\s\S]*?)```/.exec(text) ?? [];
    expect(shown).toBe(readFileSync(join(ROOT, 'examples/poster.job.toml'), 'utf8'));
  });

  it.skipIf(CHROMIUM === undefined)(
    'makes a page of all stages, from which the page of each opens',
    async () => {
      await using browser = await openBrowser();
      const page = await openPage(browser, pathToFileURL(stage.path('batches', 'poster', 'index.html')).href);
      expect(await page.textContent('#sentence')).toBe('3 of 3 stages ended');
      const rows = await page.$$eval('tbody tr', (elements) =>
        elements.map((row) => row.textContent?.trim() ?? ''),
      );
      expect(rows.map((row) => row.replace(/\$[\d.]+/, '$'))).toEqual([
        'drafts · portraitsfinished440$open',
        'finals · portraitsfinished220$open',
        'prints · anythingfinished220$open',
      ]);
      const links = await page.$$eval('tbody a', (elements) =>
        elements.map((link) => link.getAttribute('href') ?? ''),
      );
      for (const [at, address] of links.entries()) {
        const own = await openPage(browser, new URL(address, page.url()).href);
        expect(await own.textContent('#title')).toBe(`poster-${['drafts', 'finals', 'prints'][at]}`);
      }
    },
  );
});
