// The same 60 rows bought on L4 and on H100, compared on a terminal and in a browser.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { CHROMIUM, openBrowser, openPage } from '../results/page/browser.ts';
import { Stage, type Ended } from '../stage/stage.ts';

const ROWS = 60;
const DEPLOYMENTS = JSON.stringify([
  {
    name: 'portraits',
    concurrencyLimit: 20,
    coldStartSeconds: 0.4,
    runSeconds: { default: 1, L4: 1.2, H100: 0.3 },
    runSpread: 0.2,
  },
]);
const GPUS = { a: 'L4', b: 'H100' } as const;

type Sides = { readonly a: number; readonly b: number };
type Json = {
  readonly pairs: number;
  readonly only: Sides;
  readonly run_seconds: Sides;
  readonly cost_usd: Sides;
  readonly speed_ratio: number;
  readonly cost_ratio: number;
  readonly gpu: { readonly a: string; readonly b: string };
  readonly page: string;
};

describe('60 rows on L4 and on H100', () => {
  const stage = new Stage();
  let text: Ended;
  let json: Json;
  let summaries: { readonly a: Summary; readonly b: Summary };

  beforeAll(async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    stage.sheet(ROWS);
    let known = '';
    const buy = async (gpu: string, ...flags: readonly string[]): Promise<string> => {
      const words = ['run', 'sheet.csv', '-d', 'portraits', '--key', 'number', '--gpu', gpu, '--accept-gpu'];
      const { code, stderr } = await stage.run([...words, ...flags]);
      expect(code, stderr).toBe(0);
      const batches = readdirSync(stage.path('batches')).map((name) => stage.path('batches', name));
      const found = batches.find(
        (path) => basename(path) !== known && existsSync(join(path, 'summary.json')),
      );
      known = basename(found ?? '');
      return known;
    };
    const [a, b] = [await buy(GPUS.a), await buy(GPUS.b, '--again')];
    const summaryOf = (batch: string): Summary =>
      JSON.parse(readFileSync(stage.path('batches', batch, 'summary.json'), 'utf8')) as Summary;
    summaries = { a: summaryOf(a), b: summaryOf(b) };
    text = await stage.run(['compare', a, b]);
    json = JSON.parse((await stage.run(['compare', a, b, '-o', 'json'])).stdout) as Json;
  });
  afterAll(() => stage.close());

  it('are 60 pairs whose GPUs, times and costs are those of both summaries', () => {
    expect(json).toMatchObject({ pairs: ROWS, only: { a: 0, b: 0 }, gpu: GPUS });
    for (const side of ['a', 'b'] as const) {
      const { gpus, cost_usd, batch } = summaries[side];
      expect(Object.keys(gpus)).toEqual([GPUS[side]]);
      expect(gpus[GPUS[side]]?.runs).toBe(ROWS);
      expect(json.cost_usd[side]).toBeCloseTo(cost_usd, 6);
      const rows = stage.results(stage.path('batches', batch));
      const total = (name: string): number => rows.reduce((sum, row) => sum + Number(row[name]), 0);
      expect(json.run_seconds[side]).toBeCloseTo(total('run_seconds'), 3);
      // A summary also counts cold starts, which say nothing about the GPU's speed.
      expect(gpus[GPUS[side]]?.seconds).toBeCloseTo(total('run_seconds') + total('cold_start_seconds'), 3);
    }
    expect(json.speed_ratio).toBeCloseTo(json.run_seconds.a / json.run_seconds.b, 6);
    expect(json.speed_ratio).toBeGreaterThan(2.5);
    expect(json.cost_ratio).toBeCloseTo(summaries.b.cost_usd / summaries.a.cost_usd, 4);
  });

  it('are named on a terminal with the verdict: the local service gives both the same pictures', () => {
    const side = (name: string, at: 'a' | 'b'): RegExp =>
      new RegExp(
        String.raw`^${name} ${GPUS[at]}  (\d+ min )?\d+ s  \$${json.cost_usd[at].toFixed(4)}   ${summaries[at].batch}$`,
        'm',
      );
    expect(text.stdout).toMatch(side('A', 'a'));
    expect(text.stdout).toMatch(side('B', 'b'));
    const verdict = `H100 ${json.speed_ratio.toFixed(1)}× faster, ${json.cost_ratio.toFixed(1)}× dearer`;
    expect(text.stdout).toContain(`\n60 pairs, 60 identical; ${verdict}\n${json.page}\n`);
  });

  it.skipIf(CHROMIUM === undefined)(
    'are a page with both pictures beside each other, and a slider',
    async () => {
      const browser = await openBrowser();
      const page = await openPage(browser, pathToFileURL(json.page).href);
      expect(await page.textContent('#sentence')).toMatch(/^H100 \d\.\d× faster, \d\.\d× dearer$/);
      expect(await page.$$('.pair')).toHaveLength(ROWS);
      await expect.poll(() => page.$$eval('.pair canvas.drawn', (all) => all.length)).toBeGreaterThan(20);
      await page.click('.pair[href="#17"]');
      const halves = (): Promise<readonly number[]> =>
        page.evaluate("[...document.querySelectorAll('#stage .half img')].map((one) => one.naturalWidth)");
      await expect.poll(halves).toEqual([160, 160]);
      const sources = await page.$$eval('#stage .half img', (all) =>
        all.map((one) => one.getAttribute('src')),
      );
      expect(sources).toEqual([`${summaries.a.batch}/outputs/17.png`, `${summaries.b.batch}/outputs/17.png`]);
      const side = await page.innerText('#side');
      for (const gpu of Object.values(GPUS)) expect(side).toContain(gpu);
      await page.keyboard.press('2');
      await page.waitForSelector('.overlay.slider');
      const border = (): Promise<string> =>
        page.$eval('.overlay', (one) => one.style.getPropertyValue('--at'));
      const before = await border();
      await page.focus('.overlay .handle');
      await page.keyboard.press('Home');
      expect([before, await border()]).toEqual(['50.00%', '0.00%']);
      await browser.close();
    },
  );
});
