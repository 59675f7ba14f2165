import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, downloadOutputs } from '../../activities/download-outputs.ts';
import { OUTPUT_LIMITS, type OutputLimits, textsWithin } from '../../activities/output-limits.ts';
import { runSchema, type Run } from '../../src/service-client/contract/run.ts';
import { openDownloads } from '../../src/host/http/download.ts';
import { folderStore } from '../../src/store/folder.ts';
import { serveForTest } from '../stage/serve.ts';
import { runOf, SERVICE } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('the limits of outputs', () => {
  let folder = '';
  beforeEach(() => (folder = freshFolder()));

  const deliver = (run: Run, limits: Partial<OutputLimits> = {}): Promise<Delivery> =>
    downloadOutputs(
      { download: openDownloads(2), limits: { ...OUTPUT_LIMITS, ...limits } },
      {
        store: folderStore(folder),
        service: { base: SERVICE, forget: () => undefined, getRun: async () => run },
        runId: run.id,
        names: { folder: 'outputs', name: 'fox' },
        signal: new AbortController().signal,
      },
    );

  it('a run with more than 1,000 files fails before the first download', async () => {
    const { url, asked: requests } = await serveForTest((_, response) => void response.end('x'));
    const files = Array.from({ length: 1_001 }, () => url);
    expect(await deliver(runOf('r', 'success', files))).toEqual({
      kind: 'file',
      reason: 'the run has 1001 files; the limit is 1000',
    });
    expect(requests).toEqual([]);
  });

  it('a file with a declared length above 2 GiB fails and leaves nothing', async () => {
    const { url } = await serveForTest((_, response) => {
      response.writeHead(200, { 'content-length': String(2 ** 31 + 1) }).write('x');
    });
    expect(await deliver(runOf('r', 'success', [url]))).toEqual({
      kind: 'file',
      reason: 'file 1 (one.bin): it is larger than 2 GiB',
    });
  });

  it('a file without a declared length that exceeds the limit fails and leaves nothing', async () => {
    const { url } = await serveForTest((_, response) => {
      // The response declares no length.
      response.writeHead(200, { etag: '"one"', 'transfer-encoding': 'chunked' });
      response.end(Buffer.alloc(8 << 20));
    });
    const delivery = await deliver(runOf('r', 'success', [url]), { fileBytes: 3 << 20 });
    expect(delivery).toMatchObject({ kind: 'file', reason: expect.stringContaining('larger') });
    expect(readdirSync(join(folder, 'outputs'))).toEqual([]);
  });

  it('the files of a run together may not exceed the limit of a row', async () => {
    const { url } = await serveForTest((_, response) => void response.end(Buffer.alloc(100)));
    const run = runOf('r', 'success', [url, url, url]);
    expect(await deliver(run, { runBytes: 300 })).toMatchObject({ kind: 'delivered' });
    expect(await deliver(run, { runBytes: 299 })).toMatchObject({
      kind: 'file',
      reason: expect.stringMatching(/^file 3 .*the files of the run exceed/),
    });
  });

  it('texts above the limit are cut, and a note says so', async () => {
    const text = ['0000', '1111', '2222'];
    const run = runSchema.parse({ id: 'r', status: 'success', outputs: [{ data: { text } }] });
    expect(await deliver(run)).toEqual({ kind: 'delivered', files: [], texts: text });
    expect(await deliver(run, { texts: 2 })).toMatchObject({
      texts: ['0000', '1111'],
      note: expect.stringContaining('it has 3'),
    });
    expect(await deliver(run, { textBytes: 6 })).toMatchObject({
      texts: ['0000', '11'],
      note: expect.any(String),
    });
  });

  it('a text is cut between characters', () => {
    expect(textsWithin(['ab\u00E9', 'c'], { ...OUTPUT_LIMITS, textBytes: 3 })).toMatchObject({
      texts: ['ab'],
    });
    expect(textsWithin(['abc'], { ...OUTPUT_LIMITS, textBytes: 3 })).toEqual({ texts: ['abc'] });
  });

  it('count texts as they are written, so that a part of them can be read again', () => {
    const binary = '\u0001'.repeat(OUTPUT_LIMITS.textBytes);
    const { texts, note } = textsWithin([binary, 'more'], OUTPUT_LIMITS);
    const written = JSON.stringify(texts).length;
    expect(written).toBeLessThanOrEqual(OUTPUT_LIMITS.textBytes + 4);
    expect(written).toBeGreaterThan(OUTPUT_LIMITS.textBytes - 6);
    expect(note).toContain('were cut');
  });
});
