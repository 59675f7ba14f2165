// What the flags of GPU servers say: the address, a name for the GPU, how many runs at a time.

import { expect, it } from 'vitest';
import { gpusOf } from '../../src/cli/flags/batch-options.ts';

const ADDRESS = 'https://dep-1.run.comfy.app';

it.each([
  [ADDRESS, {}],
  [`20x=${ADDRESS}`, { seats: 20 }],
  [`1x=${ADDRESS}`, { seats: 1 }],
  [`L40S=${ADDRESS}`, { gpu: 'L40S' }],
  [`20x L40S=${ADDRESS}`, { seats: 20, gpu: 'L40S' }],
  [`4xL40S=${ADDRESS}`, { gpu: '4xL40S' }],
])('--comfy-api %s names a server with %o', (text, more) => {
  expect(gpusOf({ comfyApi: [text] }).servers).toEqual([{ url: ADDRESS, kind: 'comfy-api', ...more }]);
});

it.each(['0x', '1001x', '99999999999999999999x'])('--comfy-api %s= has no such number of seats', (seats) => {
  expect(() => gpusOf({ comfyApi: [`${seats}=${ADDRESS}`] })).toThrow(/a server has 1 to 1000/);
});

it('--comfyui 2x= is the name of a GPU, because a ComfyUI executes one run at a time', () => {
  const [server] = gpusOf({ comfyui: ['2x=http://gpu-1:8188'] }).servers;
  expect(server).toEqual({ url: 'http://gpu-1:8188', kind: 'comfyui', gpu: '2x' });
});
