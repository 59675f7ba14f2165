// Compares the first bytes of an output with the kind that its name or the service's type promises. An unrecognized format passes:
// the run was paid for, so only content that is certainly of another kind is a fault. A picture in another format is still a
// picture, and a video still a video.

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
type PromisedKind = { readonly kind: OutputKind; readonly label: string; readonly extension: string };

function promiseOf({ name, type }: Promised): PromisedKind | undefined {
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
    return contradicts(wanted, written, text) ? `${written} instead of ${wanted.label}` : undefined;
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

/** Whether a text is certainly something else. */
function contradicts({ kind, extension }: PromisedKind, written: WrittenFormat, text: string): boolean {
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
