// A workflow as it lies there and a sheet as it lies there: what is sent at the first try, after the questions that are asked, or why
// nothing is. Judged by the graph that a server executes, not by what is said.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { runInProcess } from '../stage/in-process.ts';
import { pictureOf } from './image-files.ts';
import { link, node, sampler, usualGraph, type Nodes } from './naming/usual-graph.ts';
import { openStandIn, OwnService } from './own-service.ts';
import { useService } from './service-settings.ts';

type PlanOutput = {
  /** The printed next steps. */
  readonly hints: readonly string[];
  /** The questions that have to be confirmed. */
  readonly asked: readonly string[];
  readonly requests: readonly string[];
};

/** A service in front of one server, and a folder with the sheet. */
async function openPlace(workflow: Nodes) {
  const folder = freshFolder();
  const gpu = await openStandIn({
    folder: join(folder, 'gpu'),
    checkpoints: ['a.safetensors', 'b.safetensors'],
  });
  // Each ComfyUI comes with it.
  writeFileSync(join(folder, 'gpu/input/example.png'), pictureOf(0));
  const own = await OwnService.of([gpu], workflow as never);
  useService(own.service.base, folder);
  const write = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  const plan = async (sheet: string, ...flags: readonly string[]): Promise<PlanOutput> => {
    const { code, stdout, stderr } = await runInProcess(['plan', sheet, '-d', 'portrait', ...flags]);
    if (code !== 0) throw new Error(stderr);
    return {
      hints: [...stderr.matchAll(/^ +(hint|run) +(.*)$/gm)].map(
        ([, kind = '', text = '']) => `${kind}: ${text}`,
      ),
      asked: [...`${stdout}\n${stderr}`.matchAll(/^ +guess \? +(.*)$/gm)].map(([, text = '']) => text),
      requests: stdout.split('\n').filter((line) => line.startsWith('{')),
    };
  };
  /** The fields that rows were executed with. */
  const executed = async ({ requests }: PlanOutput, fields: readonly string[]) => {
    const rows = [];
    for (const request of requests) {
      const { inputs } = JSON.parse(request) as { readonly inputs: Readonly<Record<string, unknown>> };
      await own.until(await own.queue(inputs));
      const { graph: sent } = gpu.executions.at(-1) as (typeof gpu.executions)[number];
      rows.push(
        Object.fromEntries(
          fields.map((path) => {
            const [id = '', ...field] = path.split('.');
            return [path, sent[id]?.inputs[field.join('.')]];
          }),
        ),
      );
    }
    return rows;
  };
  return { plan, write, executed, gpu };
}

const SECOND_PASS: Nodes = {
  8: node('VAEDecode', { samples: link(29), vae: link(4, 2) }),
  28: node('LatentUpscaleBy', { samples: link(3), upscale_method: 'bilinear', scale_by: 1.5 }),
  29: sampler({ seed: 2, latent_image: link(28), denoise: 0.5 }),
};

describe('an ordinary workflow', () => {
  it.each([
    ['as its own names are', 'prompt,negative_prompt,seed,width,height\na fox,bad,7,512,768\n'],
    ['as a person writes them', 'Prompt,Negative Prompt,Seed,Width (px),Height\na fox,bad,7,512,768\n'],
    ['as fields', '6.text,7.text,3.seed,5.width,5.height\na fox,bad,7,512,768\n'],
  ])('has the columns of a sheet at the first try: %s', async (_, sheet) => {
    const { plan, write, executed } = await openPlace(usualGraph());
    const made = await plan(write('s.csv', sheet));
    expect(made.asked).toEqual([]);
    const fields = ['6.text', '7.text', '3.seed', '5.width', '5.height', '3.steps'];
    expect(await executed(made, fields)).toEqual([
      { '6.text': 'a fox', '7.text': 'bad', '3.seed': 7, '5.width': 512, '5.height': 768, '3.steps': 20 },
    ]);
  });

  it('is asked about columns in other languages, and has them once confirmed', async () => {
    const { plan, write, executed } = await openPlace(usualGraph());
    const made = await plan(write('zh.csv', '提示词,负面\n一只狐狸,模糊\n'));
    expect(made.asked).toHaveLength(2);
    expect(await executed(made, ['6.text', '7.text'])).toEqual([{ '6.text': '一只狐狸', '7.text': '模糊' }]);
  });

  it('gets nothing by itself from a sheet of a shop', async () => {
    const { plan, write, executed } = await openPlace(
      usualGraph({
        10: node('LatentUpscaleBy', { samples: link(3), upscale_method: 'bilinear', scale_by: 1.5 }),
        8: node('VAEDecode', { samples: link(10), vae: link(4, 2) }),
      }),
    );
    const sheet = 'sku,prompt,width,scale_by,weight,language\na1,a mug,40,2,300,de\na2,a cup,64.5,3,200,en\n';
    const made = await plan(write('shop.csv', sheet));
    expect(made.asked).toEqual([
      expect.stringContaining('column "width" is not sent'),
      expect.stringContaining('column "scale_by" may be 10.scale_by'),
    ]);
    expect(await executed(made, ['6.text', '5.width', '10.scale_by'])).toEqual([
      { '6.text': 'a mug', '5.width': 512, '10.scale_by': 1.5 },
      { '6.text': 'a cup', '5.width': 512, '10.scale_by': 1.5 },
    ]);
  });

  it('is asked about a column of texts where no column is the prompt', async () => {
    const { plan, write } = await openPlace(usualGraph());
    const made = await plan(write('d.csv', 'sku,description,seed\na1,"a mug of blue clay, on a table",1\n'));
    expect(made.asked).toEqual([expect.stringContaining('"description" may be the prompt')]);
  });
});

describe('a text with marked parts', () => {
  it('keeps its rest, whatever the part is called', async () => {
    const { plan, write, executed } = await openPlace(
      usualGraph({ 6: node('CLIPTextEncode', { text: 'masterpiece, {{prompt}}, 4k', clip: link(4, 1) }) }),
    );
    const made = await plan(write('s.csv', 'prompt,seed\na fox,7\n'));
    expect(await executed(made, ['6.text', '3.seed'])).toEqual([
      { '6.text': 'masterpiece, a fox, 4k', '3.seed': 7 },
    ]);
  });

  it('gets the value of the setting that a part is called as, and addresses stay addresses', async () => {
    const { plan, write, executed } = await openPlace(
      usualGraph({ 6: node('CLIPTextEncode', { text: '{{width}} wide, {{seed}}', clip: link(4, 1) }) }),
    );
    const fields = ['6.text', '3.seed', '5.width'];
    const named = await plan(write('s.csv', 'seed,width\n7,768\n'));
    expect(await executed(named, fields)).toEqual([{ '6.text': '768 wide, 7', '3.seed': 7, '5.width': 768 }]);
    const addressed = await plan(write('a.csv', '3.seed,5.width\n8,640\n'));
    expect(await executed(addressed, fields)).toEqual([
      { '6.text': '{{width}} wide, {{seed}}', '3.seed': 8, '5.width': 640 },
    ]);
  });
});

describe('a part of a text that is given as a whole', () => {
  const EXCLUDED = /E602[^]*exclude each other: "subject" is a part of "(6\.text|scene)"/;
  const graph = (text: string, title?: string): Nodes =>
    usualGraph({
      6: {
        ...node('CLIPTextEncode', { text, clip: link(4, 1) }),
        ...(title !== undefined && { _meta: { title } }),
      },
    });

  it.each([
    ['by two columns', '6.text,subject\nan owl,a fox\n', []],
    ['by a flag and a column', 'subject\na fox\n', ['--set', '6.text=an owl']],
    ['by a column and a flag', '6.text\nan owl\n', ['--set', 'subject=a fox']],
  ])('is refused before anything is sent, %s', async (_, sheet, flags) => {
    const { plan, write, gpu } = await openPlace(graph('photo of {{subject}}, 4k'));
    await expect(plan(write('s.csv', sheet), ...flags)).rejects.toThrow(EXCLUDED);
    expect(gpu.executions).toEqual([]);
  });

  it.each(['%subject%', '__SUBJECT__', '{{ Subject }}'])('is refused as %s too', async (part) => {
    const { plan, write } = await openPlace(graph(`photo of ${part}, 4k`));
    await expect(plan(write('s.csv', '6.text,subject\nan owl,a fox\n'))).rejects.toThrow(EXCLUDED);
  });

  it('is refused where the text has a title of its own', async () => {
    const { plan, write } = await openPlace(graph('photo of {{subject}}, 4k', 'Scene'));
    await expect(plan(write('s.csv', 'Scene,subject\nan owl,a fox\n'))).rejects.toThrow(EXCLUDED);
  });

  it('leaves the setting that the part is called as', async () => {
    const { plan, write, executed } = await openPlace(graph('{{seed}} owls'));
    const made = await plan(write('s.csv', '6.text,seed\nfoxes,7\n'));
    expect(await executed(made, ['6.text', '3.seed'])).toEqual([{ '6.text': 'foxes', '3.seed': 7 }]);
  });
});

describe('a sheet of which nothing would be sent without an answer', () => {
  it('is given no command that would be refused', async () => {
    const empty = (width: number) => node('EmptyImage', { width, height: 512, batch_size: 1, color: 0 });
    const { plan, write } = await openPlace({
      1: empty(512),
      2: empty(256),
      8: node('SaveImage', { images: link(1), filename_prefix: 'a' }),
      9: node('SaveImage', { images: link(2), filename_prefix: 'b' }),
    });
    const sheet = write('s.csv', 'sku,width\na1,512\n');
    const made = await plan(sheet);
    expect(made.asked).toEqual([expect.stringMatching(/"width" may be 1\.width .*2\.width/)]);
    expect(made.hints).toEqual(['hint: no column would be sent: choose another answer to a question above']);
    expect((await plan(sheet, '--map', '1.width=width')).hints).toEqual([
      expect.stringMatching(/^run: .*--map 1\.width=width/),
    ]);
  });
});

describe('a workflow of two passes', () => {
  it('has one seed for both, and asks which steps are meant', async () => {
    const { plan, write, executed } = await openPlace(usualGraph(SECOND_PASS));
    const made = await plan(write('s.csv', 'prompt,seed,steps\na fox,7,9\n'));
    expect(made.asked).toEqual([expect.stringMatching(/"steps" may be 3\.steps .*29\.steps/)]);
    expect(await executed(made, ['3.seed', '29.seed', '3.steps', '29.steps'])).toEqual([
      { '3.seed': 7, '29.seed': 7, '3.steps': 9, '29.steps': 9 },
    ]);
  });

  it('has a seed apart where a column or a flag names its field', async () => {
    const { plan, write, executed } = await openPlace(usualGraph(SECOND_PASS));
    const fields = ['3.seed', '29.seed'];
    const sheet = write('a.csv', 'prompt,seed,29.seed\na fox,7,8\n');
    expect(await executed(await plan(sheet), fields)).toEqual([{ '3.seed': 7, '29.seed': 8 }]);
    const secondSheet = write('b.csv', 'prompt,seed,second\na fox,7,8\n');
    const made = await plan(secondSheet, '--map', '29.seed=second');
    expect(await executed(made, fields)).toEqual([{ '3.seed': 7, '29.seed': 8 }]);
  });

  it.each([
    ['--set', 'steps=9', /"steps" may be 3\.steps, 29\.steps, because .*\n.*name the field/],
    ['--map', 'steps=few', /"steps" may be 3\.steps, 29\.steps, because/],
    ['--grid', 'steps=8,9', /--grid steps.*\n.*name a field, such as --grid 3\.steps=/],
  ])('is told by %s %s that different steps are two fields', async (flag, value, says) => {
    const { plan, write } = await openPlace(
      usualGraph({ ...SECOND_PASS, 29: sampler({ steps: 8, latent_image: link(28) }) }),
    );
    const refused = plan(write('s.csv', 'prompt,few\na fox,5\n'), flag, value);
    await expect(refused).rejects.toThrow(says);
  });

  it.each([
    ['is dropped', ['--drop', '3.seed'], { '3.seed': 7, '29.seed': 7 }],
    ['is mapped to all of them', ['--map', 'seed=3.seed', '--drop', 'seed'], { '3.seed': 9, '29.seed': 9 }],
  ])('keeps its seeds together where a column that is called as one of them %s', async (_, flags, seeds) => {
    const { plan, write, executed } = await openPlace(usualGraph(SECOND_PASS));
    const made = await plan(write('s.csv', 'prompt,seed,3.seed\na fox,7,9\n'), ...flags);
    expect(await executed(made, ['3.seed', '29.seed'])).toEqual([seeds]);
  });

  it('has a field that a title and its name tell, also once nodes have other numbers', async () => {
    const titled = { ...SECOND_PASS, 29: { ...SECOND_PASS[29], _meta: { title: 'Second pass' } } } as Nodes;
    const { plan, write, executed } = await openPlace(usualGraph(titled));
    const made = await plan(write('s.csv', 'prompt,few\na fox,5\n'), '--map', 'Second pass.steps=few');
    expect([made.asked, await executed(made, ['3.steps', '29.steps'])]).toEqual([
      [],
      [{ '3.steps': 20, '29.steps': 5 }],
    ]);
  });

  it('draws all seeds anew with --repeat, so that no picture is made twice', async () => {
    const { plan, write, executed } = await openPlace(usualGraph(SECOND_PASS));
    const made = await plan(write('s.csv', 'prompt\na fox\n'), '--repeat', '3');
    const rows = await executed(made, ['3.seed', '29.seed']);
    expect(new Set(rows.map((row) => row['3.seed'])).size).toBe(3);
    for (const row of rows) expect(row['29.seed']).toBe(row['3.seed']);
  });
});

describe('a picture that the workflow names and no server has', () => {
  const graph = usualGraph({
    1: node('LoadImage', { image: 'only-on-my-laptop.png' }),
    10: node('SaveImage', { images: link(1), filename_prefix: 'copies' }),
  });

  it('is named where the sheet has none either', async () => {
    const { plan, write } = await openPlace(graph);
    await expect(plan(write('s.csv', 'prompt\na fox\n'))).rejects.toThrow(
      /E203.*"image", because no server has "only-on-my-laptop.png", but no column provides it/,
    );
  });

  it('is named at each empty cell', async () => {
    const { plan, write } = await openPlace(graph);
    write('fox.png', pictureOf(0));
    await expect(plan(write('s.csv', 'prompt,image\na fox,fox.png\nan owl,\n'))).rejects.toThrow(
      /because no server has "only-on-my-laptop.png", but column "image" is empty in this row[^]*s\.csv:3:2/,
    );
  });
});

describe('pictures beside a sheet', () => {
  const TWO: Nodes = {
    1: node('LoadImage', { image: 'example.png' }),
    2: node('LoadImage', { image: 'example.png' }),
    3: node('ImageScale', {
      image: link(1),
      upscale_method: 'area',
      width: 512,
      height: 512,
      crop: 'disabled',
    }),
    9: node('SaveImage', { images: link(3), filename_prefix: 'x' }),
    10: node('SaveImage', { images: link(2), filename_prefix: 'y' }),
  };

  it.each([
    ['its only one', 'image'],
    ['a column of files of any name', 'photo of the product'],
  ])('are never left out without a word: %s', async (_, column) => {
    const { 2: __, 10: ___, ...oneText } = TWO;
    const { plan, write } = await openPlace(oneText);
    write('pics/a.png', pictureOf(0xff));
    const made = await plan(write('s.csv', `sku,${column}\na1,pics/a.png\n`));
    const [request = ''] = made.requests;
    expect(JSON.parse(request)).toMatchObject({ inputs: { '1.image': 'upload:pics/a.png' } });
  });

  it('are proposed to the node whose title has the words of their column', async () => {
    const titled = {
      ...TWO,
      1: node('LoadImage', { image: 'example.png' }, 'Load Target Image'),
      2: node('LoadImage', { image: 'example.png' }, 'Load Clothing Reference Image'),
    };
    const { plan, write } = await openPlace(titled);
    for (const name of ['a', 'b']) write(`pics/${name}.png`, pictureOf(0xff));
    const made = await plan(write('s.csv', 'sku,clothing,target\na1,pics/a.png,pics/b.png\n'));
    expect(made.asked).toEqual([
      expect.stringMatching(/"clothing" names files.*sent there/),
      expect.stringMatching(/"target" names files.*sent there/),
    ]);
    const [request = ''] = made.requests;
    expect(JSON.parse(request)).toMatchObject({
      inputs: { '1.image': 'upload:pics/b.png', '2.image': 'upload:pics/a.png' },
    });
  });

  it('are asked about without a proposal where both titles have the words', async () => {
    const titled = {
      ...TWO,
      1: node('LoadImage', { image: 'example.png' }, 'First face'),
      2: node('LoadImage', { image: 'example.png' }, 'Second face'),
    };
    const { plan, write } = await openPlace(titled);
    write('pics/a.png', pictureOf(0xff));
    const made = await plan(write('s.csv', 'sku,face\na1,pics/a.png\n'));
    expect(made.asked).toEqual([expect.stringMatching(/"face" names files and is not sent/)]);
    const [request = ''] = made.requests;
    expect(JSON.parse(request)).toMatchObject({ inputs: {} });
  });

  it('are asked about where two nodes take one each', async () => {
    const { plan, write } = await openPlace(TWO);
    write('pics/a.png', pictureOf(0xff));
    const made = await plan(write('s.csv', 'sku,image\na1,pics/a.png\n'));
    expect(made.asked).toEqual([expect.stringMatching(/1\.image.*2\.image/)]);
    const [request = ''] = made.requests;
    expect(JSON.parse(request)).toMatchObject({ inputs: {} });
  });
});

it('a row of a batch that was made when rows spoke of names is sent again with what is asked for', async () => {
  const titled = usualGraph({ 6: node('CLIPTextEncode', { text: 'a fox', clip: link(4, 1) }, 'Positive') });
  const gpu = await openStandIn({ checkpoints: ['a.safetensors'] });
  const own = await OwnService.of([gpu], titled as never);
  await own.until(await own.queue({ Positive: 'an owl', '6.text': 'a bear' }));
  await own.until(await own.queue({ '6.text': 'a bear', Positive: 'an owl' }));
  expect(gpu.executions.map((execution) => execution.graph['6']?.inputs['text'])).toEqual([
    'a bear',
    'a bear',
  ]);
});

it('a batch that was made when rows spoke of names is found by its requests', async () => {
  const titled = usualGraph({ 6: node('CLIPTextEncode', { text: 'a fox', clip: link(4, 1) }, 'Positive') });
  const { gpu } = await openPlace(titled);
  const own = await OwnService.of([gpu], titled as never);
  for (const name of ['Positive', 'prompt', '6.text']) await own.until(await own.queue({ [name]: 'an owl' }));
  expect(gpu.executions.map((execution) => execution.graph['6']?.inputs['text'])).toEqual([
    'an owl',
    'an owl',
    'an owl',
  ]);
});
