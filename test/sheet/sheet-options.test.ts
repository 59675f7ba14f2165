import { describe, expect, it } from 'vitest';
import { input, lay, type Sheet, thrownBy } from './laying.ts';

const text = 'prompt,seed,gpu\na fox,7,\n';
const inputTypes = [input('prompt', 'text'), input('seed', 'int', { max: 9 })];

const contradictions: readonly [string, Sheet, string, RegExp, RegExp][] = [
  [
    'a gpu that is none',
    { text, options: { gpu: 'A100-80' } },
    'E201',
    /gpu "A100-80" of --gpu/,
    /did you mean A100-80GB\? allowed: T4 /,
  ],
  [
    '--map of no column',
    { text, options: { map: { x: 'promt' } } },
    'E206',
    /column "promt" of --map x=promt is not in the sheet/,
    /did you mean prompt\?/,
  ],
  [
    '--drop of no column',
    { text, options: { drop: ['seeds'] } },
    'E206',
    /column "seeds" of --drop/,
    /did you mean seed\? columns of this sheet: prompt, seed, gpu/,
  ],
  [
    '--key of no column',
    { text, options: { keyColumn: 'id' } },
    'E206',
    /column "id" of --key/,
    /^columns of this sheet/,
  ],
  [
    '--gpu-column of no column',
    { text, options: { gpuColumn: 'gpus' } },
    'E206',
    /column "gpus" of --gpu-column/,
    /did you mean gpu\?/,
  ],
  [
    'several columns that are not there, all at once',
    { text, options: { map: { x: 'main_image', seed: 'seed' }, keyColumn: 'item_sku', drop: ['brand'] } },
    'E206',
    /columns are not in the sheet: "main_image" of --map x=main_image, "brand" of --drop, "item_sku" of --key/,
    /^columns of this sheet: prompt, seed, gpu/,
  ],
  [
    '--set and a column',
    { text, options: { set: { seed: '1' } } },
    'E602',
    /column "seed" and --set seed=1 both provide the input "seed"/,
    /--drop seed/,
  ],
  [
    '--set and --map',
    { text, options: { set: { x: '1' }, map: { x: 'seed' } } },
    'E602',
    /--map x=seed and --set x=1 both provide/,
    /remove one/,
  ],
  [
    '--map and a column',
    { text, options: { map: { seed: 'prompt' } } },
    'E602',
    /--map seed=prompt and column "seed" both provide/,
    /--drop seed/,
  ],
  [
    '--map to no input',
    { text, options: { map: { prompts: 'prompt' } }, inputTypes },
    'E602',
    /the deployment has no input "prompts"/,
    /did you mean prompt\?/,
  ],
  [
    '--set of no input',
    { text, options: { set: { step: '1' } }, inputTypes },
    'E602',
    /the deployment has no input "step"/,
    /inputs: prompt, seed/,
  ],
  ['--set of a reserved name', { text, options: { set: { constructor: '1' } } }, 'E602', /reserved/, /^/],
  [
    '--type of what nothing gives',
    { text, options: { types: { sed: 'int' } } },
    'E602',
    /--type sed: no column or flag provides the input "sed"/,
    /did you mean seed\?/,
  ],
  [
    '--set of another kind',
    { text, options: { set: { x: 'y' }, types: { x: 'int' } } },
    'E602',
    /--set x=y: the value is not an integer/,
    /digits only/,
  ],
  [
    '--set out of bounds',
    { text, options: { set: { seed: '10' }, drop: ['seed'] }, inputTypes },
    'E602',
    /--set seed=10: the value is too large/,
    /at most 9/,
  ],
  [
    'an encoding that is none',
    { text, options: { encoding: 'klingon' } },
    'E602',
    /--encoding klingon/,
    /windows-1252/,
  ],
  [
    'a delimiter that is none',
    { text, options: { delimiter: '::' } },
    'E602',
    /--delimiter "::" is not one character/,
    /--delimiter tab/,
  ],
  ['a quote for a delimiter', { text, options: { delimiter: '"' } }, 'E602', /is not one character/, /^/],
];

describe('options are refused for', () => {
  it.each(contradictions)('%s', async (_, sheet, code, message, hint) => {
    const error = await thrownBy(lay(sheet));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), place: undefined });
    expect(error.hint ?? '').toMatch(hint);
  });

  it('missing columns, also in JSON', async () => {
    const sheet = { text: '{"a":1}', options: { format: 'jsonl', keyColumn: 'id' } } as const;
    expect((await thrownBy(lay(sheet))).code).toBe('E206');
  });
});
