// Inputs that take a file. The address of one that was uploaded for a row ends with a mark of its content, `#sha256=…`, so that the row
// is known by its picture, wherever that was uploaded. The service gets the address without it.

export const FILE_TYPES = [
  'file',
  'image',
  'imagealpha',
  'mask',
  'video',
  'audio',
  'exr',
  'facemodel',
] as const;

export type Media = 'image' | 'video' | 'audio';

/** What the bytes of a file have to be; undefined if the input takes any, or no file. */
export function mediaOf(type: string): Media | undefined {
  const plain = plainType(type);
  if (plain === 'video' || plain === 'audio') return plain;
  return ['image', 'imagealpha', 'mask'].includes(plain) ? 'image' : undefined;
}

/** If a deployment has no type for an input, its name is that of the node that uses it. */
export const plainType = (type: string): string => type.toLowerCase().replace(/^comfyuideployexternal/, '');

export const isFileType = (type: string): boolean =>
  (FILE_TYPES as readonly string[]).includes(plainType(type));

const SHA256 = String.raw`#sha256=([\da-f]{64})`;
const IN_JSON = new RegExp(String.raw`"(?:https?|upload):[^"\s]*${SHA256}"`, 'g');
const MARKED = new RegExp(String.raw`^((?:https?|upload):\S*)${SHA256}$`);

export const marked = (address: string, sha256: string): string => `${address}#sha256=${sha256}`;

/** Stands for the address of a file until it is uploaded. */
export const beforeUpload = (path: string, sha256: string): string =>
  marked(`upload:${encodeURI(path)}`, sha256);

export const isBeforeUpload = (text: string): boolean => text.startsWith('upload:') && MARKED.test(text);

/** JSON of inputs as it is compared: each file is its content. */
export const comparable = (json: string): string =>
  json.includes('#sha256=') ? json.replaceAll(IN_JSON, '"sha256:$1"') : json;

type Inputs = Readonly<Record<string, unknown>>;

export const withoutMarks = (inputs: Inputs): Inputs =>
  Object.values(inputs).some(isMarked)
    ? Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, withoutMark(value)]))
    : inputs;

export const isMarked = (value: unknown): value is string => typeof value === 'string' && MARKED.test(value);

const withoutMark = (value: unknown): unknown =>
  typeof value === 'string' ? (MARKED.exec(value)?.[1] ?? value) : value;
