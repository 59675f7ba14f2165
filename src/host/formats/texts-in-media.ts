// Finds the graph that ComfyUI and its savers write into pictures, films and sounds: the text of each place that may hold one.
// PNG has it in chunks; other formats put it after the word `prompt` or into a box.

import { inflateSync } from 'node:zlib';
import type { Ends } from '../plain-file.ts';
import { isJson } from './python-json.ts';

const PNG = Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1');
/** Text chunks, including the one of animated PNG. */
const TEXT_CHUNKS: ReadonlySet<string> = new Set(['tEXt', 'iTXt', 'zTXt', 'comf']);
/** A bound on the inflated bytes of all chunks of a file together. */
const MAX_INFLATED = 32 * 2 ** 20;
/** How far after its name a value may begin. */
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
  [0, '\u00FF\u00FB'],
  [0, '\u00FF\u00D8\u00FF'],
  [0, 'GIF8'],
  // SVG, or the web page that was saved instead of a picture.
  [0, '<'],
];

/** Whether the bytes are a picture, film or sound. */
export const isMedia = (bytes: Uint8Array): boolean => {
  const begin = Buffer.from(bytes.subarray(0, 16)).toString('latin1').replace(/^ï»¿/, '');
  return MEDIA.some(([at, magic]) => begin.startsWith(magic, at));
};

/** Tags are at one of the two ends of a large file. */
export const MEDIA_ENDS: Ends = { begins: isMedia, bytes: 16 * 2 ** 20 };

/** The JSON objects that a file holds as texts. */
export function textsInMedia(bytes: Uint8Array): readonly string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks = buffer.subarray(0, PNG.length).equals(PNG) ? objectsOf(chunkTexts(buffer)) : [];
  // The last chunks of a large animated PNG are found by their tags, because the bytes before them were not read.
  return chunks.length > 0 ? chunks : objectsOf(taggedTexts(buffer));
}

const objectsOf = (texts: Iterable<string>): readonly string[] => [
  ...new Set([...texts].map((text) => text.trim()).filter((text) => text.startsWith('{') && isJson(text))),
];

function* chunkTexts(png: Buffer): Generator<string> {
  let left = MAX_INFLATED;
  for (let at = PNG.length; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (TEXT_CHUNKS.has(type)) {
      const { text, inflated } = chunkText(type, data, left);
      left -= inflated;
      yield text.toString('utf8');
    }
    at += 12 + length;
  }
}

/** `inflated`: how many bytes of the file's share the text used up. */
type ChunkText = { readonly text: Buffer; readonly inflated: number };
const plain = (text: Buffer): ChunkText => ({ text, inflated: 0 });

/** The text of a chunk after its keyword. */
function chunkText(type: string, data: Buffer, most: number): ChunkText {
  const keyword = data.indexOf(0);
  const body = data.subarray(keyword + 1);
  if (type === 'zTXt') return inflatedText(body.subarray(1), most);
  if (type !== 'iTXt') return plain(body);
  // The compression flag and method come first, then language and translated keyword, each ended by 0.
  const isCompressed = body[0] === 1;
  const language = body.indexOf(0, 2);
  const translated = body.indexOf(0, language + 1);
  const text = body.subarray(translated + 1);
  return isCompressed ? inflatedText(text, most) : plain(text);
}

/** The inflated text. A failed inflation counts as the most that its bytes may hold, or as all that was left. */
function inflatedText(data: Buffer, most: number): ChunkText {
  const nothing = Buffer.alloc(0);
  if (most <= 0) return plain(nothing);
  try {
    const text = inflateSync(data, { maxOutputLength: most });
    return { text, inflated: text.length };
  } catch {
    return { text: nothing, inflated: Math.min(most, data.length * MAX_DEFLATED) };
  }
}
/** How many bytes one byte of compressed text can become. */
const MAX_DEFLATED = 1_032;

/** Values of MP4 boxes, and texts after the word `prompt` in other formats. */
function* taggedTexts(buffer: Buffer): Generator<string> {
  const text = buffer.toString('utf8');
  // The bound gives up on crafted files that consist of nothing but beginnings.
  let left = MAX_OPENED;
  let end = 0;
  for (const { index, 0: name } of text.matchAll(/prompt|comment|data/gi)) {
    const behind = index + name.length;
    if (left <= 0) return;
    const gap = text.slice(behind, behind + NAME_GAP).search(/\{\s*["}]/);
    const from = behind + gap;
    if (gap === -1 || from < end) continue;
    const { to, isWhole } = objectFrom(text, from, left);
    left -= Math.max(to - from, MIN_OPENED);
    const object = text.slice(from, to);
    if (!isWhole || !isJson(object)) continue;
    end = to;
    yield object;
  }
}

const MAX_OPENED = 128 * 2 ** 20;
/** The cost of the shortest beginning, because a text must be parsed to see that it only looks like JSON. */
const MIN_OPENED = 1_024;

/** JSON has no bare control characters, so a text with one is part of the picture. */
const isControl = (sign: string): boolean => sign < ' ' && !/\s/.test(sign);

/** How far the object that begins here reaches, and whether its last brace was found. */
function objectFrom(
  text: string,
  from: number,
  most: number,
): { readonly to: number; readonly isWhole: boolean } {
  const last = Math.min(text.length, from + Math.max(0, most));
  let depth = 0;
  let isQuoted = false;
  for (let at = from; at < last; at += 1) {
    const sign = text[at] as string;
    if (isControl(sign)) return { to: at, isWhole: false };
    if (isQuoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return { to: at + 1, isWhole: true };
    }
  }
  return { to: last, isWhole: false };
}
