// `6.text` names an input by the node and the field that it fills, whatever else it is called.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { runInProcess } from '../stage/in-process.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { portrait, openOwn } from './own-service.ts';
import { useService } from './service-settings.ts';

/** `prompt` is the title of node 3, and both fields of node 5 are the input `wait`. */
async function openPlace() {
  const folder = freshFolder();
  const { gpu, own } = await openOwn();
  await own.add([gpu], portrait(), { wait: ['5.seconds', '5.steps'] });
  useService(own.service.base, folder);
  return {
    own,
    write: (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    plan: (sheet: string, ...flags: readonly string[]) =>
      runInProcess([
        'plan',
        sheet,
        ...(sheet.endsWith('.toml') ? [] : ['-d', 'portrait']),
        ...flags,
        '-o',
        'json',
      ]),
  };
}

const FOXES = 'words,look\na fox,calm\nan owl,loud\n';
const BY_COLUMN = [{ input: 'prompt', type: 'string', column: 'words', value: null }];

describe('an input whose node has a title', () => {
  it.each([
    ['--map', 'foxes.csv', FOXES, ['--map', '3.text=words'], BY_COLUMN],
    ['--map in a JSON sheet', 'foxes.json', '[{"words": "a fox"}]', ['--map', '3.text=words'], BY_COLUMN],
    [
      '--set',
      'styles.csv',
      '3.style\nbold\n',
      ['--set', '3.text=a {3.style} fox'],
      [{ input: '3.style', column: '3.style' }, { input: 'prompt' }],
    ],
    ['--type', 'typed.csv', FOXES, ['--map', '3.text=words', '--type', '3.text=string'], BY_COLUMN],
    [
      '--grid',
      'seeds.csv',
      '3.seed\n1\n',
      ['--grid', '3.text=a fox,an owl'],
      [
        { input: 'seed', column: '3.seed' },
        { input: 'prompt', column: '3.text' },
      ],
    ],
    ['a column', 'column.csv', '3.text\na fox\n', [], [{ input: 'prompt', column: '3.text' }]],
    [
      'a member of a JSON sheet',
      'm.jsonl',
      '{"3.text": "a fox"}\n',
      [],
      [{ input: 'prompt', column: '3.text' }],
    ],
    [
      'a job file',
      'foxes.job.toml',
      'sheet = "foxes.csv"\ndeployment = "portrait"\nmap = { "3.text" = "words" }\ndrop = ["look"]\n',
      [],
      BY_COLUMN,
    ],
  ])('may be called by its node and field in %s, and has one name in the batch', async (...args) => {
    const [, name, text, flags, inputs] = args;
    const { plan, write } = await openPlace();
    write('foxes.csv', FOXES);
    const { code, stdout, stderr } = await plan(write(name, text), ...flags);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as { readonly inputs: unknown }).inputs).toMatchObject(inputs);
  });

  it('is one input under both names, so that rows are the same and a second source is refused', async () => {
    const { plan, write } = await openPlace();
    const sheet = write('foxes.csv', FOXES);
    const named = async (input: string): Promise<unknown> =>
      (JSON.parse((await plan(sheet, '--map', `${input}=words`)).stdout) as { readonly batch: string }).batch;
    expect(await named('3.text')).toBe(await named('prompt'));
    for (const [flags, says] of [
      [['--map', '3.text=words', '--map', 'prompt=look'], /two of --map provide the input .*prompt/],
      [['--map', '3.text=words', '--set', 'prompt=x'], /both provide the input .*prompt/],
      [['--grid', '3.text=a,b', '--set', 'prompt=x'], /--grid 3\.text/],
    ] as const) {
      const { code, stdout, stderr } = await plan(sheet, ...flags);
      expect([code, stderr + stdout]).toEqual([2, expect.stringMatching(says)]);
    }
  });

  it('is suggested where a name is wrong', async () => {
    const { plan, write } = await openPlace();
    const { code, stdout, stderr } = await plan(write('foxes.csv', FOXES), '--map', '3.txt=words');
    expect([code, stderr + stdout]).toEqual([
      2,
      expect.stringMatching(/no input .{1,2}3\.txt.*[^]*did you mean prompt\?/),
    ]);
  });

  it.each([
    [['--map', '5.seconds=long'], ['5.seconds']],
    [
      ['--map', '5.seconds=long', '--set', 'wait=2'],
      ['5.seconds', 'wait'],
    ],
    [
      ['--set', '5.steps=2', '--map', 'wait=long'],
      ['5.steps', 'wait'],
    ],
  ])('of several fields gives one away that %j names alone, and keeps the others', async (flags, inputs) => {
    const { plan, write } = await openPlace();
    const sheet = write('waits.csv', 'prompt,long\na fox,3\n');
    const { code, stdout, stderr } = await plan(sheet, ...flags);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const made = JSON.parse(stdout) as {
      readonly inputs: readonly { readonly input: string }[];
      readonly requests: readonly string[];
    };
    expect(made.inputs.map(({ input }) => input).toSorted()).toEqual([...inputs, 'prompt'].toSorted());
    // Requests speak of fields, each of them once.
    const { inputs: sent } = JSON.parse(made.requests[0] ?? '') as { readonly inputs: object };
    expect(Object.keys(sent).toSorted()).toEqual(
      inputs.includes('wait') ? ['3.text', '5.seconds', '5.steps'] : ['3.text', ...inputs],
    );
  });

  it('is filled by the service under its name and by its fields', async () => {
    const { own } = await openPlace();
    const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
    const { input_types: types } = json as { readonly input_types: readonly object[] };
    expect(types).toContainEqual(expect.objectContaining({ input_id: 'prompt', fields: ['3.text'] }));
    const pictures = [];
    for (const name of ['prompt', '3.text']) {
      const run = await own.until(await own.queue({ [name]: 'an owl' }));
      pictures.push(colourOf(await own.picture(run)));
    }
    expect(pictures).toEqual([drawnColour('an owl', 1), drawnColour('an owl', 1)]);
  });
});
