// Doctor's checks of GPU servers and workflows.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ApiStandIn } from '../comfy/api-stand-in.ts';
import { openStandIn, portrait } from '../comfy/own-service.ts';
import { Console } from './console.ts';

it('names each server with its kind, version and GPU, what a workflow lacks there, and a server that is away', async () => {
  const gpu = await openStandIn({ device: 'cuda:0 NVIDIA GeForce RTX 4090', without: ['Sleep'] });
  const api = await ApiStandIn.of('proxy', [gpu]);
  const console = await Console.open();
  const workflow = join(console.folder, 'fox_api.json');
  writeFileSync(workflow, JSON.stringify(portrait()));
  const flags = ['--comfyui', gpu.url, '--comfyui', 'http://127.0.0.1:1', '--comfy-api', api.url];
  const without = await console.run('doctor', ...flags);
  expect(without.stdout).toContain(`✓ comfyui      ${gpu.url}, ComfyUI 0.3.64, RTX 4090, 0 in its queue\n`);
  expect(without.stdout).toMatch(/✗ comfyui .*http:\/\/127\.0\.0\.1:1/);
  expect(without.stdout).toContain(
    `✓ comfy-api    ${api.url}, Comfy API v2; missing nodes or models are reported only when`,
  );
  const { code, stdout } = await console.run('doctor', ...flags, '--workflow', workflow);
  expect(stdout).toMatch(
    /✗ comfyui .* cannot run fox: there is no node Sleep \(E602\)\n {2}hint: install there/,
  );
  expect(code).not.toBe(0);
});
