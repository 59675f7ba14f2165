// The extension of a file that a run made. Whoever opens the file in its folder opens it by this: only formats that show
// something, and do nothing, keep theirs. The first bytes decide; a name is believed only for formats without such bytes.

import { fileTypeFromBuffer } from 'file-type';
import { isPassiveSvg } from './passive-svg.ts';

const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Formats that are known by their first bytes. */
const BY_BYTES = listed(
  'png apng jpg gif webp avif heic jxl jp2 bmp tif psd ktx ico ' +
    'mp4 m4v mov webm mkv avi mpg 3gp ogv mp3 m4a aac wav flac ogg oga opus aif mid ' +
    'glb stl fbx 3mf drc pdf vtt zip gz tar tar.gz 7z xz zst parquet arrow',
);

/** Formats that are text, or have no first bytes of their own. */
const BY_NAME = listed(
  'txt md log json jsonl csv tsv yaml yml srt vtt obj mtl ply stl gltf bvh exr hdr tga dds npy safetensors splat spz',
);

/** `head` is the beginning of the file, or all of it. */
export async function extensionOf(head: Uint8Array, isWhole: boolean, name: string): Promise<string> {
  const known = await fileTypeFromBuffer(head);
  const named = name.split('.').at(-1)?.toLowerCase() ?? '';
  // An SVG is known by no first bytes but those of XML; opened by itself it may run scripts, as a page may.
  if (named === 'svg' && (known === undefined || known.ext === 'xml'))
    return isWhole && isPassiveSvg(head) ? 'svg' : 'bin';
  if (known !== undefined) return BY_BYTES.has(known.ext) ? known.ext : 'bin';
  return BY_NAME.has(named) ? named : 'bin';
}
