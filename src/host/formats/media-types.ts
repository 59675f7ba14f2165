// Maps file extensions to media types and kinds: the one list of pictures, videos and audio. The scripts of pages have it, too.

/** Media types with their extensions, the usual one first. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/apng': 'apng',
  'image/jpeg': 'jpg jpeg jpe jfif',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'image/bmp': 'bmp',
  'image/x-icon': 'ico',
  'image/tiff': 'tif tiff',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/jxl': 'jxl',
  'image/jp2': 'jp2',
  'video/mp4': 'mp4 m4v',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'video/x-matroska': 'mkv',
  'video/ogg': 'ogv',
  'video/x-msvideo': 'avi',
  'video/mpeg': 'mpg mpeg',
  'video/3gpp': '3gp',
  'video/x-ms-wmv': 'wmv',
  'video/x-flv': 'flv',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg oga opus',
  'audio/aiff': 'aif aiff',
  'model/gltf-binary': 'glb',
  'application/pdf': 'pdf',
  'text/plain; charset=utf-8': 'txt',
  'text/html; charset=utf-8': 'html',
  'text/javascript; charset=utf-8': 'js',
  'text/csv; charset=utf-8': 'csv',
  'application/json': 'json',
  'application/jsonl': 'jsonl',
};

const TYPES = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension) => [extension, type] as const),
  ),
);

export type MediaKind = 'picture' | 'video' | 'audio';

const KINDS = new Map<string, MediaKind>([
  ['image', 'picture'],
  ['video', 'video'],
  ['audio', 'audio'],
]);

const setOf = (extensions: string): ReadonlySet<string> => new Set(extensions.split(' '));

/** Pictures that move: some services send a video instead. */
const MOVING = setOf('gif webp apng avif');

/** Formats that not every browser shows. */
const NOT_SHOWN = setOf('tif tiff heic heif jxl jp2 mkv avi mpg mpeg 3gp wmv flv aif aiff');

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

/** undefined for a name without an extension, and for that of another kind. */
export function mediaKindOf(name: string): MediaKind | undefined {
  const type = name.includes('.') ? (TYPES.get(extensionOf(name)) ?? '') : '';
  return KINDS.get(type.split('/', 1)[0] ?? '');
}

/** The kind of a file that browsers show or play. */
export const shownKindOf = (name: string): MediaKind | undefined =>
  NOT_SHOWN.has(extensionOf(name)) ? undefined : mediaKindOf(name);

export const mayMove = (name: string): boolean => MOVING.has(extensionOf(name));

/** The extensions of all pictures, videos and audio, as the alternatives of a regular expression. */
export const MEDIA_EXTENSIONS = [...TYPES.keys()]
  .filter((extension) => mediaKindOf(`.${extension}`) !== undefined)
  .join('|');

/** The usual extension of files of this type. */
export const extensionFor = (type: string): string | undefined =>
  (EXTENSIONS[type] ?? EXTENSIONS[`${type}; charset=utf-8`])?.split(' ', 1)[0];

/** A page that a run made is never served as HTML, because it could act in the name of its host. */
export function mediaTypeOf(name: string): string {
  const extension = extensionOf(name);
  const isPage = extension === 'html' && name.includes('/');
  return (isPage ? undefined : TYPES.get(extension)) ?? 'application/octet-stream';
}
