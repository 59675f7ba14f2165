// The files in the answer of a vendor: an address, a data URI, or the base64 of a worker. Content inside an
// answer is referred to by its place, `inline:<ref>#<n>`, and read from the answer when the file is stored, so
// that no picture goes through the database.

import type { Readable } from 'node:stream';
import { isWebAddress } from '../../../host/http/web-address.ts';
import type { FileRef, MadeOutput } from '../backend.ts';
import { fileNameIn, resultAt } from './vendor-answers.ts';

/** The address of a file: on the web, or a data URI. */
type AnswerFile = { readonly filename: string; readonly address: string };

/** The beginnings of formats in base64, with their media types. */
const MAGIC: readonly (readonly [begin: RegExp, type: string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
  [/^UklGR.{6}XQVZF/, 'audio/wav'],
  [/^AAAA..Z0eXB/, 'video/mp4'],
  [/^GkXfo/, 'video/webm'],
  [/^T2dnUw/, 'audio/ogg'],
  [/^SUQz|^\/\/[sMI]/, 'audio/mpeg'],
  [/^ZkxhQ/, 'audio/flac'],
  [/^Z2xURg/, 'model/gltf-binary'],
];
/** A shorter text is a word that happens to begin like a file. */
const LEAST_BASE64 = 64;
const isBase64 = (text: string): boolean => !/[^A-Za-z\d+/=\s]/.test(text);

/** A result of any shape: its files, and its texts if it has no file. */
function answerParts(output: unknown): {
  readonly files: readonly AnswerFile[];
  readonly texts: readonly string[];
} {
  const files = new Map([...filesIn(output)].map((file) => [file.address, file]));
  return files.size > 0 ? { files: [...files.values()], texts: [] } : { files: [], texts: textsIn(output) };
}

/** A model of language answers with pieces of one text. */
function textsIn(output: unknown): readonly string[] {
  const leaves = [...leavesOf(output)].filter((leaf) => typeof leaf === 'string');
  if (leaves.length === 0) return [];
  if (Array.isArray(output)) return [leaves.join('')];
  return [leaves.length === 1 ? (leaves[0] ?? '') : JSON.stringify(output)];
}

/** The outputs of the run `ref`, small enough for the database. */
export function madeIn(output: unknown, ref: string): readonly MadeOutput[] {
  const { files, texts } = answerParts(output);
  const refs = files.map(({ filename, address }, index): FileRef => ({
    filename,
    subfolder: '',
    type: 'output',
    asset: isWebAddress(address) ? address : `inline:${ref}#${index}`,
  }));
  return [{ node: '', key: 'output', files: refs, texts }];
}

const INLINE = /^inline:(.+)#(\d+)$/;

/** Opens a file of {@link madeIn}. `outputOf` reads the answer of a run again; undefined if it is deleted. */
export async function answerFile(
  { asset = '' }: FileRef,
  vendor: string,
  outputOf: (ref: string) => Promise<unknown>,
): Promise<Readable | undefined> {
  const [, ref, index] = INLINE.exec(asset) ?? [];
  if (ref === undefined) return resultAt(asset, vendor);
  const { address } = answerParts(await outputOf(ref)).files[Number(index)] ?? {};
  return address === undefined ? undefined : resultAt(address, vendor);
}

const MAX_PARTS = 10_000;
/** An answer may be nested deeper than a function can call itself. */
const MAX_DEPTH = 100;

/** The texts of an answer, and the files that it names with their content, in their order. */
function* leavesOf(value: unknown, state = { left: MAX_PARTS }, depth = 0): Generator<string | AnswerFile> {
  if (state.left-- <= 0 || depth > MAX_DEPTH) return;
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    const named = namedFile(value as Readonly<Record<string, unknown>>);
    if (named !== undefined) yield named;
    else for (const part of Object.values(value)) yield* leavesOf(part, state, depth + 1);
  }
}

function* filesIn(output: unknown): Generator<AnswerFile> {
  for (const leaf of leavesOf(output)) {
    if (typeof leaf !== 'string') yield leaf;
    else {
      const address = addressIn(leaf);
      if (address !== undefined) yield { filename: fileNameIn(address), address };
    }
  }
}

/** `{filename, type, data}` of worker-comfyui, whose data is an address or base64 of any format. */
function namedFile({ filename, type, data }: Readonly<Record<string, unknown>>): AnswerFile | undefined {
  if (typeof filename !== 'string' || typeof data !== 'string') return undefined;
  const bare = type === 'base64' && isBase64(data) ? `data:;base64,${data}` : undefined;
  const address = addressIn(data) ?? bare;
  return address === undefined ? undefined : { filename, address };
}

function addressIn(text: string): string | undefined {
  if (isWebAddress(text) || /^data:[\w.+-]+\/[\w.+-]+[;,]/.test(text)) return text;
  if (text.length < LEAST_BASE64) return undefined;
  const [, type] = MAGIC.find(([begin]) => begin.test(text)) ?? [];
  return type !== undefined && isBase64(text) ? `data:${type};base64,${text}` : undefined;
}
