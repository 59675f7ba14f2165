// Pictures, films and sounds that carry texts as ComfyUI and its savers write them, made by hand: nothing else is in them.

import { crc32, deflateSync } from 'node:zlib';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const joined = (...parts: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? latin(part) : part)));

/** Builds a chunk of a PNG. */
const chunk = (type: string, data: Uint8Array): Buffer => {
  const named = joined(type, data);
  return joined(uint32(data.length), named, uint32(crc32(named)));
};
const HEADER = chunk('IHDR', joined(uint32(1), uint32(1), Buffer.from([8, 0, 0, 0, 0])));
const PIXELS = chunk('IDAT', deflateSync(Buffer.from([0, 255])));
const END = chunk('IEND', Buffer.alloc(0));

type TextPlace = 'before' | 'after';
const png = (chunks: readonly Uint8Array[], place: TextPlace = 'before'): Buffer =>
  joined(
    '\u0089PNG\r\n\u001A\n',
    HEADER,
    ...(place === 'before' ? [...chunks, PIXELS] : [PIXELS, ...chunks]),
    END,
  );
type Texts = Readonly<Record<string, string>>;
const each = (texts: Texts, toBytes: (name: string, text: string) => Buffer): readonly Buffer[] =>
  Object.entries(texts).map(([name, text]) => toBytes(name, text));

/** SaveImage writes ASCII, with escapes for all other letters. */
export const pngWith = (texts: Texts): Buffer =>
  png(each(texts, (name, text) => chunk('tEXt', joined(`${name}\0`, utf8(text)))));
export const pngWithInternational = (texts: Texts, isCompressed: boolean): Buffer =>
  png(
    each(texts, (name, text) =>
      chunk(
        'iTXt',
        joined(
          `${name}\0${isCompressed ? '\u0001' : '\0'}\0en\0${name}\0`,
          isCompressed ? deflateSync(utf8(text)) : utf8(text),
        ),
      ),
    ),
  );
export const pngWithCompressed = (texts: Texts): Buffer =>
  png(each(texts, (name, text) => chunk('zTXt', joined(`${name}\0\0`, deflateSync(utf8(text))))));
/** SaveAnimatedPNG. */
export const animatedPngWith = (texts: Texts): Buffer =>
  png(
    each(texts, (name, text) => chunk('comf', joined(`${name}\0`, utf8(text)))),
    'after',
  );

/** Builds a RIFF file, such as WebP. */
const riff = (type: string, ...chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer => {
  const body = joined(
    type,
    ...chunks.flatMap(([name, data]) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(data.length);
      return [latin(name), size, data, ...(data.length % 2 === 1 ? [Buffer.alloc(1)] : [])];
    }),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return joined('RIFF', size, body);
};

/** TIFF in big endian with ASCII tags: Model (0x0110) has the prompt, Make (0x010f) the editor's workflow. */
function exif(tags: readonly (readonly [tag: number, text: string])[]): Buffer {
  const texts = tags.map(([, text]) => joined(utf8(text), '\0'));
  let at = 8 + 2 + tags.length * 12 + 4;
  const entries = tags.map(([tag], index) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt16BE(tag, 0);
    entry.writeUInt16BE(2, 2);
    entry.writeUInt32BE(texts[index]?.length ?? 0, 4);
    entry.writeUInt32BE(at, 8);
    at += texts[index]?.length ?? 0;
    return entry;
  });
  const count = Buffer.alloc(2);
  count.writeUInt16BE(tags.length);
  return joined('MM\0*', uint32(8), count, ...entries, uint32(0), ...texts);
}

const VP8L = Buffer.from('2f00000000', 'hex');
export const webpWith = (prompt: string, workflow?: string): Buffer =>
  riff(
    'WEBP',
    ['VP8L', VP8L],
    [
      'EXIF',
      exif([
        ...(workflow === undefined ? [] : [[0x010f, `workflow:${workflow}`] as const]),
        [0x0110, `prompt:${prompt}`],
      ]),
    ],
  );

/** Builds a box of MP4 or MOV. */
const box = (type: string | Uint8Array, ...content: readonly (string | Uint8Array)[]): Buffer => {
  const body = joined(type, ...content);
  return joined(uint32(4 + body.length), body);
};

export function mp4With(texts: Texts, brand = 'isom'): Buffer {
  const keys = box(
    'keys',
    uint32(0),
    uint32(Object.keys(texts).length),
    ...Object.keys(texts).map((name) => box('mdta', name)),
  );
  const values = Object.values(texts).map((text, index) =>
    box(uint32(index + 1), box('data', uint32(1), uint32(0), utf8(text))),
  );
  const meta = box('meta', uint32(0), keys, box('ilst', ...values));
  return joined(
    box('ftyp', brand, uint32(512)),
    box('mdat', Buffer.alloc(4_000, 'data{"')),
    box('moov', box('udta', meta)),
  );
}

/** Builds an element of Matroska. */
const ebml = (id: string, ...content: readonly (string | Uint8Array)[]): Buffer => {
  const body = joined(...content);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(body.length, 4);
  size[0] = 1;
  return joined(Buffer.from(id, 'hex'), size, body);
};

/** ffmpeg writes the names of tags in capitals. */
export const webmWith = (texts: Texts): Buffer =>
  joined(
    ebml('1a45dfa3', ebml('4282', 'webm')),
    ebml(
      '18538067',
      ebml(
        '1254c367',
        ...each(texts, (name, text) =>
          ebml('7373', ebml('67c8', ebml('45a3', name.toUpperCase()), ebml('4487', utf8(text)))),
        ),
      ),
    ),
  );

/** Puts the length of a text in front of it, as the comments of sound files have it. */
const counted = (text: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  return joined(size, text);
};
const vorbisComment = (texts: Texts): Buffer => {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(Object.keys(texts).length);
  return joined(
    counted(latin('Lavf61')),
    count,
    ...each(texts, (name, text) => counted(utf8(`${name}=${text}`))),
  );
};

export function flacWith(texts: Texts): Buffer {
  const comment = vorbisComment(texts);
  const block = uint32(comment.length);
  block[0] = 0x84;
  return joined('fLaC', Buffer.from('00000022', 'hex'), Buffer.alloc(34), block, comment);
}

export const opusWith = (texts: Texts): Buffer =>
  joined('OggS', Buffer.alloc(24), 'OpusTags', vorbisComment(texts));

/** Sizes of ID3v2.4 have seven bits in a byte; frames are UTF-8. */
export function mp3With(texts: Texts): Buffer {
  const syncsafe = (value: number): Buffer =>
    Buffer.from([21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f));
  const frames = each(texts, (name, text) => {
    const content = joined(Buffer.from([3]), name, '\0', utf8(text));
    return joined('TXXX', syncsafe(content.length), Buffer.alloc(2), content);
  });
  const body = joined(...frames);
  return joined('ID3', Buffer.from([4, 0, 0]), syncsafe(body.length), body, Buffer.from('fffb9000', 'hex'));
}

export const svgWith = (texts: Texts): Buffer =>
  utf8(
    `<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><metadata>\n<![CDATA[\n{${Object.entries(
      texts,
    )
      .map(([name, text]) => `${JSON.stringify(name)}: ${text}`)
      .join(', ')}}\n]]>\n</metadata><path d="M0 0"/></svg>\n`,
  );

/** A picture after a website has made a smaller one of it. */
export const jpegWithout = (): Buffer => Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');
