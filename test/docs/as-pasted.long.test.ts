// The commands of the first pages run as they are pasted: those of a page in their order, in one shell and one empty folder,
// against a run service and a ComfyUI of this machine.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openStandIn, portrait } from '../comfy/own-service.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';
import { pastedFrom } from './page-commands.ts';
import { PASTED_PAGES, valueFor } from './pasted-pages.ts';
import { CANNOT, paste } from './paste.ts';
import { ROOT } from './written.ts';

const INPUTS = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'seed', type: 'int' },
  { name: 'image', type: 'image' },
];
const of = (name: string, runSeconds: number) => ({
  name,
  runSeconds,
  inputTypes: INPUTS,
  concurrencyLimit: 4,
});
const DEPLOYMENTS = deploymentsOf(
  ...['portrait-v3', 'portraits', 'drafts', 'finals'].map((name) => of(name, 0.5)),
  of('slow', 40),
  {
    ...of('product-shot', 0.5),
    inputTypes: [
      { name: 'input_image', type: 'image', required: true },
      { name: 'product_name', type: 'string' },
      { name: 'prompt', type: 'string', required: true },
      { name: 'strength', type: 'float', default: 0.6 },
    ],
  },
);

describe('the commands of', () => {
  let stage = new Stage();
  afterEach(() => stage.close());

  it.each(PASTED_PAGES)('$path run as they are pasted', { timeout: 900_000 }, async (pastedPage) => {
    stage = new Stage();
    const page = readFileSync(join(ROOT, pastedPage.path), 'utf8');
    const { base } = await stage.service([
      '--deployments',
      stage.write('service/deployments.json', DEPLOYMENTS),
    ]);
    const comfyui = await openStandIn({ folder: stage.path('comfyui') });
    const instead = Object.entries(
      (await pastedPage.instead?.({ folder: stage.folder, comfyui: comfyui.url, base })) ?? {},
    );
    const filled = (text: string): string =>
      instead
        .reduce((pasted, [from, to]) => pasted.replaceAll(from, to), text)
        .replaceAll(/https:\/\/…\/api/g, base)
        .replaceAll('http://127.0.0.1:8188', comfyui.url)
        .replaceAll('/home/ann/', `${stage.path('home')}/`);
    const files = {
      'home/.config/runsheet/config.toml': `api_url = "${base}"\napi_key_file = "${stage.path('home/.secrets/runs')}"\n`,
      'portrait_api.json': JSON.stringify(portrait()),
      ...(await pastedPage.files?.(page)),
    };
    for (const [name, text] of Object.entries(files))
      stage.write(name, typeof text === 'string' ? filled(text) : text);
    const commands = [...(pastedPage.first ?? []), ...pastedFrom(page)].filter(
      (command) => valueFor(CANNOT, command) === undefined,
    );
    const ends = await paste(
      stage,
      commands.map((command) => ({
        command: filled(command),
        before: valueFor(pastedPage.before ?? {}, command),
      })),
    );
    const wrong = commands.flatMap((command, at) => {
      const { code = -1, output = '' } = ends[at] ?? {};
      return code === (valueFor(pastedPage.codes ?? {}, command) ?? 0) ? [] : [{ command, code, output }];
    });
    expect(wrong).toEqual([]);
    expect(commands.length).toBeGreaterThan(0);
  });

  it('are few that cannot run, and each of them stands on a page', () => {
    const commands = PASTED_PAGES.flatMap(({ path }) => pastedFrom(readFileSync(join(ROOT, path), 'utf8')));
    const idle = Object.keys(CANNOT).filter(
      (begin) => !commands.some((command) => valueFor({ [begin]: true }, command)),
    );
    expect(idle).toEqual([]);
  });
});
