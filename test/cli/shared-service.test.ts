// `runsheet service` for several people, in front of a ComfyUI.

import { expect, it } from 'vitest';
import { portrait } from '../comfy/own-service.ts';
import { ComfyStandIn } from '../comfy/stand-in.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const stage = sharedStage();

const SHARED = ['service', '--host', '0.0.0.0', '--db', ':memory:'];
const withKeys = (): readonly string[] => [
  '--token-file',
  stage.write('keys', 'ann:key-of-ann\nben:key-of-ben\n'),
];

it('offers the workflows of flags and of a file, and simulated deployments only if the file has some', async () => {
  await using comfy = new ComfyStandIn({ folder: freshFolder() });
  await comfy.start();
  const fox = stage.write('fox_api.json', JSON.stringify(portrait()));
  stage.write('flows/bold.json', JSON.stringify(portrait({ seconds: 1 })));
  const entries = [
    { name: 'portrait', workflow: 'bold.json', inputs: { prompt: ['3.text'], wait: ['5.seconds'] } },
    { name: 'simulated' },
  ];
  const file = stage.write('flows/deployments.json', JSON.stringify(entries));
  const gpus = ['--comfyui', `RTX 4090=${comfy.url}`, '--workflow', fox, '--workflow', `hound=${fox}`];
  const address = ['--public-url', 'https://runs.example'];
  const service = stage.start([...SHARED, ...withKeys(), ...address, ...gpus, '--deployments', file]);
  await service.says(/RUNSHEET_API_URL=https:\/\/runs\.example\/api\n/);
  const [, url = ''] = await service.says(/listens at (\S+);/);
  const answer = await fetch(`${url}/api/deployments`, { headers: { authorization: 'Bearer key-of-ann' } });
  const deployments = (await answer.json()) as readonly { name: string; gpu: string; input_types: unknown }[];
  expect(deployments.map(({ name, gpu }) => [name, gpu])).toEqual([
    ['simulated', 'A10G'],
    ['portrait', 'RTX 4090'],
    ['hound', 'RTX 4090'],
  ]);
  expect(deployments[1]?.input_types).toMatchObject([
    { input_id: 'prompt' },
    { input_id: 'wait' },
    {},
    {},
    {},
  ]);
  expect(service.stdout + service.stderr).not.toMatch(/key-of-|live page/);
});

it('has no demo deployments, which somebody could mistake for real ones', async () => {
  const service = stage.start([...SHARED, ...withKeys(), '--public-url', 'https://runs.example']);
  const [, url = ''] = await service.says(/listens at (\S+);/);
  const answer = await fetch(`${url}/api/deployments`, { headers: { authorization: 'Bearer key-of-ann' } });
  expect(await answer.json()).toEqual([]);
});

it.each([
  ['keys', SHARED, /--host 0\.0\.0\.0 lets other machines use the service, so it needs keys.*--token-file/s],
  [
    'an address that others can use',
    [...SHARED, ...withKeys()],
    /--host 0\.0\.0\.0 is no address that other machines could use.*--public-url https/s,
  ],
  [
    'no faults in front of real GPUs',
    ['service', '--comfyui', 'http://127.0.0.1:8188', '--fault', 'flood-answer=1'],
    /--fault is for rehearsals, and runs on real GPUs have no faults/,
  ],
  [
    'keys behind a proxy too',
    ['service', '--public-url', 'https://runs.example'],
    /--public-url lets other machines/,
  ],
])('needs %s', async (_what, args, says) => {
  const { code, stderr } = await stage.runHere(args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
});
