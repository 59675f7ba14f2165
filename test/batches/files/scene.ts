// Sheets whose rows name pictures, at a service with a deployment that takes them.

import { Readable } from 'node:stream';
import type { CopyParams } from '../../../src/batches/copy-sheet.ts';
import type { BatchRequest } from '../../../src/batches/batch-request.ts';
import { propose, type ProposalContext, type Proposal } from '../../../src/batches/propose.ts';
import type { Uploading } from '../../../src/batches/files/local-files.ts';
import { keyFromEnvironment } from '../../../src/host/settings/api-key.ts';
import type { Config } from '../../../src/host/settings/config.ts';
import { layoutOf } from '../../../src/store/batch-file.ts';
import type { CreatedBatch } from '../../../src/batches/make-batch.ts';
import { readPage } from '../../../src/sheet/pages.ts';
import { encodePng } from '../../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import type { LocalServiceOptions } from '../../../src/run-service/server.ts';
import { openService, TOKEN } from '../../run-service/asking.ts';
import { Place } from '../creating.ts';

/** A small picture; each number is another content. */
export const picture = (number: number): Buffer =>
  encodePng({ width: 2, height: 2, pixels: new Uint8Array(4) }, new Uint8Array(12), String(number));

export const PICTURES = {
  name: 'finals',
  inputTypes: [
    { name: 'photo', type: 'image', required: true },
    { name: 'prompt', type: 'string' },
    { name: 'views', type: 'ComfyUIDeployExternalImageBatch' },
    { name: 'frames', type: 'array' },
  ],
};

export async function openScene(options: Partial<LocalServiceOptions> = {}) {
  let { service } = await openService(PICTURES, options);
  /** The service at its address without anything that it had, as one without a database file. */
  const forget = async (): Promise<void> => {
    await service.close();
    ({ service } = await openService(PICTURES, { ...options, port: Number(new URL(service.url).port) }));
  };
  const place = new Place();
  const key = keyFromEnvironment(TOKEN, 'the test');
  const config = { out: place.out, home: place.folder, apiUrl: service.base, apiKey: () => key };
  const told: Uploading[] = [];
  const around: ProposalContext = {
    config: config as unknown as Config,
    isCluster: () => false,
    servers: async () => ({ pools: { show: async () => {} }, batches: { withContent: async () => [] } }),
    onUploading: (uploading) => told.push(uploading),
  };
  const request = (more: Partial<BatchRequest> = {}): BatchRequest => ({
    service: { base: service.base, api: 'v2' },
    deployment: 'finals',
    options: { map: {}, set: {}, drop: [], types: {} },
    settings: { deadlines: {}, webhooks: false },
    order: {},
    again: false,
    ...more,
    answers: { guesses: 'accept', ...more.answers },
  });
  type SceneParams = {
    readonly more?: Partial<BatchRequest>;
    readonly around?: Partial<ProposalContext>;
    /** The batch whose results are the sheet. */
    readonly from?: CreatedBatch;
  } & Partial<CopyParams>;
  const proposed = async <T>(
    sheet: string,
    { more, around: other, from, ...copying }: SceneParams,
    use: (proposal: Proposal) => Promise<T>,
  ): Promise<T> => {
    const path = `${place.folder}/${sheet}`;
    const source =
      from === undefined
        ? { path, copying: { stdin: Readable.from([]), ...copying } }
        : { from: { batchFolder: from, each: 'row' as const } };
    await using proposal = await propose(request(more), source, { ...around, ...other });
    // Awaited here, because the proposal is disposed of on return.
    return await use(proposal);
  };
  const make = (sheet: string, params: SceneParams = {}): Promise<CreatedBatch> =>
    proposed(sheet, params, (proposal) => proposal.carryOut());
  const uploads = (): number => told.reduce((most, { done }) => Math.max(most, done), 0);
  return { place, around, proposed, make, told, uploads, forget };
}

/** The values of the input `photo`, row by row. */
export async function photosOf({ store, file }: CreatedBatch): Promise<readonly string[]> {
  return (await readPage(layoutOf(store, file), 1)).map(({ inputs }) => String(inputs['photo']));
}

export const contentAt = async (marked: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(marked)).arrayBuffer());
