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

/** The names of types whose value is a list of addresses, as a text. */
export const FILE_LIST_TYPES = ['imagebatch'] as const;

export type Media = 'image' | 'video' | 'audio';

/** What the bytes of a file have to be; undefined if the input takes any, or no file. */
export function mediaOf(type: string): Media | undefined {
  const plain = plainType(type);
  if (plain === 'video' || plain === 'audio') return plain;
  return ['image', 'imagealpha', 'mask', 'imagebatch'].includes(plain) ? 'image' : undefined;
}

/** If a deployment has no type for an input, its name is that of the node that uses it. */
export const plainType = (type: string): string => type.toLowerCase().replace(/^comfyuideployexternal/, '');

export const isFileType = (type: string): boolean =>
  (FILE_TYPES as readonly string[]).includes(plainType(type));

const SHA256 = String.raw`#sha256=([\da-f]{64})`;
/** In the text of a list, the quotes have a backslash. */
const IN_JSON = new RegExp(String.raw`(\\?")(?:https?|upload):[^"\s]*${SHA256}\1`, 'g');
const IN_LIST = new RegExp(String.raw`"((?:https?|upload):[^"\s]*)#sha256=[\da-f]{64}"`, 'g');
const MARKED = new RegExp(String.raw`^((?:https?|upload):\S*)${SHA256}$`);

export const marked = (address: string, sha256: string): string => `${address}#sha256=${sha256}`;

/** Stands for the address of a file until it is uploaded. */
export const beforeUpload = (path: string, sha256: string): string =>
  marked(`upload:${encodeURI(path)}`, sha256);

export const isBeforeUpload = (text: string): boolean => text.startsWith('upload:') && MARKED.test(text);

/** In the text of a list, the quotes have a backslash. */
const MARKS = new RegExp(String.raw`(\\?")upload:[^"\s]*${SHA256}\1`, 'g');

/** JSON of rows with an address in place of each {@link beforeUpload}; a mark of another content stays. */
export const withAddresses = (json: string, addressOf: (sha256: string) => string | undefined): string =>
  json.includes('#sha256=')
    ? json.replaceAll(MARKS, (mark, quote: string, sha256: string) => {
        const address = addressOf(sha256);
        return address === undefined ? mark : `${quote}${marked(address, sha256)}${quote}`;
      })
    : json;

/** JSON of inputs as it is compared: each file is its content. */
export const comparable = (json: string): string =>
  json.includes('#sha256=') ? json.replaceAll(IN_JSON, '$1sha256:$2$1') : json;

type Inputs = Readonly<Record<string, unknown>>;

export const withoutMarks = (inputs: Inputs): Inputs =>
  Object.values(inputs).some((value) => markedIn(value).length > 0)
    ? Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, withoutMark(value)]))
    : inputs;

/** The addresses of files that were uploaded, or will be, in the value of an input. */
export function markedIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(markedIn);
  if (typeof value !== 'string' || !value.includes('#sha256=')) return [];
  if (isList(value)) return [...value.matchAll(IN_LIST)].map(([, address = '']) => address);
  const [, address] = MARKED.exec(value) ?? [];
  return address === undefined ? [] : [address];
}

function withoutMark(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMark);
  if (typeof value !== 'string' || !value.includes('#sha256=')) return value;
  return isList(value) ? value.replaceAll(IN_LIST, '"$1"') : (MARKED.exec(value)?.[1] ?? value);
}

const isList = (text: string): boolean => text.startsWith('["');
