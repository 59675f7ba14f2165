// A catalogue with a folder of pictures beside it, in one command that is killed twice.

import { describe, expect, it } from 'vitest';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { picture } from '../batches/files/scene.ts';

const [ROWS, PICTURES] = [1_000, 300];
/** Uploads at the same time: those whose answer was lost with the command are made again. */
const IN_FLIGHT = 8;

describe('a catalogue of 1,000 rows with 300 pictures beside it', () => {
  const stage = sharedStage();
  const deployments = deploymentsOf({
    name: 'product-shot',
    concurrencyLimit: 50,
    runSeconds: 0.5,
    inputTypes: [
      { name: 'input_image', type: 'image', required: true },
      { name: 'prompt', type: 'string', required: true },
    ],
  });
  const uploads = async (): Promise<number> =>
    (await stage.ledger<{ readonly requests: Record<string, number> }>()).requests['upload'] ?? 0;

  it('is one command: each picture is uploaded once, and each row is bought once, although it is killed in both', async () => {
    for (let at = 0; at < PICTURES; at += 1) stage.write(`photos/${at}.png`, picture(at));
    const lines = Array.from({ length: 2 * ROWS }, (_, at) => {
      const status = at % 2 === 0 ? 'Draft' : 'Done';
      return `S-${at},mug ${at},oil,photos/${Math.floor(at / 2) % PICTURES}.png,${status}`;
    });
    stage.write('catalogue.csv', `sku,product,style,photo,Status\n${lines.join('\n')}\n`);
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', deployments)]);
    const mapping = ['--map', 'input_image=photo', '--set', 'prompt=a photo of {product} in {style}'];
    const flags = ['-d', 'product-shot', '--where', 'Status = Draft', ...mapping, '-c', '50'];
    const command = ['run', 'catalogue.csv', ...flags];

    const plan = await stage.run(['plan', 'catalogue.csv', ...flags]);
    expect([plan.code, plan.stderr]).toEqual([0, expect.stringMatching(/300 files, .*: 300 to upload/)]);
    expect(await uploads()).toBe(0);

    const first = stage.start(command);
    await first.says(/uploading files: 0 of 300/);
    await until(async () => (await uploads()) >= 20, 'some pictures are uploaded');
    await first.killTree();
    expect(await uploads()).toBeLessThan(PICTURES);
    expect(await stage.truth()).toEqual([]);

    const worker = await stage.worker();
    const second = stage.start(command);
    await until(async () => (await stage.truth()).length > ROWS / 5, 'some rows are bought');
    await Promise.all([second.killTree(), worker.killTree()]);

    await stage.worker();
    const third = await stage.run(command);
    expect([third.code, third.stderr]).toEqual([0, expect.stringContaining('1,000 of 1,000 rows succeeded')]);
    const runs = await stage.truth();
    expectOneRunPerRow(runs, ROWS);
    expect(await uploads()).toBeLessThanOrEqual(PICTURES + IN_FLIGHT);
    const pictures = new Set(runs.map(({ inputs }) => String(inputs?.['input_image'])));
    expect([pictures.size, [...pictures].filter((path) => !path.startsWith('http'))]).toEqual([PICTURES, []]);
    const [line] = stage.results();
    expect(line).toMatchObject({ sku: 'S-0', photo: 'photos/0.png', outcome: 'succeeded' });
  });
});
