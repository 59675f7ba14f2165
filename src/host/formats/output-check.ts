// Checks whether an output is delivered (R32): not empty, not cut off, and of the kind that its name or the service's type promises.
// An unrecognized format passes: the run was paid for, so only content that is certainly of another kind is a fault. A picture in
// another format is still a picture, and a video still a video.

import { fileTypeFromBuffer } from 'file-type';
import { mayMove, mediaKindOf, type MediaKind } from './media-types.ts';

export type Promised = { readonly name: string; readonly type?: string | null | undefined };

type OutputKind = MediaKind | 'document' | 'archive' | 'model' | 'text' | 'binary' | 'unnamed';

/** Formats whose files are text. */
export const TEXT_FORMATS: ReadonlySet<string> = new Set(
  'txt md log json jsonl csv tsv yaml yml srt vtt obj mtl gltf bvh'.split(' '),
);

const words = (text: string): readonly string[] => text.split(' ');
const mapOf = <T>(entries: readonly (readonly [T, string])[]): ReadonlyMap<string, T> =>
  new Map(
    entries.flatMap(([value, extensions]) =>
      words(extensions).map((extension) => [extension, value] as const),
    ),
  );

/** The kinds that other extensions promise. Unlisted ones promise nothing. */
const PROMISED = mapOf<OutputKind>([
  ['document', 'pdf'],
  ['archive', 'zip 7z gz tgz tar xz zst'],
  ['model', 'glb'],
  // Formats without a signature that everyone knows, but none of them is text.
  ['binary', 'safetensors latent npy npz exr tga dds splat spz pt pth ckpt onnx gguf'],
  ['unnamed', 'bin dat'],
]);

/** Formats that are always recognised by their first bytes. */
const FIRM: ReadonlySet<string> = new Set(
  words(
    'png apng jpg jpeg jpe jfif gif webp bmp ico avif heic heif mp4 m4v webm mkv flac ogg oga opus pdf glb',
  ),
);

/** Text formats that may contain a web page, because a workflow may write one. */
const MAY_BE_PAGE: ReadonlySet<string> = new Set(words('txt md log'));

/**
 * The kinds that a detected format counts as. An animation is a picture and a video; many containers hold
 * both video and audio.
 */
const FOUND = mapOf<readonly OutputKind[]>([
  [['picture'], 'png jpg jp2 jpm jpx bmp tif psd ico icns cur jxl heic flif bpg jxr xcf dng ktx svg'],
  [['picture', 'video'], 'gif webp apng avif mj2'],
  [['video', 'audio'], 'mp4 m4a m4v m4b m4p mov 3gp 3g2 f4v f4a webm mkv ogg ogv oga opus ogm ogx asf'],
  [['video'], 'avi mpg flv mts'],
  [['audio'], 'mp3 mp2 mp1 aac wav flac aif amr ape wv mpc dsf ac3 mid voc caf'],
  [['document'], 'pdf'],
  [['archive'], 'zip 7z gz tar tar.gz xz zst bz2 rar docx xlsx pptx odt ods odp epub jar apk xpi vsdx'],
  [['model'], 'glb stl fbx drc'],
  [['model', 'archive'], '3mf'],
]);

/** Signatures of two bytes, with which a text in an old encoding may begin. */
const WEAK: ReadonlySet<string> = new Set(words('bmp ico cur mp3 mp2 mp1 aac'));

/** `label`: the name in messages. */
type Promise_ = { readonly kind: OutputKind; readonly label: string; readonly extension: string };

function promiseOf({ name, type }: Promised): Promise_ | undefined {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const kind = mediaKindOf(name) ?? (TEXT_FORMATS.has(extension) ? 'text' : PROMISED.get(extension));
  if (kind !== undefined && kind !== 'unnamed') return { kind, label: extension.toUpperCase(), extension };
  const byType = kindOfType(type ?? '');
  if (byType !== undefined) return { kind: byType, label: String(type), extension: '' };
  return kind === 'unnamed' || extension === '' ? { kind: 'unnamed', label: 'a file', extension } : undefined;
}

/** The service may give a media type; ComfyUI's `output` and `temp` are none. */
function kindOfType(type: string): OutputKind | undefined {
  const [, main, sub] = /^(\w+)\/([\w.+-]+)/.exec(type.toLowerCase()) ?? [];
  if (main === 'image') return 'picture';
  if (main === 'video' || main === 'audio') return main;
  if (main === 'text' || sub === 'json') return 'text';
  return sub === 'pdf' ? 'document' : sub === 'zip' ? 'archive' : undefined;
}

/** Describes what the bytes are instead of the promised kind; undefined if that is not certain. */
export async function kindFault(head: Uint8Array, promised: Promised): Promise<string | undefined> {
  const wanted = promiseOf(promised);
  if (wanted === undefined) return undefined;
  const text = isPdf(head) ? undefined : textOf(head);
  if (text !== undefined) {
    const written = writingOf(text);
    return isOther(wanted, written, text) ? `${written} instead of ${wanted.label}` : undefined;
  }
  const detected = await fileTypeFromBuffer(head);
  if (detected === undefined)
    return FIRM.has(wanted.extension) ? `unknown bytes instead of ${wanted.label}` : undefined;
  const kinds = FOUND.get(detected.ext);
  const detectedName = detected.ext.toUpperCase();
  if (wanted.kind === 'text')
    return kinds === undefined || WEAK.has(detected.ext)
      ? undefined
      : `${detectedName} instead of ${wanted.label}`;
  if (wanted.kind === 'binary' || wanted.kind === 'unnamed' || kinds?.includes(wanted.kind)) return undefined;
  if (mayMove(wanted.extension) && kinds?.includes('video')) return undefined;
  return `${detectedName} instead of ${wanted.label}`;
}

type WrittenFormat = 'HTML' | 'JSON' | 'SVG' | 'XML' | 'text';

/** Whether a text is not what was promised. */
function isOther({ kind, extension }: Promise_, written: WrittenFormat, text: string): boolean {
  if (kind === 'unnamed') return written === 'HTML' || isErrorBody(written, text);
  if (kind === 'text') return written === 'HTML' && !MAY_BE_PAGE.has(extension) && extension !== '';
  return kind !== 'picture' || written !== 'SVG';
}

const isPdf = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, 5)).toString('latin1') === '%PDF-';

function writingOf(text: string): WrittenFormat {
  const start = text
    .replace(/^(?:\s|<\?xml[^>]*>|<!--[^]*?-->)+/, '')
    .slice(0, 200)
    .toLowerCase();
  if (/^<(?:!doctype\s+html|html|head|body)\b/.test(start)) return 'HTML';
  if (/^<(?:!doctype\s+svg|svg|\w+:svg)\b/.test(start)) return 'SVG';
  if (start.startsWith('<')) return 'XML';
  return /^[{[]/.test(start) ? 'JSON' : 'text';
}

/** Error pages that hosts send instead of a file. JSON may well be an output. */
const isErrorBody = (written: WrittenFormat, text: string): boolean =>
  written === 'XML' && /^(?:\s|<\?xml[^>]*>)*<Error\b/i.test(text);

const SAMPLE_BYTES = 4_096;
/** Control characters that no text has; in UTF-8 their bytes are a part of no other character. */
const isControl = (byte: number): boolean => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b;

export const isText = (head: Uint8Array): boolean => textOf(head) !== undefined;

function textOf(head: Uint8Array): string | undefined {
  const sample = head.subarray(0, SAMPLE_BYTES);
  // Most files have one in their first bytes, and a decoder that throws takes longer.
  if (sample.some(isControl)) return undefined;
  try {
    // A character may be cut at the end of the sample.
    return new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
  } catch {
    return undefined;
  }
}

// Finds out from a stream of chunks whether a file is cut off, for formats that say where they end. What follows the end does
// not matter, because many programs append something.
/** Sees all chunks of a file in order. */
type EndDetector = {
  add(chunk: Uint8Array): void;
  /** Whether the file is whole, after its last byte. */
  isWhole(bytes: number): boolean;
};

type Format = { readonly name: string; readonly ending: (head: Buffer) => EndDetector };

/** Bytes needed to detect the format. */
const FORMAT_BYTES = 16;

/** undefined for formats that do not say where they end. */
function formatOf(head: Buffer): Format | undefined {
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

/** A box of more than 4 GiB declares its size behind its type. */
const headerBytes = (header: Buffer): number => (header.length >= 8 && header.readUInt32BE(0) === 1 ? 16 : 8);

const HEAD_BYTES = 1 << 16;

export type OutputCheck = ReturnType<typeof outputCheck>;

export function outputCheck(promised: Promised) {
  let bytes = 0;
  let head: Buffer = Buffer.of();
  let format: Format | undefined;
  let ending: EndDetector | undefined;
  let isFormatKnown = false;
  return {
    add(chunk: Uint8Array): void {
      const before = head;
      if (before.length < HEAD_BYTES)
        head = Buffer.concat([before, chunk.subarray(0, HEAD_BYTES - before.length)]);
      bytes += chunk.byteLength;
      if (isFormatKnown) return ending?.add(chunk);
      if (bytes < FORMAT_BYTES) return;
      isFormatKnown = true;
      format = formatOf(head);
      ending = format?.ending(head);
      if (before.length > 0) ending?.add(before);
      ending?.add(chunk);
    },
    /** After the last chunk: why the file is not delivered; undefined if it is. */
    async fault(): Promise<string | undefined> {
      if (bytes === 0) return '0 bytes';
      // Most outputs are PNG; detecting further formats takes longer.
      const isPng = format?.name === 'PNG' && /\.png$/i.test(promised.name);
      const kindMismatch = isPng ? undefined : await kindFault(head, promised);
      const isWhole = ending?.isWhole(bytes) ?? true;
      return kindMismatch ?? (isWhole ? undefined : `the ${format?.name} is truncated`);
    },
  };
}
