// Small outputs of many formats, whole and valid as far as their first and last bytes say.

const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const marker = (code: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length + 2);
  return Buffer.concat([hex(`ff${code}`), length, content]);
};

/** With a preview in its metadata, which has an end marker of its own. */
export const JPEG = Buffer.concat([
  hex('ffd8'),
  marker('e0', Buffer.from('JFIF\0\u0001\u0001\0\0\u0001\0\u0001\0\0', 'latin1')),
  marker('e1', Buffer.concat([Buffer.from('Exif\0\0'), hex('ffd8 ffda 0002 1234 ffd9')])),
  marker('da', hex('0102')),
  Buffer.alloc(300, 7),
  hex('ffd9'),
]);

export const GIF = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(60, 5), hex('003b')]);

const riff = (kind: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length + 4);
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from(kind), content]);
};
export const WEBP = riff('WEBP', Buffer.concat([Buffer.from('VP8L'), Buffer.alloc(60, 3)]));
export const WAV = riff('WAVE', Buffer.concat([Buffer.from('fmt '), Buffer.alloc(60, 1)]));
/** A WAV written into a pipe: the program cannot return to declare the size. */
export const PIPED_WAV = Buffer.concat([WAV.subarray(0, 4), hex('ffffffff'), WAV.subarray(8)]);

const box = (type: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length + 8);
  return Buffer.concat([size, Buffer.from(type), content]);
};
const FTYP = box('ftyp', Buffer.from('isom\0\0\u0002\0isommp42'));
const MOOV = box('moov', Buffer.alloc(50));
const MDAT = box('mdat', Buffer.alloc(500, 1));
export const MP4 = Buffer.concat([FTYP, box('free', Buffer.of()), MDAT, MOOV]);
export const FAST_MP4 = Buffer.concat([FTYP, MOOV, MDAT]);
/** A program wrote a box of its own. */
export const ODD_MP4 = Buffer.concat([FTYP, box('junk', Buffer.alloc(9)), MOOV, MDAT]);
/** An MP4 whose media box declares its size in 64 bits. */
export const LONG_MP4 = Buffer.concat([
  FTYP,
  MOOV,
  hex('00000001'),
  Buffer.from('mdat'),
  hex('0000000000000110'),
  Buffer.alloc(256),
]);
/** A program was killed before it wrote the index. */
export const UNFINISHED_MP4 = Buffer.concat([FTYP, MDAT]);
export const M4A = Buffer.concat([box('ftyp', Buffer.from('M4A \0\0\u0002\0isom')), MDAT, MOOV]);
export const AVIF = Buffer.concat([
  box('ftyp', Buffer.from('avif\0\0\0\0mif1')),
  box('meta', Buffer.alloc(40)),
]);

export const GLB = Buffer.concat([
  Buffer.from('glTF'),
  hex('02000000 24000000 10000000'),
  Buffer.from('JSON'),
  Buffer.from('{"asset":{}}    '),
]);
export const ZIP = Buffer.concat([
  hex('504b0304 1400 0000 0000'),
  Buffer.alloc(80),
  hex('504b0506'),
  Buffer.alloc(18),
]);
export const PDF = Buffer.from('%PDF-1.4\n1 0 obj\nendobj\ntrailer\n%%EOF\n');
export const WEBM = Buffer.concat([
  hex('1a45dfa3 9f 4286 81 01 42f7 81 01 42f2 81 04 42f3 81 08 4282 84'),
  Buffer.from('webm'),
  Buffer.alloc(60),
]);
export const OGG = Buffer.concat([
  Buffer.from('OggS\0\u0002'),
  Buffer.alloc(22),
  Buffer.from('\u0001OpusHead', 'latin1'),
  Buffer.alloc(40),
]);
export const MP3 = Buffer.concat([Buffer.from('ID3\u0004\0\0\0\0\0\0'), hex('fffb9064'), Buffer.alloc(500)]);
export const SAFETENSORS = Buffer.concat([hex('0200000000000000'), Buffer.from('{}')]);
export const EXE = Buffer.concat([hex('4d5a9000 03000000 04000000 ffff0000'), Buffer.alloc(64)]);

export const HTML = Buffer.from('\n<!-- login -->\n<!DOCTYPE html><html><body>Please sign in</body></html>');
export const ERROR_JSON = Buffer.from('{"error":"the link has expired"}');
export const ERROR_XML = Buffer.from('<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>');
export const SVG = Buffer.from('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>');
