// The night of a shop: a schedule of a sheet of products with pictures beside it, one of which is missing for some nights.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noticeSchema, type NoticeBody } from '../../src/notices/notice-body.ts';
import { receiver, type Request } from '../notices/receiver.ts';
import { picture } from '../batches/files/scene.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({
  name: 'shots',
  concurrencyLimit: 100,
  runSeconds: 0.1,
  runSpread: 0,
  inputTypes: [
    { name: 'input_image', type: 'image', required: true },
    { name: 'prompt', type: 'string', required: true },
  ],
});

const PRODUCTS = ['pot', 'pan', 'cup', 'jug', 'bowl', 'ladle', 'knife', 'board', 'kettle'];

type ShownFiring = {
  readonly batch: string;
  readonly state: string;
  readonly rows?: number;
  readonly reused?: number;
  readonly outcomes?: Readonly<Record<string, number>>;
};

const done = (requests: readonly Request[]): readonly NoticeBody[] =>
  requests.map(({ body }) => noticeSchema.parse(JSON.parse(body))).filter(({ event }) => event === 'done');

describe('the nights of a shop', () => {
  let stage = new Stage();
  beforeEach(() => {
    stage = new Stage();
    stage.environment = { RUNSHEET_NOTIFY_SECRET: 'a secret of the receiver' };
  });
  afterEach(() => stage.close());

  const write = (products: readonly string[], prompts: Readonly<Record<string, string>> = {}): void =>
    void stage.write(
      'shop/products.csv',
      [
        'Handle,photo,prompt',
        ...products.map((name) => `${name},${name}.png,${prompts[name] ?? `a ${name}`}`),
      ]
        .map((line) => `${line}\n`)
        .join(''),
    );
  let pictures = 0;
  const addPicture = (name: string): void => void stage.write(`shop/${name}.png`, picture((pictures += 1)));

  it('lose no product and buy none twice, name the one without its picture, and buy it once it is there', async () => {
    await stage.startAll(DEPLOYMENTS);
    write(PRODUCTS);
    for (const name of PRODUCTS) addPicture(name);
    rmSync(stage.path('shop/pan.png'));
    const { url, requests } = await receiver(200);
    stage.write(
      'shop/shop.job.toml',
      [
        'sheet = "products.csv"\ndeployment = "shots"\nmap = { input_image = "photo" }\nkey = "Handle"',
        `invalid = "skip"\nreuse = true\nnotify = "${url}"`,
        '[schedule]\ncron = "0 2 29 2 *"\ntz = "UTC"\n',
      ].join('\n'),
    );
    const applied = await stage.run(['schedule', 'apply', 'shop', '--yes']);
    expect([applied.code, applied.stderr]).toEqual([0, expect.anything()]);

    const firings = async (): Promise<readonly ShownFiring[]> => {
      const { stdout } = await stage.run(['schedule', 'show', 'shop', '-o', 'json']);
      return (JSON.parse(stdout) as { readonly firings: readonly ShownFiring[] }).firings;
    };
    const bought = async (): Promise<readonly string[]> =>
      (await stage.truth()).map(({ inputs }) => String(inputs?.['prompt'])).toSorted();
    const night = async (): Promise<ShownFiring | undefined> => {
      const nights = done(requests).length;
      const batch = (await stage.run(['schedule', 'trigger', 'shop'])).stdout.trim();
      await until(async () => done(requests).length > nights, 'the night is notified');
      await until(
        async () => (await firings()).some((firing) => firing.batch === batch && firing.state !== 'running'),
        'the night is over',
      );
      return (await firings()).find((firing) => firing.batch === batch);
    };
    const isNamed = {
      refused: [
        { key: 'pan', reason: expect.stringMatching(/^E210: .*pan\.png.* \(products\.csv:\d+:2\)$/) },
      ],
      text: expect.stringContaining('refused: pan (E210: '),
    };

    expect(await night()).toMatchObject({ rows: 9, reused: 0, outcomes: { succeeded: 8, refused: 1 } });
    expect(done(requests).at(-1)).toMatchObject({ rows: { total: 9, succeeded: 8, failed: 1 }, ...isNamed });
    const first = PRODUCTS.filter((name) => name !== 'pan').map((name) => `a ${name}`);
    expect(await bought()).toEqual(first.toSorted());

    addPicture('whisk');
    write(['whisk', ...PRODUCTS], { cup: 'a blue cup' });
    expect(await night()).toMatchObject({ rows: 10, reused: 7, outcomes: { succeeded: 9, refused: 1 } });
    expect(done(requests).at(-1)).toMatchObject(isNamed);
    const second = [...first, 'a whisk', 'a blue cup'];
    expect(await bought()).toEqual(second.toSorted());

    const third = await night();
    expect(third).toMatchObject({ rows: 10, reused: 9, outcomes: { succeeded: 9, refused: 1 } });
    expect(done(requests).at(-1)).toMatchObject(isNamed);
    expect(await bought()).toEqual(second.toSorted());
    const shown = await stage.run(['schedule', 'show', 'shop']);
    expect(shown.stdout).toContain('9 of 10 rows succeeded, 9 reused, 1 refused: pan');
    const folder = join(stage.path('shop'), '..', 'batches', third?.batch ?? '');
    const results = stage.results(folder);
    expect(results.find(({ Handle }) => Handle === 'pan')).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('E210'),
      run_id: '',
    });
    expect(readFileSync(join(folder, 'failures.csv'), 'utf8').split('\n')).toHaveLength(3);
    expect((await stage.run(['verify', third?.batch ?? ''])).code).toBe(0);

    addPicture('pan');
    expect(await night()).toMatchObject({ rows: 10, reused: 9, outcomes: { succeeded: 10, refused: 0 } });
    expect(done(requests).at(-1)).not.toHaveProperty('refused');
    expect(await bought()).toEqual([...second, 'a pan'].toSorted());
  });
});
