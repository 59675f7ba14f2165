// The pictures of a sheet that a workflow names.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createOnce } from '../../../src/batches/create-once.ts';
import { openDownloads } from '../../../src/host/http/download.ts';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { openScene, picture } from './scene.ts';

it('a worker finds the pictures of a sheet beside it, but only where it reads sheets', async () => {
  const { place, around } = await openScene();
  const sheets = join(place.folder, 'sheets');
  mkdirSync(sheets);
  const maker = {
    config: { ...around.config, sheets: [sheets], api: 'v2' as const },
    download: openDownloads(1),
    signal: new AbortController().signal,
    isEmbedded: false,
    servers: await around.servers(),
  };
  const make = (callId: string, text: string) => {
    const sheet = place.write('sheets/owls.csv', text);
    const options = { map: {}, set: {}, drop: [], types: {} };
    const settings = { deadlines: {}, webhooks: false };
    return createOnce(maker, {
      sheet,
      callId,
      request: { deployment: 'finals', options, settings, order: {} },
    });
  };
  place.write('sheets/owl.png', picture(1));
  expect((await make('one', 'photo\nowl.png\n'))?.file.sheet.files?.count).toBe(1);

  const secret = place.write('secret.png', picture(2));
  for (const cell of [secret, '../secret.png', pathToFileURL(secret).href, '../none.png']) {
    const refused = await make(cell, `photo\n${cell}\n`).then(undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(SheetRefused);
    const [problem] = (refused as SheetRefused).problems;
    expect([problem?.code, problem?.place?.line]).toEqual(['E210', 2]);
    expect(problem?.message).toContain('not a file that this worker may read');
  }
});
