import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DeliveredFiles } from '../../activities/delivered-files.ts';
import { downloadOutputs, type Delivery } from '../../activities/download-outputs.ts';
import { LIMITS, textsWithin, type Limits } from '../../activities/output-limits.ts';
import { runSchema, type Run } from '../../src/run-service/contract/run.ts';
import { openDownloads } from '../../src/run-service/download.ts';
import { folderStore } from '../../src/store/folder.ts';
import { fileHost } from '../run-service/file-host.ts';
import { runOf, SERVICE } from './deps.ts';

describe('what a run may bring', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'runsheet-limits-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const deliver = (run: Run, limits: Partial<Limits> = {}): Promise<Delivery> =>
    downloadOutputs(
      { download: openDownloads(2), delivered: new DeliveredFiles(), limits: { ...LIMITS, ...limits } },
      {
        store: folderStore(folder),
        service: { base: SERVICE, forget: () => undefined, getRun: async () => run },
        runId: run.id,
        key: 'fox',
        signal: new AbortController().signal,
      },
    );

  it('is no more files than a thousand: none is fetched of more', async () => {
    const { url, asked } = await fileHost((_, response) => void response.end('x'));
    const files = Array.from({ length: 1_001 }, () => url);
    expect(await deliver(runOf('r', 'success', files))).toEqual({
      kind: 'file',
      reason: 'the run has 1001 files, and 1000 are the most',
    });
    expect(asked).toEqual([]);
  });

  it('is no file of more than 2 GiB: nothing is kept of one that is said to be larger', async () => {
    const { url } = await fileHost((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 31 + 1) }).write('x');
    });
    expect(await deliver(runOf('r', 'success', [url]))).toEqual({
      kind: 'file',
      reason: 'file 1 (one.png): it is larger than 2 GiB',
    });
  });

  it('is no file that turns out to be larger, and nothing is kept of it', async () => {
    const { url } = await fileHost((_, response) => {
      // Its length is not said.
      response.writeHead(200, { etag: '"one"', 'transfer-encoding': 'chunked' });
      response.end(Buffer.alloc(8 << 20));
    });
    const delivery = await deliver(runOf('r', 'success', [url]), { fileBytes: 3 << 20 });
    expect(delivery).toMatchObject({ kind: 'file', reason: expect.stringContaining('larger') });
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([]);
  });

  it('is no more bytes of all its files than a row may have', async () => {
    const { url } = await fileHost((_, response) => void response.end(Buffer.alloc(100)));
    const run = runOf('r', 'success', [url, url, url]);
    expect(await deliver(run, { runBytes: 300 })).toMatchObject({ kind: 'delivered' });
    expect(await deliver(run, { runBytes: 299 })).toMatchObject({
      kind: 'file',
      reason: expect.stringMatching(/^file 3 .*the files of the run are more than/),
    });
  });

  it('is so many texts, and the others are cut, which is said', async () => {
    const text = ['0000', '1111', '2222'];
    const run = runSchema.parse({ id: 'r', status: 'success', outputs: [{ data: { text } }] });
    expect(await deliver(run)).toEqual({ kind: 'delivered', files: [], texts: text });
    expect(await deliver(run, { texts: 2 })).toMatchObject({
      texts: ['0000', '1111'],
      note: expect.stringContaining('3 came'),
    });
    expect(await deliver(run, { textBytes: 6 })).toMatchObject({
      texts: ['0000', '11'],
      note: expect.any(String),
    });
  });

  it('is cut between characters', () => {
    expect(textsWithin(['ab\u00E9', 'c'], { ...LIMITS, textBytes: 3 })).toMatchObject({ texts: ['ab'] });
    expect(textsWithin(['abc'], { ...LIMITS, textBytes: 3 })).toEqual({ texts: ['abc'] });
  });
});
