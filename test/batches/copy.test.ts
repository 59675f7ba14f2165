// Sheets that cannot be copied, and folders that cannot hold a copy: each fails with its code and leaves nothing behind.

import {
  copyFileSync,
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withCopy, type SheetCopy } from '../../src/batches/copy-sheet.ts';
import { sheetFault } from '../../src/sheet/sheet-source.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { listen } from '../stage/free-port.ts';

const copied = (path: string, out: string, stdin: Readable = Readable.from([])): Promise<SheetCopy> =>
  withCopy(path, { out, stdin }, async (copy) => copy);

const failed = (code: string): NodeJS.ErrnoException => Object.assign(new Error(`${code}: no`), { code });

describe('a sheet at an address', () => {
  const hosted = async (status: number): Promise<string> => {
    const server = createHttpServer((_, response) => void response.writeHead(status).end('prompt\nan owl\n'));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${await listen(server)}/night/owls.csv`;
  };

  it('is copied with the name that it has there, from any host that the user names', async () => {
    const { name, format, bytes } = await copied(`${await hosted(200)}?signature=x`, freshFolder());
    expect([name, format, bytes]).toEqual(['owls.csv', 'csv', 14]);
  });

  it('is refused with its address, and leaves nothing, if its host refuses it', async () => {
    const [address, out] = [await hosted(404), freshFolder()];
    await expect(copied(`${address}?signature=x`, out)).rejects.toMatchObject({
      code: 'E106',
      message: expect.stringContaining(`${address} cannot be read`),
    });
    expect(readdirSync(out)).toEqual([]);
  });

  it('is copied from a file URL, and refused at another kind of address', async () => {
    const path = join(freshFolder(), 'hens 1.csv');
    writeFileSync(path, 'prompt\na hen\n');
    expect((await copied(pathToFileURL(path).href, freshFolder())).name).toBe('hens 1.csv');
    await expect(copied('ftp://host/a.csv', freshFolder())).rejects.toMatchObject({ code: 'E106' });
  });
});

describe('a sheet that cannot be read', () => {
  it('is a folder, and the error names the sheets in it', async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'sheets.csv'));
    writeFileSync(join(folder, 'sheets.csv', 'a.csv'), 'a\n1\n');
    await expect(copied(join(folder, 'sheets.csv'), join(folder, 'out'))).rejects.toMatchObject({
      code: 'E106',
      exit: 5,
      message: `${join(folder, 'sheets.csv')} cannot be read as a sheet: it is a folder`,
      hint: `sheets in it: ${join(folder, 'sheets.csv', 'a.csv')}`,
    });
  });

  it('is a socket', async () => {
    const path = join(freshFolder(), 'sheet.csv');
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await new Promise((done) => server.once('listening', done));
    await expect(copied(path, freshFolder())).rejects.toMatchObject({
      code: 'E106',
      message: expect.stringMatching(/it is a socket$/),
    });
  });

  it('is a device, which may have no end', async () => {
    await expect(copied('/dev/zero', freshFolder())).rejects.toMatchObject({
      code: 'E106',
      message: '/dev/zero cannot be read as a sheet: it is a device',
      hint: expect.stringContaining('-'),
    });
  });

  it.each([
    ['EACCES', /this user may not read it$/, /chmod u\+r/],
    ['EIO', /EIO: no$/, /stdin/],
  ])('because of %s', async (code, message, hint) => {
    const error = await sheetFault('sheet.csv', failed(code));
    expect(error).toMatchObject({ code: 'E106', exit: 5, message: expect.stringMatching(message) });
    expect(error.hint).toMatch(hint);
  });

  it('is an interrupted stdin', async () => {
    const stdin = Readable.from(
      (function* () {
        yield Buffer.from('a\n');
        throw failed('EIO');
      })(),
    );
    const out = freshFolder();
    await expect(copied('-', out, stdin)).rejects.toMatchObject({ code: 'E106' });
    expect(readdirSync(out)).toEqual([]);
  });

  it('changes while it is read', async () => {
    const folder = freshFolder();
    const path = join(folder, 'sheet.csv');
    writeFileSync(path, 'a\n');
    truncateSync(path, 64 * 1024 * 1024);
    const out = join(folder, 'out');
    const copying = copied(path, out);
    const outcome = copying.then(
      () => undefined,
      (error: unknown) => error,
    );
    while (!hasBegun(out)) await turn();
    appendFileSync(path, 'b\n');
    expect(await outcome).toMatchObject({ code: 'E107', exit: 5, place: { file: 'sheet.csv' } });
    expect(readdirSync(out)).toEqual([]);
  });
});

/** Whether copying has begun. */
function hasBegun(out: string): boolean {
  try {
    return readdirSync(out).some((name) => readdirSync(join(out, name)).length > 0);
  } catch {
    return false;
  }
}

describe('a folder for batches that cannot be used', () => {
  const sheet = (): string => {
    const path = join(freshFolder(), 'sheet.csv');
    writeFileSync(path, 'a\n1\n');
    return path;
  };

  it.each([
    ['lies in a file', (file: string) => join(file, 'batches')],
    ['is a file', (file: string) => file],
    ['cannot be made', () => '/proc/batches/deep'],
  ])('%s', async (_, outOf) => {
    const path = sheet();
    await expect(copied(path, outOf(path))).rejects.toMatchObject({
      code: 'E606',
      exit: 2,
      message: expect.stringContaining(outOf(path)),
      hint: expect.stringContaining('--out'),
    });
  });

  it('keeps a copy under a recognisable name, whatever the name of the sheet', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'sheet.csv~old file'), 'a\n1\n');
    expect((await copied(join(folder, 'sheet.csv~old file'), join(folder, 'out'))).file).toBe('sheet.csv');
  });

  it('is created with its parent folders', async () => {
    const out = join(freshFolder(), 'a', 'b', 'c');
    expect((await copied(sheet(), out)).bytes).toBe(4);
  });
});

describe('a workbook', () => {
  it('is known by its bytes, and its cells are unpacked beside its copy', async () => {
    const folder = freshFolder();
    const path = join(folder, 'prompts.csv');
    copyFileSync(join(import.meta.dirname, '../sheet/files/openpyxl.xlsx'), path);
    const copy = await withCopy(path, { out: folder, stdin: Readable.from([]) }, async (made) => {
      const cells = readFileSync(join(made.folder, made.file), 'utf8');
      return { ...made, cells, files: readdirSync(made.folder).toSorted() };
    });
    expect(copy).toMatchObject({ format: 'xlsx', file: 'sheet.cells', files: ['sheet.cells', 'sheet.csv'] });
    expect(copy.cells).toMatch(/^\{"sheet":"Prompts",.*\}\n\[1,\["prompt","seed",/);
  });
});
