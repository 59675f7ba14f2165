// Fields that are widgets of the browser are no inputs.

import { expect, it } from 'vitest';
import type { NodeClass } from '../../../src/run-service/executors/backend.ts';
import { inputsOf } from '../../../src/run-service/executors/workflow/workflow-inputs.ts';

const node = (class_type: string, inputs: Record<string, unknown>) => ({ class_type, inputs });
const saved = (from: string) => node('SaveImage', { images: [from, 0], filename_prefix: 'x' });

it('upload, audioUI, comparers, headers and the prefix of a file are no inputs', () => {
  const graph = {
    '1': node('LoadImage', { image: 'a.png', upload: 'image', 'choose file to upload': 'image' }),
    '2': node('LoadAudio', { audio: 'a.wav', audioUI: '' }),
    '3': node('Join', { image: ['1', 0], audio: ['2', 0], rgthree_comparer: 'x', header: 'y', depth: 3 }),
    '9': saved('3'),
  };
  const fields = inputsOf('w', graph, undefined, {}).map((input) => input.fields.map(({ field }) => field));
  expect(fields.flat().toSorted((a, b) => a.localeCompare(b))).toEqual(['audio', 'depth', 'image']);
});

it.each([
  ['-9223372036854776000', undefined],
  ['-9223372036854775808', undefined],
  ['-9223372036854775807', '-9223372036854775807'],
  ['-1', '-1'],
])('a lowest value of %s is the bound %s', (min, bound) => {
  const nodeClass: NodeClass = {
    inputs: { number: { type: 'INT', min, max: '9', isFile: false } },
    isOutput: false,
    isPaid: false,
  };
  const graph = { '1': node('Make', { number: 3 }), '9': saved('1') };
  const [input] = inputsOf('w', graph, new Map([['Make', nodeClass]]), {});
  expect([input?.min, input?.max]).toEqual([bound, '9']);
});
