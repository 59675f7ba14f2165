// Files of a batch that cannot be read back are named, with their code.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileFault } from '../../src/file-fault.ts';
import { readSummary } from '../../src/results/summary.ts';
import { readBatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('batch.json', () => {
  it.each([
    ['that breaks off', '{"format":1,', /batch\.json is not a batch of this version: it is no JSON/],
    ['of another kind', '{}', /batch\.json is not a batch of this version: format: /],
  ])('%s is refused in one line', async (_, text, message) => {
    const folder = place();
    writeFileSync(join(folder, 'batch.json'), text);
    const error = await readBatchFile(folderStore(folder)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E504', exit: 5, message: expect.stringMatching(message) });
    expect(String(error)).not.toContain('\n');
  });

  it('that is a folder has a code as well', async () => {
    const folder = place();
    mkdirSync(join(folder, 'batch.json'));
    const error = await readBatchFile(folderStore(folder)).catch((thrown: unknown) => thrown);
    expect(fileFault(error)).toMatchObject({
      code: 'E606',
      message: expect.stringMatching(/it is a folder/),
    });
  });
});

describe('summary.json', () => {
  it('that breaks off is refused', async () => {
    const folder = place();
    writeFileSync(join(folder, 'summary.json'), '{"batch":');
    await expect(readSummary(folderStore(folder))).rejects.toMatchObject({
      code: 'E504',
      message: expect.stringMatching(/summary\.json/),
    });
  });
});

describe('an error that is none of the file system', () => {
  it.each([
    ['refused', { code: 'ECONNREFUSED', syscall: 'connect' }],
    ['not allowed to listen', { code: 'EACCES', syscall: 'listen' }],
    ['unknown', {}],
  ])('%s is left as it is', (_, facts) => {
    expect(fileFault(Object.assign(new Error('no'), facts))).toBeUndefined();
  });
});
