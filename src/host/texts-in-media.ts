// The graph that ComfyUI and its savers write into pictures, films and sounds: the text of each place that may hold one.
// PNG has it in chunks, MP4 in boxes; every other format as a text behind the word `prompt`.

import { inflateSync } from 'node:zlib';

const PNG = Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1');
/** Text chunks, and the one of animated PNG. */
const TEXT_CHUNKS: ReadonlySet<string> = new Set(['tEXt', 'iTXt', 'zTXt', 'comf']);
const INFLATED_MAX = 32 * 2 ** 20;
/** Tags stand at one of the two ends of a file. */
const END_BYTES = 16 * 2 ** 20;
/** How far behind its name a value begins. */
const NAME_GAP = 64;

/** Magic bytes of formats that may hold a workflow. */
const MEDIA: readonly (readonly [at: number, magic: string])[] = [
  [0, PNG.toString('latin1')],
  [0, 'RIFF'],
  [4, 'ftyp'],
  [0, '\u001AE\u00DF\u00A3'],
  [0, 'fLaC'],
  [0, 'OggS'],
  [0, 'ID3'],
  [0, '\u00FF\u00D8\u00FF'],
  [0, 'GIF8'],
];

/** Returns whether bytes are a picture, film or sound. */
export const isMedia = (bytes: Uint8Array): boolean => {
  const begin = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return MEDIA.some(([at, magic]) => begin.startsWith(magic, at));
};

/** Returns the texts of a file that begin with `{`, each of which may be JSON. */
export function textsInMedia(bytes: Uint8Array): readonly string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts = buffer.subarray(0, PNG.length).equals(PNG) ? chunkTexts(buffer) : taggedTexts(buffer);
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text.startsWith('{')))];
}

function chunkTexts(png: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = PNG.length; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (TEXT_CHUNKS.has(type)) texts.push(chunkText(type, data));
    at += 12 + length;
  }
  return texts;
}

/** The text of a chunk behind its keyword. */
function chunkText(type: string, data: Buffer): string {
  const keyword = data.indexOf(0);
  const rest = data.subarray(keyword + 1);
  if (type === 'zTXt') return inflated(rest.subarray(1)).toString('utf8');
  if (type !== 'iTXt') return rest.toString('utf8');
  // Compression flag and method, then language and translated keyword, each ended by 0.
  const isCompressed = rest[0] === 1;
  const language = rest.indexOf(0, 2);
  const translated = rest.indexOf(0, language + 1);
  const text = rest.subarray(translated + 1);
  return (isCompressed ? inflated(text) : text).toString('utf8');
}

function inflated(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: INFLATED_MAX });
  } catch {
    return Buffer.alloc(0);
  }
}

/** Values of MP4 boxes, and what stands behind the word `prompt` in any other format. */
function taggedTexts(buffer: Buffer): readonly string[] {
  const ends =
    buffer.length <= 2 * END_BYTES ? [buffer] : [buffer.subarray(0, END_BYTES), buffer.subarray(-END_BYTES)];
  return ends.flatMap((part) => {
    const text = part.toString('utf8');
    return [...text.matchAll(/prompt|comment|data/gi)].flatMap(({ index, 0: name }) => {
      const from = text.indexOf('{', index + name.length);
      return from === -1 || from - index - name.length > NAME_GAP ? [] : (balancedFrom(text, from) ?? []);
    });
  });
}

/** The object that begins here, up to its closing brace; undefined if it does not end. */
function balancedFrom(text: string, from: number): string | undefined {
  let depth = 0;
  let isQuoted = false;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at];
    if (isQuoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return text.slice(from, at + 1);
    }
  }
  return undefined;
}
