// Finds out from a stream of chunks whether a file is cut off, for formats that say where they end. What follows the end does
// not matter, because many programs append something.

/** Sees all chunks of a file in order. */
export type EndDetector = {
  add(chunk: Uint8Array): void;
  /** Whether the file is whole, after its last byte. */
  isWhole(bytes: number): boolean;
};

export type Format = { readonly name: string; readonly ending: (head: Buffer) => EndDetector };

/** Bytes needed to detect the format. */
export const FORMAT_BYTES = 16;

/** undefined for formats that do not say where they end. */
export function formatOf(head: Buffer): Format | undefined {
  const at = (from: number, to: number): string => head.toString('latin1', from, to);
  if (at(0, 8) === '\u0089PNG\r\n\u001a\n') return { name: 'PNG', ending: () => seen(PNG_END) };
  if (at(0, 3) === '\u00ff\u00d8\u00ff') return { name: 'JPEG', ending: () => jpegEnd() };
  if (/^GIF8[79]a/.test(at(0, 6))) return { name: 'GIF', ending: () => tail(1 << 16, GIF_END) };
  if (at(0, 4) === 'RIFF' && at(8, 12) === 'WEBP')
    return { name: 'WEBP', ending: () => declared(riffBytes(head)) };
  if (at(0, 4) === 'RIFF' && at(8, 12) === 'WAVE')
    return { name: 'WAV', ending: () => declared(riffBytes(head)) };
  if (at(0, 4) === 'glTF') return { name: 'GLB', ending: () => declared(head.readUInt32LE(8)) };
  if (at(0, 4) === 'PK\u0003\u0004') return { name: 'ZIP', ending: () => tail(66_000, ZIP_END) };
  if (at(0, 5) === '%PDF-') return { name: 'PDF', ending: () => tail(66_000, /%%EOF/) };
  if (at(4, 8) !== 'ftyp') return undefined;
  const isPicture = /^(?:avi[fs]|hei|hev|mif|msf)/.test(at(8, 12));
  return { name: isPicture ? 'AVIF' : 'MP4', ending: () => boxes(!isPicture) };
}

/** The end of the last picture and of the file; without a picture, the end of the file. */
const GIF_END = /\0;|;[\0\s]*$/;
const ZIP_END = new RegExp(Buffer.from('504b0506', 'hex').toString('latin1'));
const PNG_END = Buffer.from('49454e44ae426082', 'hex');

/** Whole if the file contains these bytes. */
function seen(wanted: Buffer): EndDetector {
  let before: Uint8Array = Buffer.of();
  let isSeen = false;
  return {
    add: (chunk) => {
      if (isSeen) return;
      const edge = Buffer.concat([before, chunk.subarray(0, wanted.length)]);
      isSeen =
        edge.includes(wanted) ||
        Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).includes(wanted);
      before = Buffer.concat([before, chunk.subarray(-wanted.length)]).subarray(1 - wanted.length);
    },
    isWhole: () => isSeen,
  };
}

/** Whole if the last bytes match. */
function tail(most: number, wanted: RegExp): EndDetector {
  let last: Buffer = Buffer.of();
  return {
    add: (chunk) => (last = Buffer.concat([last, chunk.subarray(-most)]).subarray(-most)),
    isWhole: () => wanted.test(last.toString('latin1')),
  };
}

/** Whole if the file has the bytes that it declares. A writer that does not know the size declares 0 or the greatest number. */
const declared = (bytes: number): EndDetector => ({
  add: () => undefined,
  isWhole: (size) => size >= bytes || bytes >= 0x7fff_0000,
});

/** Some programs count a last padding byte that they do not write. */
const riffBytes = (head: Buffer): number => {
  const bytes = head.readUInt32LE(4);
  return bytes === 0 ? 0 : bytes + 8 - 1;
};

/** Whole if an end marker follows the picture's own data; a preview in the metadata has an end marker, too. */
function jpegEnd(): EndDetector {
  let head: Buffer = Buffer.of();
  let [bytes, edge, lastEnd] = [0, 0, -1];
  return {
    add: (chunk) => {
      const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (head.length < JPEG_HEAD_BYTES) head = Buffer.concat([head, piece]);
      const at = piece.lastIndexOf(JPEG_END);
      if (at >= 0) lastEnd = bytes + at;
      else if (edge === 0xff && piece[0] === 0xd9) lastEnd = bytes - 1;
      bytes += piece.length;
      edge = piece.at(-1) ?? edge;
    },
    isWhole: () => {
      const data = scanAt(head);
      return data === 'unknown' || (data !== 'cut' && lastEnd > data);
    },
  };
}

const JPEG_HEAD_BYTES = 1 << 18;
const JPEG_END = Buffer.from('ffd9', 'hex');

function scanAt(head: Buffer): number | 'cut' | 'unknown' {
  let at = 2;
  while (at + 4 <= head.length) {
    if (head[at] !== 0xff) return 'unknown';
    const marker = head[at + 1] ?? 0;
    if (marker === 0xda) return at;
    at += marker === 0xff ? 1 : 2 + head.readUInt16BE(at + 2);
  }
  return head.length < JPEG_HEAD_BYTES ? 'cut' : 'unknown';
}

/** Whole if no box extends past the end of the file, and if a video has its index, which an unknown box may hide. */
function boxes(needsIndex: boolean): EndDetector {
  let [at, next] = [0, 0];
  let header: Buffer = Buffer.of();
  let [mayHaveIndex, isOver] = [false, false];
  const readHeader = (): void => {
    const type = header.toString('latin1', 4, 8);
    if (type === 'moov') mayHaveIndex = true;
    const short = header.readUInt32BE(0);
    const bytes = short === 1 ? Number(header.readBigUInt64BE(8)) : short;
    const isUnknown = bytes >= 8 && !BOX.test(type);
    if (isUnknown) mayHaveIndex = true;
    // 0: to the end of the file. Anything else is unknown, or was appended by another program.
    if (bytes < 8 || isUnknown) isOver = true;
    else next += bytes;
    header = Buffer.of();
  };
  return {
    add: (chunk) => {
      for (let from = 0; !isOver;) {
        from = Math.max(from, next + header.length - at);
        if (from >= chunk.byteLength) break;
        const missing = headerBytes(header) - header.length;
        header = Buffer.concat([header, chunk.subarray(from, from + missing)]);
        if (header.length === headerBytes(header)) readHeader();
      }
      at += chunk.byteLength;
    },
    isWhole: (bytes) => next <= bytes && (mayHaveIndex || !needsIndex),
  };
}

const BOX =
  /^(?:ftyp|styp|pdin|free|skip|wide|pnot|moov|moof|mfra|mdat|idat|meta|uuid|udta|sidx|ssix|prft|emsg|jumb|jxlc|jxlp)$/;

/** A box of more than 4 GiB declares its size after its type. */
const headerBytes = (header: Buffer): number => (header.length >= 8 && header.readUInt32BE(0) === 1 ? 16 : 8);
