// Doctor's checks of vendors: each whose key is set is asked whether it accepts the key, and nothing is bought.

import { expect, it, vi } from 'vitest';
import { openFal } from '../vendors/fal.ts';
import { openReplicate } from '../vendors/replicate.ts';
import { openRouter } from '../vendors/router.ts';
import { openRunpod } from '../vendors/runpod.ts';
import { until } from '../stage/stage.ts';
import { Console } from './console.ts';

const KEYS = ['REPLICATE_API_TOKEN', 'COMFY_API_KEY', 'RUNPOD_API_KEY', 'FAL_KEY'];

async function opened() {
  const console = await Console.open();
  const vendors = {
    replicate: await openReplicate(),
    router: await openRouter(),
    runpod: await openRunpod(),
    fal: await openFal(),
  };
  for (const name of KEYS) vi.stubEnv(name, undefined);
  for (const [name, { url }] of Object.entries(vendors))
    vi.stubEnv(`RUNSHEET_${name.toUpperCase()}_URL`, url);
  const doctor = async (...flags: readonly string[]): Promise<string> =>
    (await console.run('doctor', ...flags)).stdout;
  return { console, vendors, doctor };
}

it('names no vendor without a key, and each with one: accepted, refused, or away', async () => {
  const { console, vendors, doctor } = await opened();
  expect(await doctor()).not.toMatch(/replicate|router|runpod|fal /);
  for (const name of KEYS) vi.stubEnv(name, vendors.fal.key);
  vi.stubEnv('REPLICATE_API_TOKEN', 'another-key-0123');
  vendors.router.close();
  const text = await doctor();
  expect(text).toContain(
    `✗ replicate    ${vendors.replicate.url} refuses the key: /v1/predictions answered 401`,
  );
  expect(text).toContain('hint: copy a key from your account there');
  expect(text).toContain('or set REPLICATE_API_TOKEN\n');
  expect(text).toMatch(/✗ router {7}http:\S+ does not answer: .*\n {2}hint: repeat the command later/);
  expect(text).toContain(
    `✓ runpod       ${vendors.runpod.url}, key …test from RUNPOD_API_KEY; only an endpoint`,
  );
  expect(text).toContain(`✓ fal          ${vendors.fal.url}, key …test from FAL_KEY is accepted\n`);
  const listed = JSON.parse(await doctor('-o', 'json')) as readonly { readonly part: string }[];
  expect(listed.filter(({ part }) => part === 'replicate')).toEqual([
    {
      part: 'replicate',
      ok: false,
      message: expect.stringMatching(/refuses the key.*\(E614\)/),
      hint: expect.stringContaining('REPLICATE_API_TOKEN'),
    },
  ]);
  expect((await console.run('doctor')).code).toBe(6);
  expect(Object.values(vendors).map((vendor) => vendor.posts())).toEqual([0, 0, 0, 0]);
});

it('tells of a key that only the service has by what the service last saw, and asks with no other one', async () => {
  const { vendors, doctor } = await opened();
  const { fal } = vendors;
  const { RUNSHEET_API_URL: url = '', RUNSHEET_API_KEY: key = '' } = process.env;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const servers = [{ url: fal.url, kind: 'fal', key: fal.key }];
  const body = JSON.stringify({ servers, models: [{ vendor: 'fal', model: fal.model, name: 'painter' }] });
  const added = await fetch(`${new URL(url).origin}/control/gpus`, { method: 'POST', headers, body });
  expect(added.status).toBe(200);
  const shown = `✓ fal          ${fal.url}, key known to the run service only, which sees no fault there\n`;
  expect(await doctor()).toContain(shown);
  // A command with --model needs a key of its own.
  expect(await doctor('--model', `fal:${fal.model}`)).toContain('fal needs your key');
  vi.stubEnv('FAL_KEY', fal.key);
  expect(await doctor()).toContain('key …test from FAL_KEY is accepted');
  vi.stubEnv('FAL_KEY', undefined);
  fal.close();
  await fetch(`${new URL(url).origin}/control/gpus`, { method: 'POST', headers, body });
  await until(
    async () => /✗ fal .*its key is known to the run service only/.test(await doctor()),
    'the fault is told',
  );
});

it('asks for the model that --model names, with the key of --key-file', async () => {
  const { console, vendors, doctor } = await opened();
  const { runpod, replicate } = vendors;
  const file = console.write('key.txt', `${runpod.key}\n`);
  const askAbout = (model: string): Promise<string> => doctor('--model', model, '--key-file', file);
  expect(await askAbout(`runpod:${runpod.model}`)).toContain(
    `✓ runpod       ${runpod.url}, key from ${file} is accepted; it has ${runpod.model}\n`,
  );
  expect(await askAbout('runpod:none')).toMatch(/✗ runpod {7}runpod has no model none \(E602\)/);
  expect(await askAbout(`replicate:${replicate.model}`)).toContain(`it has ${replicate.model}\n`);
  const wrong = console.write('wrong.txt', 'another-key-0123\n');
  expect(await doctor('--model', `runpod:${runpod.model}`, '--key-file', wrong)).toMatch(
    /✗ runpod {7}runpod refuses the key: .* answered 401/,
  );
  expect(await doctor('--model', 'fal:a/b')).toMatch(
    /✗ fal {10}fal needs your key \(E602\)\n {2}hint: .*FAL_KEY/,
  );
});
