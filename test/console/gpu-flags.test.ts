// The flags of GPU servers: the address, a name for the GPU, the number of concurrent runs.

import { expect, it } from 'vitest';
import { gpusOf } from '../../src/cli/flags/gpu-flags.ts';

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

it.each([
  ['localhost:8188', { url: 'http://localhost:8188' }],
  ['192.168.1.5:8188', { url: 'http://192.168.1.5:8188' }],
  ['gpu-1.lan:8188/comfy', { url: 'http://gpu-1.lan:8188/comfy' }],
  ['[::1]:8188', { url: 'http://[::1]:8188' }],
  ['RTX 4090=gpu-1:8188', { url: 'http://gpu-1:8188', gpu: 'RTX 4090' }],
])('--comfyui %s, which has no scheme, is read as http', (text, more) => {
  expect(gpusOf({ comfyui: [text] }).servers).toEqual([{ kind: 'comfyui', ...more }]);
});

it.each(['gpu-1', 'gpu.example.org', '::1:8188', 'ftp://gpu-1:8188', 'a b:8188', '8188'])(
  '--comfyui %s is refused, because it may mean several addresses or none',
  (text) => expect(() => gpusOf({ comfyui: [text] })).toThrow(/is no address/),
);

it.each(['0x', '1001x', '99999999999999999999x'])('--comfy-api %s= has no such number of seats', (seats) => {
  expect(() => gpusOf({ comfyApi: [`${seats}=${ADDRESS}`] })).toThrow(/a server has 1 to 1000/);
});

it('--comfyui 2x= is the name of a GPU, because a ComfyUI executes one run at a time', () => {
  const [server] = gpusOf({ comfyui: ['2x=http://gpu-1:8188'] }).servers;
  expect(server).toEqual({ url: 'http://gpu-1:8188', kind: 'comfyui', gpu: '2x' });
});
