// The files of the stand-in: one folder for each type, names that count on from what is there, PNGs of one colour.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, normalize, relative } from 'node:path';
import { inflateSync } from 'node:zlib';
import { encodePng } from '../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { NodeException, type Graph } from './node-classes.ts';

export type FileType = 'output' | 'input' | 'temp';
export type FileName = { readonly filename: string; readonly subfolder: string; readonly type: FileType };

/** Pictures have this many pixels on a side, whatever was asked for. */
const SIDE = 8;

export class ImageFiles {
  readonly #folder: string;

  /** `folder` gets the folders `output`, `input` and `temp`, and may belong to several servers. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(this.#in('temp'), { recursive: true, force: true });
    for (const type of ['output', 'input', 'temp'] as const) mkdirSync(this.#in(type), { recursive: true });
  }

  #in(type: FileType, ...names: string[]): string {
    return join(this.#folder, type, ...names);
  }

  save(type: FileType, prefix: string, colours: readonly number[], graph: Graph): FileName[] {
    const path = normalize(prefix);
    const subfolder = dirname(path) === '.' ? '' : dirname(path);
    const name = basename(path);
    if (isOutside(subfolder))
      throw new NodeException(
        'Exception',
        '**** ERROR: Saving image outside the output folder is not allowed.',
      );
    const folder = this.#in(type, subfolder);
    mkdirSync(folder, { recursive: true });
    const first = 1 + Math.max(0, ...readdirSync(folder).map((file) => countOf(file, name)));
    return colours.map((colour, nth) => {
      const filename = `${name}_${String(first + nth).padStart(5, '0')}_.png`;
      writeFileSync(join(folder, filename), pictureOf(colour, graph));
      return { filename, subfolder, type };
    });
  }

  /** The bytes of a file, or the status that refuses it. */
  view(query: URLSearchParams): Buffer | 400 | 403 | 404 {
    const name = query.get('filename') ?? '';
    const subfolder = query.get('subfolder') ?? '';
    const type = query.get('type') ?? 'output';
    if (name === '') return query.has('filename') ? 400 : 404;
    if (name.startsWith('/') || name.includes('..')) return 400;
    if (type !== 'output' && type !== 'input' && type !== 'temp') return 400;
    if (isOutside(normalize(subfolder))) return 403;
    return readIfThere(this.#in(type, subfolder, basename(name))) ?? 404;
  }

  /** Keeps an input file under its name, or under a name of its own if that belongs to another file. */
  upload(wanted: string, subfolder: string, bytes: Buffer, overwrites: boolean): object | undefined {
    if (isOutside(normalize(join(subfolder, wanted)))) return undefined;
    const folder = this.#in('input', normalize(subfolder));
    mkdirSync(folder, { recursive: true });
    const extension = extname(wanted);
    let name = wanted;
    for (let nth = 1; !overwrites; nth++) {
      const existing = readIfThere(join(folder, name));
      if (existing === undefined || existing.equals(bytes)) break;
      name = `${basename(wanted, extension)} (${nth})${extension}`;
    }
    writeFileSync(join(folder, name), bytes);
    return { name, subfolder, type: 'input' };
  }

  inputs(): string[] {
    return readdirSync(this.#in('input'), { withFileTypes: true })
      .flatMap((entry) => (entry.isFile() ? [entry.name] : []))
      .toSorted();
  }

  input(name: string): Buffer | undefined {
    return isOutside(normalize(name)) ? undefined : readIfThere(this.#in('input', name));
  }

  inputColour(name: string): number {
    try {
      return colourOf(this.input(name) ?? Buffer.alloc(0));
    } catch {
      throw new NodeException('PIL.UnidentifiedImageError', `cannot identify image file '${name}'`);
    }
  }
}

const isOutside = (path: string): boolean => relative('/in', join('/in', path)).startsWith('..');

const readIfThere = (path: string): Buffer | undefined =>
  existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined;

/** The number in a name that was made from a prefix, else 0. */
function countOf(file: string, prefix: string): number {
  if (!file.startsWith(`${prefix}_`)) return 0;
  const [digits = ''] = file.slice(prefix.length + 1).split('_');
  return /^\d+$/.test(digits) ? Number(digits) : 0;
}

/** A PNG of one colour that carries its graph, as ComfyUI's do. */
export function pictureOf(colour: number, graph: Graph = {}): Buffer {
  const bitmap = { width: SIDE, height: SIDE, pixels: new Uint8Array(SIDE * SIDE) };
  const palette = Uint8Array.of(colour >> 16, (colour >> 8) & 0xff, colour & 0xff);
  return encodePng(bitmap, palette, JSON.stringify(graph));
}

/** The colour of the first pixel of a PNG, 0xRRGGBB. No filter changes the first pixel. */
export function colourOf(png: Buffer): number {
  const chunks = new Map<string, Buffer[]>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    chunks.set(type, [...(chunks.get(type) ?? []), png.subarray(at + 8, at + 8 + length)]);
    at += 12 + length;
  }
  const pixels = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []));
  const palette = chunks.get('PLTE')?.[0];
  return palette === undefined ? pixels.readUIntBE(1, 3) : palette.readUIntBE(pixels.readUInt8(1) * 3, 3);
}
