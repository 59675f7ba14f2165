// service servers lists the GPU servers that the embedded run service knows, and forgets one.

import { expect, it, onTestFinished } from 'vitest';
import { openStandIn } from '../comfy/own-service.ts';
import { commandsIn, wordsOf } from '../errors/printed-commands.ts';
import { Recorded, recordOf } from '../printed/recorded.ts';
import { Console } from './console.ts';

it('a server that was given is listed, is known under its other address, and is gone once it is forgotten', async () => {
  const [gpu, standIn] = [await openStandIn(), await openStandIn()];
  const console = await Console.open();
  const before = process.cwd();
  process.chdir(console.folder);
  onTestFinished(() => process.chdir(before));
  const here = gpu.url.replace('http://127.0.0.1', 'localhost');
  for (const address of [gpu.url, here, standIn.url])
    expect((await console.run('deployments', '--comfyui', address)).stderr).not.toContain('error');
  const listed = await console.run('service', 'servers', '-o', 'json');
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { url: gpu.url, also: [`http://${here}`], runs: 0 },
    { url: standIn.url, also: [] },
  ]);
  const left = await console.run('service', 'servers', '--forget', here);
  expect(left.stdout).toContain(standIn.url);
  expect(left.stdout).not.toContain(gpu.url);
  const pasted = new Recorded();
  const paste = async (printed: string): Promise<string> => {
    const [command = ''] = commandsIn(printed);
    pasted.add(printed, command);
    const [words = []] = wordsOf(command);
    return (await console.run(...words)).stdout;
  };
  const unknown = await console.run('service', 'servers', '--forget', gpu.url);
  expect(unknown.stderr).toContain('no GPU server is known as');
  expect(await paste(unknown.stderr)).toContain(standIn.url);
  const moved = await console.run('service', 'servers', '--moved', `${standIn.url}=${gpu.url}`);
  expect(await paste(moved.stderr)).toContain('');
  const again = await console.run('service', 'servers', '--moved', `${standIn.url}=${gpu.url}`);
  expect(again.stdout).toMatch(new RegExp(`${gpu.url}.*${standIn.url}`));
  expect(await paste(again.stderr)).not.toContain(gpu.url);
  await expect(pasted.text).toMatchFileSnapshot(recordOf('known-servers'));
}, 120_000);
