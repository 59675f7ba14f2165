import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { OpenBatches } from '../../activities/open-batches.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openServices } from '../../src/service-client/open-services.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { ASKED, Place } from '../batches/creating.ts';
import { SERVICE } from './deps.ts';

describe('the batches that a worker has open', () => {
  let place: Place;
  let text: string;
  let lookups: string[];
  let batches: OpenBatches;
  beforeEach(async () => {
    place = new Place();
    place.write('owls.csv', 'prompt\nan owl\n');
    const made = await place.create('owls.csv', { service: { ...ASKED.service, base: SERVICE } });
    text = readFileSync(join(made.folder, 'batch.json'), 'utf8');
    lookups = [];
    const config = loadConfig({
      RUNSHEET_API_URL: SERVICE,
      RUNSHEET_API_KEY: 'key',
      RUNSHEET_OUT: place.out,
      RUNSHEET_HOME: join(place.folder, 'home'),
    });
    batches = new OpenBatches(config, openServices(config, openTransport(1)), async ({ batch }) => {
      lookups.push(batch);
      return folderOf(batch);
    });
  });
  const folderOf = (batch: string): string => join(place.out, batch);
  const refOf = (n: number) => {
    const batch = `copy-${n}`;
    return { batch, mark: MARK, folder: folderOf(batch) };
  };
  /** Opens another batch. */
  const open = async (n: number): Promise<void> => {
    const { batch, folder } = refOf(n);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...JSON.parse(text), batch, mark: MARK }));
    await batches.open(refOf(n));
  };
  const MARK = '0123456789abcdef';

  it('are read once, and found by name without asking Temporal', async () => {
    await open(0);
    rmSync(folderOf('copy-0'), { recursive: true });
    const opened = [await batches.find(refOf(0)), await batches.open(refOf(0))];
    expect([opened.map((batch) => batch?.file.batch), lookups]).toEqual([['copy-0', 'copy-0'], []]);
  });

  it('are read again in another folder', async () => {
    await open(0);
    await expect(batches.open({ ...refOf(0), folder: folderOf('moved') })).rejects.toThrow(
      'there is no batch in',
    );
  });

  it('are not those of a folder that has another batch, also one of the same name', async () => {
    await open(0);
    for (const change of [{ batch: 'copy-1' }, { mark: 'fedcba9876543210' }])
      await expect(batches.open({ ...refOf(0), ...change })).rejects.toMatchObject({
        code: 'E504',
        message: expect.stringContaining('but another one'),
      });
  });

  it('stay open while they are used, however many others are opened', async () => {
    await open(0);
    for (let n = 1; n <= 1_050; n += 1) {
      await open(n);
      if (n % 500 === 0) await batches.find(refOf(0));
    }
    await batches.find(refOf(0));
    expect(lookups).toEqual([]);
  });
});
