// results.csv says which node made each file: by the title that its owner gave it, else by its number.

import { expect, it } from 'vitest';
import { csvCellsOf } from '../../src/results/result-cells.ts';

const file = (path: string, more: object) => ({ path, bytes: 1, sha256: 'a', name: path, ...more });

it('each file has one word in `nodes`, in the order of `outputs`, and texts keep their lines', () => {
  const cells = csvCellsOf({
    row: 1,
    key: 'fox',
    inputs: {},
    outcome: 'succeeded',
    attempts: [],
    files: [
      file('outputs/fox.png', { node: '9', title: 'Final picture' }),
      file('outputs/fox~2.png', { node: '12' }),
      file('outputs/fox~3.png', {}),
    ],
    texts: ['a fox\nin snow', 'an owl'],
  });
  expect([cells.outputs, cells.nodes, cells.texts]).toEqual([
    'outputs/fox.png outputs/fox~2.png outputs/fox~3.png',
    'Final_picture 12 -',
    'a fox\nin snow\nan owl',
  ]);
});
