// Chooses the extension of an output file. The extension decides which program opens the file, so only formats that
// display something and execute nothing keep theirs. The first bytes decide; the name counts only for text and for
// formats without a signature.

import { fileTypeFromBuffer } from 'file-type';
import { isText, TEXT_FORMATS } from '../src/host/formats/output-kind.ts';
import { isPassiveSvg } from './passive-svg.ts';

const setOf = (extensions: string): ReadonlySet<string> => new Set(extensions.split(' '));

/** Formats with a signature in their first bytes. */
const BY_BYTES = setOf(
  'png apng jpg gif webp avif heic jxl jp2 bmp tif psd ktx ico ' +
    'mp4 m4v mov webm mkv avi mpg 3gp ogv mp3 m4a aac wav flac ogg oga opus aif mid ' +
    'glb stl fbx 3mf drc pdf vtt zip gz tar tar.gz 7z xz zst parquet arrow',
);

/** Text formats, and formats without a signature. */
const BY_NAME = new Set([...TEXT_FORMATS, ...setOf('ply stl exr hdr tga dds npy safetensors splat spz')]);

/** `head` is the beginning of the file, or all of it. */
export async function extensionOf(head: Uint8Array, isWhole: boolean, name: string): Promise<string> {
  const named = name.split('.').at(-1)?.toLowerCase() ?? '';
  // "BMW in the rain" begins like a bitmap.
  if (TEXT_FORMATS.has(named) && isText(head)) return named;
  const detected = await fileTypeFromBuffer(head);
  // An SVG has no signature but XML's, and a browser that opens it directly runs its scripts.
  if (named === 'svg' && (detected === undefined || detected.ext === 'xml'))
    return isWhole && isPassiveSvg(head) ? 'svg' : 'bin';
  if (detected !== undefined) return BY_BYTES.has(detected.ext) ? detected.ext : 'bin';
  return BY_NAME.has(named) ? named : 'bin';
}
