// Decides whether the bytes of an output are of the kind that its name or the service's type promises. A file that we do not
// understand is what it says it is: only what is certainly something else is a fault, because its run was paid for. A picture
// in another format is still a picture, and so is a video.

import { fileTypeFromBuffer } from 'file-type';

/** What the service says about a file. */
export type Promised = { readonly name: string; readonly type?: string | null | undefined };

type Kind = 'picture' | 'video' | 'audio' | 'document' | 'archive' | 'model' | 'text' | 'binary' | 'unnamed';

const words = (text: string): readonly string[] => text.split(' ');
const mapOf = <T>(entries: readonly (readonly [T, string])[]): ReadonlyMap<string, T> =>
  new Map(entries.flatMap(([value, extensions]) => words(extensions).map((one) => [one, value] as const)));

/** What an extension promises. Others promise nothing. */
const PROMISED = mapOf<Kind>([
  ['picture', 'png apng jpg jpeg jpe jfif gif webp avif heic heif jxl jp2 bmp tif tiff ico svg'],
  ['video', 'mp4 m4v mov webm mkv avi mpg mpeg 3gp ogv wmv flv'],
  ['audio', 'mp3 m4a aac wav flac ogg oga opus aif aiff'],
  ['document', 'pdf'],
  ['archive', 'zip 7z gz tgz tar xz zst'],
  ['model', 'glb'],
  ['text', 'txt md log json jsonl csv tsv yaml yml srt vtt obj mtl gltf bvh'],
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

/** Texts that may well be a page: a workflow may write one. */
const MAY_BE_PAGE: ReadonlySet<string> = new Set(words('txt md log'));

/** What recognised bytes count as. An animation is a picture and a video; many containers hold both video and audio. */
const FOUND = mapOf<readonly Kind[]>([
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

/** Pictures that move: some services send a video instead. */
const MOVING: ReadonlySet<string> = new Set(words('gif webp apng avif'));

/** Signatures of two bytes, with which a text in an old encoding may begin. */
const WEAK: ReadonlySet<string> = new Set(words('bmp ico cur mp3 mp2 mp1 aac'));

const extensionIn = (name: string): string => /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

/** `label`: how a reason names it. */
type Promise_ = { readonly kind: Kind; readonly label: string; readonly extension: string };

function promiseOf({ name, type }: Promised): Promise_ | undefined {
  const extension = extensionIn(name);
  const kind = PROMISED.get(extension);
  if (kind !== undefined && kind !== 'unnamed') return { kind, label: extension.toUpperCase(), extension };
  const byType = kindOfType(type ?? '');
  if (byType !== undefined) return { kind: byType, label: String(type), extension: '' };
  return kind === 'unnamed' || extension === '' ? { kind: 'unnamed', label: 'a file', extension } : undefined;
}

/** The service may give a media type; ComfyUI's `output` and `temp` are none. */
function kindOfType(type: string): Kind | undefined {
  const [, main, sub] = /^(\w+)\/([\w.+-]+)/.exec(type.toLowerCase()) ?? [];
  if (main === 'image') return 'picture';
  if (main === 'video' || main === 'audio') return main;
  if (main === 'text' || sub === 'json') return 'text';
  return sub === 'pdf' ? 'document' : sub === 'zip' ? 'archive' : undefined;
}

/** What the first bytes are instead of what was promised; undefined if that is not certain. */
export async function kindFault(head: Uint8Array, promised: Promised): Promise<string | undefined> {
  const wanted = promiseOf(promised);
  if (wanted === undefined) return undefined;
  const text = isPdf(head) ? undefined : textOf(head);
  if (text !== undefined) {
    const written = writingOf(text);
    return isOther(wanted, written, text) ? `${written} instead of ${wanted.label}` : undefined;
  }
  const known = await fileTypeFromBuffer(head);
  if (known === undefined)
    return FIRM.has(wanted.extension) ? `unknown bytes instead of ${wanted.label}` : undefined;
  const kinds = FOUND.get(known.ext);
  const found = known.ext.toUpperCase();
  if (wanted.kind === 'text')
    return kinds === undefined || WEAK.has(known.ext) ? undefined : `${found} instead of ${wanted.label}`;
  if (wanted.kind === 'binary' || wanted.kind === 'unnamed' || kinds?.includes(wanted.kind)) return undefined;
  if (MOVING.has(wanted.extension) && kinds?.includes('video')) return undefined;
  return `${found} instead of ${wanted.label}`;
}

type Writing = 'HTML' | 'JSON' | 'SVG' | 'XML' | 'text';

/** Whether a text is not what was promised. */
function isOther({ kind, extension }: Promise_, written: Writing, text: string): boolean {
  if (kind === 'unnamed') return written === 'HTML' || isErrorBody(written, text);
  if (kind === 'text') return written === 'HTML' && !MAY_BE_PAGE.has(extension) && extension !== '';
  return kind !== 'picture' || written !== 'SVG';
}

const isPdf = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, 5)).toString('latin1') === '%PDF-';

function writingOf(text: string): Writing {
  const start = text
    .replace(/^(?:\s|<\?xml[^>]*>|<!--[^]*?-->)+/, '')
    .slice(0, 200)
    .toLowerCase();
  if (/^<(?:!doctype\s+html|html|head|body)\b/.test(start)) return 'HTML';
  if (/^<(?:!doctype\s+svg|svg|\w+:svg)\b/.test(start)) return 'SVG';
  if (start.startsWith('<')) return 'XML';
  return /^[{[]/.test(start) ? 'JSON' : 'text';
}

/** What hosts answer instead of a file. JSON may well be an output. */
const isErrorBody = (written: Writing, text: string): boolean =>
  written === 'XML' && /^(?:\s|<\?xml[^>]*>)*<Error\b/i.test(text);

const SAMPLE_BYTES = 4_096;
/** Control characters that no text has. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/** Whether the first bytes are text. */
export const isText = (head: Uint8Array): boolean => textOf(head) !== undefined;

/** The first bytes as text; undefined if they are none. */
function textOf(head: Uint8Array): string | undefined {
  try {
    // A character may be cut at the end of the sample.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head.subarray(0, SAMPLE_BYTES), {
      stream: true,
    });
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
