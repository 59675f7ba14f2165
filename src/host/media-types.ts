// Maps file extensions to media types and kinds: the one list of pictures, videos and audio. The scripts of pages have it, too.

/** The usual extension of a type stands before its other ones. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  jpe: 'image/jpeg',
  jfif: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  heic: 'image/heic',
  heif: 'image/heif',
  jxl: 'image/jxl',
  jp2: 'image/jp2',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  ogv: 'video/ogg',
  avi: 'video/x-msvideo',
  mpg: 'video/mpeg',
  mpeg: 'video/mpeg',
  '3gp': 'video/3gpp',
  wmv: 'video/x-ms-wmv',
  flv: 'video/x-flv',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
  aif: 'audio/aiff',
  aiff: 'audio/aiff',
  glb: 'model/gltf-binary',
  pdf: 'application/pdf',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  jsonl: 'application/jsonl',
};

export type MediaKind = 'picture' | 'video' | 'audio';

const KINDS: readonly (readonly [string, MediaKind])[] = [
  ['image/', 'picture'],
  ['video/', 'video'],
  ['audio/', 'audio'],
];

const setOf = (extensions: string): ReadonlySet<string> => new Set(extensions.split(' '));

/** Pictures that move: some services send a video instead. */
const MOVING = setOf('gif webp apng avif');

/** Formats that not every browser shows. */
const NOT_SHOWN = setOf('tif tiff heic heif jxl jp2 mkv avi mpg mpeg 3gp wmv flv aif aiff');

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

/** undefined for a name without an extension, and for that of another kind. */
export function mediaKindOf(name: string): MediaKind | undefined {
  const type = name.includes('.') ? (TYPES[extensionOf(name)] ?? '') : '';
  return KINDS.find(([begin]) => type.startsWith(begin))?.[1];
}

/** The kind of a file that browsers show or play. */
export const shownKindOf = (name: string): MediaKind | undefined =>
  NOT_SHOWN.has(extensionOf(name)) ? undefined : mediaKindOf(name);

export const mayMove = (name: string): boolean => MOVING.has(extensionOf(name));

/** The extensions of all pictures, videos and audio, as the alternatives of a regular expression. */
export const MEDIA_EXTENSIONS = Object.keys(TYPES)
  .filter((extension) => mediaKindOf(`.${extension}`) !== undefined)
  .join('|');

/** The usual extension of files of this type. */
export const extensionFor = (type: string): string | undefined =>
  Object.entries(TYPES).find(([, listed]) => listed.split(';', 1)[0] === type)?.[0];

/** A page that a run made is never served as HTML, because it could act in the name of its host. */
export function mediaTypeOf(name: string): string {
  const extension = extensionOf(name);
  const isPage = extension === 'html' && name.includes('/');
  return (isPage ? undefined : TYPES[extension]) ?? 'application/octet-stream';
}
