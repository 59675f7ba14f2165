import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../../src/batches/make-batch.ts';
import { propose, type Proposal } from '../../../src/batches/propose.ts';
import { outputAddresses } from '../../../src/batches/from/from-sheet.ts';
import type { WantedFile } from '../../../src/batches/from/source-rows.ts';
import { UploadMemory } from '../../../src/batches/files/file-addresses.ts';
import { keyFromEnvironment } from '../../../src/host/settings/api-key.ts';
import type { Config } from '../../../src/host/settings/config.ts';
import { connectRunService } from '../../../src/service-client/client.ts';
import { remembering } from '../../../src/service-client/remembering.ts';
import { ServiceClock } from '../../../src/service-client/connection.ts';
import { openTransport } from '../../../src/host/http/transport.ts';
import { connectV1 } from '../../../src/service-client/open-services.ts';
import { readPage } from '../../../src/sheet/pages.ts';
import { layoutOf } from '../../../src/store/batch-file.ts';
import { openService, TOKEN } from '../../run-service/asking.ts';
import { Place } from '../creating.ts';
import { addResults } from '../earlier.ts';

const isGone = async (): Promise<boolean> => false;
const key = keyFromEnvironment(TOKEN, 'the test');
const connection = (base: string) => ({ base, key, transport: openTransport(4), clock: new ServiceClock() });

async function endedBatch(place: Place): Promise<CreatedBatch> {
  place.write('animals.csv', 'prompt\na fox\nan owl\n');
  const batchFolder = await place.create('animals.csv');
  await addResults(batchFolder);
  return batchFolder;
}

const fileOf = ({ batch }: CreatedBatch, row: number, more: Partial<WantedFile> = {}): WantedFile => {
  const content = `${batch} ${row}`;
  const path = `outputs/of-${row}/1.png`;
  return { path, sha256: hash('sha256', content), bytes: content.length, nth: 1, run: '', ...more };
};

describe('the address of an output', () => {
  it('is that of its upload, which each content has once for a service', async () => {
    const { service } = await openService();
    const place = new Place();
    const batchFolder = await endedBatch(place);
    const at = remembering(connectRunService(connection(service.base)));
    const opened = (base = service.base) => {
      const memory = new UploadMemory(place.out, base);
      return outputAddresses({ batchFolder, service: at, memory, deadlineAt: undefined, isGone });
    };
    const first = opened();
    const file = fileOf(batchFolder, 1);
    expect(first.known(file)).toBeUndefined();
    const [one, same, other] = await Promise.all([
      first.of(file),
      first.of(file),
      first.of(fileOf(batchFolder, 2)),
    ]);
    expect(await (await fetch(one ?? '')).text()).toBe(`${batchFolder.batch} 1`);
    expect([same, first.uploaded, first.endsAt]).toEqual([one, 2, undefined]);
    expect(other).not.toBe(one);
    const later = opened();
    expect([await later.of(file), later.uploaded]).toEqual([one, 0]);
    expect(opened('https://other.example/api').known(file)).toBeUndefined();
  });

  it('is the one that was stored first, if two commands upload the file at the same time', async () => {
    const place = new Place();
    await endedBatch(place);
    using memory = new UploadMemory(place.out, 'base');
    using two = new UploadMemory(place.out, 'base');
    expect(memory.add('sha', 'https://a.example/1', undefined)).toBe('https://a.example/1');
    expect(two.add('sha', 'https://a.example/2', undefined)).toBe('https://a.example/1');
    expect(two.add('sha', 'https://a.example/3', 'https://a.example/1')).toBe('https://a.example/3');
    expect(memory.get('sha')).toBe('https://a.example/3');
  });

  it('is refused for a file that has changed or is gone', async () => {
    const { service } = await openService();
    const place = new Place();
    const batchFolder = await endedBatch(place);
    const memory = new UploadMemory(place.out, service.base);
    const at = remembering(connectRunService(connection(service.base)));
    const addresses = outputAddresses({ batchFolder, service: at, memory, deadlineAt: undefined, isGone });
    const { path } = fileOf(batchFolder, 1);
    await batchFolder.store.write(path, `${batchFolder.batch} X`);
    await expect(addresses.of(fileOf(batchFolder, 1))).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringContaining('is not the file that its run made') as string,
    });
    await expect(addresses.of(fileOf(batchFolder, 1, { path: 'outputs/gone.png' }))).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringContaining('has no outputs/gone.png') as string,
    });
    expect(memory.get(fileOf(batchFolder, 1).sha256)).toBeUndefined();
  });

  it('is that of the service if it takes no files, and is refused if it expires before the deadline', async () => {
    const { service, queue, ended } = await openService({ outputs: 2 }, { faults: { 'private-file': 1 } });
    const run = await queue();
    const { outputs } = await ended(run);
    const place = new Place();
    const batchFolder = await endedBatch(place);
    const at = remembering(connectV1(connection(service.legacyBase)));
    const file = fileOf(batchFolder, 1, { run, nth: 2 });
    const addresses = (deadlineAt?: number) =>
      outputAddresses({
        batchFolder,
        service: at,
        memory: new UploadMemory(place.out, 'v1'),
        deadlineAt,
        isGone,
      });
    await expect(addresses().of(file)).rejects.toMatchObject({
      code: 'E554',
      hint: expect.stringMatching(/--deadline \d+m/) as string,
    });
    const soon = addresses(Date.now() + 1_000);
    const address = await soon.of(file);
    expect(URL.parse(address)?.pathname).toBe(URL.parse(outputs[0]?.files[1]?.url ?? '')?.pathname);
    expect(soon.endsAt).toBeGreaterThan(Date.now());
    await expect(addresses().of(fileOf(batchFolder, 2))).rejects.toMatchObject({ code: 'E555' });
  });
});

describe('the batch of results', () => {
  const inputTypes = [
    { name: 'image', type: 'image', required: true },
    { name: 'prompt', type: 'string' },
  ];

  async function scene(map: Readonly<Record<string, string>>, set: Readonly<Record<string, string>> = {}) {
    const { service } = await openService({ name: 'finals', inputTypes });
    const place = new Place();
    const batchFolder = await endedBatch(place);
    const config = { out: place.out, home: place.folder, apiUrl: service.base, apiKey: () => key };
    const options = { map, set, drop: [], types: {} };
    const request = {
      service: { base: service.base, api: 'v2' as const },
      deployment: 'finals',
      options,
      settings: { deadlines: {}, webhooks: false },
      order: {},
      again: false,
      // A row has the row number of its source batch.
      answers: {},
    };
    const make = async (before: (proposal: Proposal) => void = () => {}) => {
      let uploaded: number | undefined;
      await using proposal = await propose(
        request,
        { from: { batchFolder, each: 'row' } },
        {
          config: config as unknown as Config,
          isCluster: () => false,
          servers: async () => ({
            pools: { show: async () => {} },
            batches: { withContent: async () => [] },
          }),
          onUpload: (_, done) => (uploaded = done?.uploaded),
        },
      );
      before(proposal);
      // Awaited here, because the proposal is disposed of on return.
      const made = await proposal.carryOut();
      return { uploaded, made };
    };
    return { batchFolder, make, memory: () => new UploadMemory(place.out, service.base) };
  }

  it('is made of columns that the deployment has, with its pictures, and knows where it is from', async () => {
    const { batchFolder, make } = await scene({ image: 'output' }, { prompt: 'a bear' });
    const { uploaded, made } = await make();
    expect([uploaded, made.file.from?.batch]).toEqual([2, batchFolder.batch]);
    expect(made.file.sheet.inputs.map(({ input, from }) => [input, from])).toEqual([
      ['image', { column: 'output' }],
      ['prompt', { value: 'a bear' }],
    ]);
    expect(made.laidOut?.rows).toBe(2);
    const again = await make();
    expect([again.uploaded, again.made.batch, again.made.laidOut]).toEqual([
      undefined,
      made.batch,
      undefined,
    ]);
  });

  it('has the addresses in its rows and in its copy of the sheet, and is laid out once', async () => {
    const { batchFolder, make } = await scene({ image: 'output' }, { prompt: 'a bear' });
    const { made } = await make(({ draft }) => {
      // No layout would take this text.
      writeFileSync(join(draft?.layout.location ?? '', 'sheet.jsonl'), 'ruined');
    });
    const layout = layoutOf(made.store, made.file);
    const photos = (await readPage(layout, 1)).map(({ inputs }) => String(inputs['image']));
    const { sha256 } = fileOf(batchFolder, 1);
    expect(photos[0]).toMatch(new RegExp(`^http.*#sha256=${sha256}$`));
    const copy = (await layout.read(made.file.sheet.file)) ?? '';
    expect(copy.split('\n').filter((line) => photos.some((photo) => line.includes(photo)))).toHaveLength(2);
    expect(made.file.sheet).toMatchObject({
      sha256: hash('sha256', copy),
      bytes: Buffer.byteLength(copy),
    });
  });

  it('is checked before anything is uploaded', async () => {
    const { batchFolder, make, memory } = await scene({ imag: 'output' });
    await expect(make()).rejects.toMatchObject({ code: 'E602' });
    expect(memory().get(fileOf(batchFolder, 1).sha256)).toBeUndefined();
  });
});
