// Inputs that take a file. The address of a file that was uploaded for a row ends with `#sha256=…`, so that equal content makes
// equal rows, wherever it was uploaded. The service gets the address without this mark.

/** The largest file that the service takes. */
export const MAX_BYTES = 250 * 1024 * 1024;

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

/** The types whose value is a list of addresses in text form. */
export const FILE_LIST_TYPES = ['imagebatch'] as const;

export type Media = 'image' | 'video' | 'audio';

/** The media that the input requires; undefined if it takes any file, or none. */
export function mediaOf(type: string): Media | undefined {
  const plain = plainType(type);
  if (plain === 'video' || plain === 'audio') return plain;
  return ['image', 'imagealpha', 'mask', 'imagebatch'].includes(plain) ? 'image' : undefined;
}

/** An input without a type in its deployment is named after the node that uses it. */
export const plainType = (type: string): string => type.toLowerCase().replace(/^comfyuideployexternal/, '');

export const isFileType = (type: string): boolean =>
  (FILE_TYPES as readonly string[]).includes(plainType(type));

const SHA256 = String.raw`#sha256=([\da-f]{64})`;
/** Quotes inside the text of a list are escaped with a backslash. */
const IN_JSON = new RegExp(String.raw`(\\?")(?:https?|upload):(?:(?!upload:)[^"\s])*${SHA256}\1`, 'g');
const WAITING = new RegExp(String.raw`(\\?")upload:[^"\s]*${SHA256}\1`);
const MARK = new RegExp(String.raw`upload:[^"\s]*?${SHA256}`, 'g');
const IN_LIST = new RegExp(String.raw`"((?:https?|upload):[^"\s]*)#sha256=[\da-f]{64}"`, 'g');
const MARKED = new RegExp(String.raw`^((?:https?|upload):\S*)${SHA256}$`);

export const marked = (address: string, sha256: string): string => `${address}#sha256=${sha256}`;

/** Stands for the address of a file until it is uploaded. */
export const beforeUpload = (path: string, sha256: string): string =>
  marked(`upload:${encodeURI(path)}`, sha256);

export const isBeforeUpload = (text: string): boolean => text.startsWith('upload:') && MARKED.test(text);

/**
 * JSON of rows in which each file that `addressOf` knows by its content has that address: a value with its mark, a part of a longer
 * text, such as that of a template, without.
 */
export function withAddresses(json: string, addressOf: (sha256: string) => string | undefined): string {
  if (!json.includes('#sha256=')) return json;
  return json
    .replaceAll(IN_JSON, (mark, quote: string, sha256: string) => {
      const address = addressOf(sha256);
      return address === undefined ? mark : `${quote}${marked(address, sha256)}${quote}`;
    })
    .replaceAll(MARK, (mark, sha256: string) => addressOf(sha256) ?? mark);
}

/** Whether a value in the JSON still waits for its address. */
export const hasMarks = (json: string): boolean => WAITING.test(json);

/** JSON of inputs in the form for comparisons: the content hash replaces each file. */
export const comparable = (json: string): string =>
  json.includes('#sha256=') ? json.replaceAll(IN_JSON, '$1sha256:$2$1') : json;

type RunInputs = Readonly<Record<string, unknown>>;

export const withoutMarks = (inputs: RunInputs): RunInputs =>
  Object.values(inputs).some((value) => markedIn(value).length > 0)
    ? Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, withoutMark(value)]))
    : inputs;

/** The addresses of files in an input's value that were uploaded, or will be. */
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
