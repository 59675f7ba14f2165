import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, DESKTOP, openBrowser, openPage } from '../results/page/browser.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const INPUTS = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'seed', type: 'integer', required: false, default: 7 },
];
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 40, runSeconds: 0.05, inputTypes: INPUTS });
const SHEET = Array.from({ length: 50 }, (_, at) => `thing-${at + 1},"red, no. ${at + 1}"`);
const SET = ['--set', 'prompt=a {colour} thing in {style}'];

describe('a grid of 3 styles and 4 seeds over 50 rows', () => {
  const stage = sharedStage();
  const flags = ['-d', 'portraits', '-c', '40', ...SET, '--grid', 'seed=1..4'];
  const command = (styles: string): readonly string[] => [
    'things.csv',
    ...flags,
    '--grid',
    `style=${styles}`,
  ];
  const bought = async (): Promise<number> => (await stage.truth()).length;
  let folder = '';

  beforeAll(async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    stage.write('things.csv', `name,colour\n${SHEET.join('\n')}\n`);
  });

  it('is counted and priced before anything is sent', async () => {
    const { code, stderr } = await stage.run(['plan', ...command('oil,ink,chalk')]);
    expect([code, await bought()]).toEqual([0, 0]);
    expect(stderr).toMatch(/✓ 600 rows, 4 columns\n {2}grid {6}4 seed × 3 style: 12 combinations\n/);
    expect(stderr).toMatch(/cost .*about \$1\.01 in total/);
  });

  it('buys each combination once, also if everything is killed and the same command is given again', async () => {
    const first = stage.start(['run', ...command('oil,ink,chalk')]);
    await until(async () => (await bought()) >= 100, '100 runs were bought');
    await first.killTree();
    const second = await stage.run(['run', ...command('oil,ink,chalk')]);
    expect([second.code, second.stderr]).toEqual([0, expect.stringMatching(/600 of 600 rows succeeded/)]);
    folder = second.stdout.trim();
    const runs = (await stage.truth()).map(({ inputs }) => JSON.stringify(inputs));
    expect([runs.length, new Set(runs).size]).toEqual([600, 600]);
    const results = stage.results(folder);
    const combined = new Set(results.map(({ name, style, seed }) => `${name}-${style}-${seed}`));
    expect([results.length, combined.size]).toEqual([600, 600]);
    expect(results[599]).toMatchObject({
      name: 'thing-50',
      style: 'chalk',
      seed: '4',
      key: 'thing-50-4-chalk',
    });
    expect(results[599]?.['outputs']).toBe('outputs/thing-50-4-chalk.png');
    expect(stage.batchFile(folder).sheet.grid).toEqual(['seed', 'style']);
  }, 180_000);

  it.skipIf(CHROMIUM === undefined)('has a page whose picks are the rows of another batch', async () => {
    const browser = await openBrowser();
    const page = await openPage(browser, pathToFileURL(join(folder, 'report.html')).href, DESKTOP);
    await page.click('#tab-grid');
    await page.focus('[data-cell="0,0"]');
    for (const key of ['p', 'ArrowRight', 'ArrowDown', 'PageDown', 'p']) await page.keyboard.press(key);
    await page.click('#tab-rows');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#picks-download')]);
    const picks = stage.path('picks.csv');
    await download.saveAs(picks);
    await browser.close();
    const [head, ...picked] = readFileSync(picks, 'utf8').trim().split('\n');
    expect([head, picked.length]).toEqual(['key,stars', 2]);
    const before = await bought();
    const from = ['--from', basename(folder), '--pick', picks, '-d', 'portraits', '--again'];
    const { code, stdout } = await stage.run(['run', ...from]);
    expect([code, await bought()]).toEqual([0, before + 2]);
    const keys = picked.map((line) => line.split(',')[0] ?? '');
    expect(stage.results(stdout.trim()).map(({ key }) => key)).toEqual(keys);
    const wanted = keys.map((key) =>
      key.replace(/^thing-(\d+)-(\d)-(\w+)$/, 'a red, no. $1 thing in $3, seed $2'),
    );
    const sent = (await stage.truth()).slice(-2).map(({ inputs }) => inputs ?? {});
    expect(sent.map(({ prompt, seed }) => `${String(prompt)}, seed ${String(seed)}`).toSorted()).toEqual(
      wanted.toSorted(),
    );
  });

  it('with another style buys only the 200 rows of that style', async () => {
    const before = await bought();
    const { code, stderr, stdout } = await stage.run(['run', ...command('oil,ink,chalk,pastel'), '--reuse']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/reused 600 of 800; 200 runs bought/)]);
    expect(await bought()).toBe(before + 200);
    const { requests } = JSON.parse(readFileSync(join(stdout.trim(), 'summary.json'), 'utf8')) as {
      readonly requests: { readonly accepted: number };
    };
    expect(requests.accepted).toBe(200);
  }, 120_000);

  it('needs no sheet, and a file may have its values', async () => {
    stage.write('prompts.txt', 'a fox, red\n\nan owl\r\n');
    const alone = ['-d', 'portraits', '--grid', 'prompt=@prompts.txt', '--grid', 'seed=7..8'];
    const { code, stdout } = await stage.run(['run', ...alone]);
    const keys = stage.results(stdout.trim()).map(({ key, prompt }) => [key, prompt]);
    expect([code, keys]).toEqual([
      0,
      [
        ['a-fox-red-7', 'a fox, red'],
        ['a-fox-red-8', 'a fox, red'],
        ['an-owl-7', 'an owl'],
        ['an-owl-8', 'an owl'],
      ],
    ]);
  });

  it('of runs with drawn seeds attaches to its batch, and buys only further runs', async () => {
    stage.write('few.csv', 'prompt,Status\na newt,Draft\na toad,Final\n');
    const few = ['few.csv', '-d', 'portraits', '--where', 'Status = Draft', '--reuse', '--repeat'];
    const before = await bought();
    const first = await stage.run(['run', ...few, '2']);
    const again = await stage.run(['run', ...few, '2']);
    expect([first.code, again.stdout, await bought()]).toEqual([0, first.stdout, before + 2]);
    const more = await stage.run(['run', ...few, '4']);
    expect([more.code, await bought()]).toEqual([0, before + 4]);
    const seeds = stage.results(more.stdout.trim()).map(({ seed }) => Number(seed));
    const [from = 0] = seeds;
    expect(seeds).toEqual([from, from + 1, from + 2, from + 3]);
    const sent = (await stage.truth()).slice(-4).map(({ inputs }) => Number(inputs?.['seed']));
    expect(new Set(sent)).toEqual(new Set(seeds));
  });
});
