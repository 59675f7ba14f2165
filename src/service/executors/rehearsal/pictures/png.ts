// Writes a PNG: an indexed picture of at most 256 colours, one byte per pixel.

import { crc32, deflateSync } from 'node:zlib';

export type Colour = readonly [red: number, green: number, blue: number];
/** A square or oblong of palette indices, row by row from the top left. */
export type Bitmap = { readonly width: number; readonly height: number; readonly pixels: Uint8Array };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS_PER_PIXEL = 8;
const INDEXED = 3;
const NO_FILTER = 0;
// Flat shapes: higher levels and larger windows save a few hundred bytes and cost twice the time.
const DEFLATE = { level: 2, windowBits: 12, memLevel: 6 };

/** The bytes of the file. `palette` has three bytes for each colour; `comment` is Latin-1 text that viewers show. */
export function encodePng(bitmap: Bitmap, palette: Uint8Array, comment: string): Buffer {
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header(bitmap)),
    chunk('PLTE', palette),
    chunk('tEXt', Buffer.from(`Comment\0${comment}`, 'latin1')),
    chunk('IDAT', deflateSync(scanlines(bitmap), DEFLATE)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function header({ width, height }: Bitmap): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([BITS_PER_PIXEL, INDEXED], 8);
  return data;
}

/** Each row starts with the number of its filter. */
function scanlines({ width, height, pixels }: Bitmap): Buffer {
  const data = Buffer.alloc((width + 1) * height, NO_FILTER);
  for (let y = 0; y < height; y++) data.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return data;
}

/** Length, type, data, and the checksum over type and data. */
function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(4);
  frame.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([frame, body, sum]);
}
