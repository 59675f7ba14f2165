// Downloads one file of a run into the batch folder. A small file is held in memory. A large one is streamed to a draft; if the
// transfer breaks, the rest is requested, provided that the host confirms that it is the same file. A file that is not what its name or
// type promises is not stored (R32).

import { createHash, type Hash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import {
  outputCheck,
  type OutputCheck,
  isText,
  kindFault,
  type Promised,
} from '../src/results/output-check.ts';
import type { FileRecord } from '../src/results/row-record.ts';
import type { OutputFile } from '../src/run-service/contract/run.ts';
import type { Arriving, Download } from '../src/run-service/download.ts';
import { FEW_TRIES, FileFault, HostFault, ONE_TRY } from '../src/run-service/download-faults.ts';
import type { Store } from '../src/store/store.ts';

export type FileJob = {
  readonly download: Download;
  readonly store: Store;
  readonly service: string;
  readonly file: OutputFile;
  /** Its path without the extension. */
  readonly stem: string;
  readonly limit: { readonly bytes: number; readonly reason: string };
  /** After an abort nothing more is written. */
  readonly signal: AbortSignal;
};

/** Files up to this size are held in memory. */
const SMALL_BYTES = 1 << 20;
/** A transfer that breaks after fewer bytes is not continued. */
const HEADWAY_BYTES = 1 << 20;

/** Throws a FileFault or a HostFault, the store's errors, and the reason of the signal. */
export async function fetchFile(job: FileJob): Promise<FileRecord> {
  const { download, file, service, signal, stem, store } = job;
  const arriving = await download(file.url, { service, signal });
  const chunks = limited(job, arriving);
  try {
    const { head, isWhole } = await headOf(chunks);
    if (!isWhole) await requireKind(job, head);
    const path = `${stem}.${await extensionOf(head, isWhole, file.filename)}`;
    if (!isWhole) return await fetchLarge(job, { arriving, path, head, chunks });
    const check = outputCheck(promisedBy(file));
    check.add(head);
    await requireDelivered(check, FEW_TRIES);
    signal.throwIfAborted();
    await store.write(path, head, 'cached');
    return recordOf(job, path, head.byteLength, createHash('sha256').update(head));
  } finally {
    await chunks.return(undefined);
  }
}

const promisedBy = ({ filename, type }: OutputFile): Promised => ({ name: filename, type });

/** The rest of a large file of another kind is not downloaded. */
async function requireKind({ file }: FileJob, head: Uint8Array): Promise<void> {
  const other = await kindFault(head, promisedBy(file));
  if (other !== undefined) throw new FileFault(other, FEW_TRIES);
}

async function requireDelivered(check: OutputCheck, tries: number): Promise<void> {
  const fault = await check.fault();
  if (fault !== undefined) throw new FileFault(fault, tries);
}

const recordOf = ({ file }: FileJob, path: string, bytes: number, hash: Hash): FileRecord => ({
  path,
  bytes,
  sha256: hash.digest('hex'),
  name: file.filename,
});

/** The chunks, until an abort or the size limit. */
async function* limited(job: FileJob, { bytes, from, chunks }: Arriving): AsyncGenerator<Uint8Array> {
  const { limit, signal } = job;
  let at = from;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    at += chunk.byteLength;
    if (Math.max(at, bytes ?? 0) > limit.bytes) throw new FileFault(limit.reason, ONE_TRY);
    yield chunk;
  }
}

type Head = { readonly head: Uint8Array; readonly isWhole: boolean };

/** The first bytes of a file, or the whole file if it is small. */
async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<Head> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    taken.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > SMALL_BYTES) return { head: Buffer.concat(taken), isWhole: false };
  }
  const [only] = taken;
  return { head: taken.length === 1 && only ? only : Buffer.concat(taken), isWhole: true };
}

type LargeFile = {
  readonly arriving: Arriving;
  readonly path: string;
  readonly head: Uint8Array;
  readonly chunks: AsyncGenerator<Uint8Array>;
};

async function fetchLarge(job: FileJob, { arriving, path, head, chunks }: LargeFile): Promise<FileRecord> {
  const { signal, store } = job;
  const draft = await store.draft(path);
  const [hash, check] = [createHash('sha256'), outputCheck(promisedBy(job.file))];
  let bytes = 0;
  const take = async (some: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> => {
    for await (const chunk of some) {
      signal.throwIfAborted();
      await draft.write(chunk);
      hash.update(chunk);
      check.add(chunk);
      bytes += chunk.byteLength;
    }
  };
  try {
    await take([head]);
    for (let rest = chunks, isWhole = false; !isWhole;) {
      const from = bytes;
      try {
        await take(rest);
        isWhole = true;
      } catch (error) {
        const mayGoOn = error instanceof HostFault && bytes - from >= HEADWAY_BYTES;
        if (!mayGoOn || arriving.validator === undefined) throw error;
        rest = await restFrom(job, bytes, arriving.validator);
      }
    }
    const { bytes: whole = bytes } = arriving;
    if (bytes !== whole)
      throw new HostFault(hostOf(job), `the transfer ended after ${bytes} of ${whole} bytes`, FEW_TRIES);
    // Another try downloads the whole file again, so it waits longer.
    await requireDelivered(check, ONE_TRY);
    signal.throwIfAborted();
    await draft.commit();
    return recordOf(job, path, bytes, hash);
  } finally {
    await draft.discard();
  }
}

const hostOf = ({ file }: FileJob): string => new URL(file.url).host;

/** Throws a HostFault if the host sends another file, or all of it. */
async function restFrom(job: FileJob, from: number, validator: string): Promise<AsyncGenerator<Uint8Array>> {
  const { download, file, service, signal } = job;
  const rest = await download(file.url, { service, signal, rest: { from, validator } });
  if (rest.validator === validator && rest.from === from) return limited(job, rest);
  // It has to be closed.
  for await (const _ of rest.chunks) break;
  throw new HostFault(hostOf(job), 'the file changed during the download', FEW_TRIES);
}

const setOf = (extensions: string): ReadonlySet<string> => new Set(extensions.split(' '));

/** Formats with a signature in their first bytes. */
const BY_BYTES = setOf(
  'png apng jpg gif webp avif heic jxl jp2 bmp tif psd ktx ico ' +
    'mp4 m4v mov webm mkv avi mpg 3gp ogv mp3 m4a aac wav flac ogg oga opus aif mid ' +
    'glb stl fbx 3mf drc pdf vtt zip gz tar tar.gz 7z xz zst parquet arrow',
);

const TEXTS = setOf('txt md log json jsonl csv tsv yaml yml srt vtt obj mtl gltf bvh');

/** Text formats, and formats without a signature. */
const BY_NAME = new Set([...TEXTS, ...setOf('ply stl exr hdr tga dds npy safetensors splat spz')]);

/** `head` is the beginning of the file, or all of it. */
/**
 * Chooses the extension of an output file. The extension decides which program opens the file, so only formats that display
 * something and execute nothing keep theirs. The first bytes decide; the name counts only for text and formats without a signature.
 */
export async function extensionOf(head: Uint8Array, isWhole: boolean, name: string): Promise<string> {
  const named = name.split('.').at(-1)?.toLowerCase() ?? '';
  // "BMW in the rain" begins like a bitmap.
  if (TEXTS.has(named) && isText(head)) return named;
  const known = await fileTypeFromBuffer(head);
  // An SVG has no signature but XML's, and a browser that opens it directly runs its scripts.
  if (named === 'svg' && (known === undefined || known.ext === 'xml'))
    return isWhole && isPassiveSvg(head) ? 'svg' : 'bin';
  if (known !== undefined) return BY_BYTES.has(known.ext) ? known.ext : 'bin';
  return BY_NAME.has(named) ? named : 'bin';
}

// Decides whether an SVG is safe to open. In the report it is an image and cannot run scripts; opened directly in a browser it
// can. So only listed elements, attributes and addresses are allowed, and anything that this parser does not understand is
// not passive.

/** Without `use`, which can multiply a few elements into more than a browser can draw. */
const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'svg g path rect circle ellipse line polyline polygon text tspan textPath defs title desc metadata marker clipPath ' +
    'mask pattern linearGradient radialGradient stop image style'
  ).split(' '),
);

const PROLOG = /^\uFEFF?\s*(<\?xml\s[^<>?]*\?>)?/;
const ENCODING = /\sencoding\s*=\s*["'](?!utf-8["'])/i;
const COMMENT = /<!--(?:(?!--)[^])*-->/g;
/** Without an internal subset, which could define entities. */
const DOCTYPE = /<!DOCTYPE\s+svg(?:\s+PUBLIC\s+"[^"<>[]*"\s+"[^"<>[]*")?\s*>/;
const TAG = /<(\/?)([A-Za-z]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** Character references and entities could hide a word from this parser. */
const HIDDEN = /&(?!(?:amp|lt|gt|quot|apos);)/;

const SVG = 'http://www.w3.org/2000/svg';
const OF_OTHER_SPACES = /^(xmlns:[\w.-]+|xml:space|xml:lang|xlink:title)$/;
const OWN_PART = /^#[\w.-]+$/;
const OWN_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=\s]*$/;
const LEADS_OUT = /url\s*\((?!\s*['"]?#)|image-set|src\s*\(|expression|javascript|@import|@font-face/i;

export function isPassiveSvg(bytes: Uint8Array): boolean {
  const text = textOf(bytes);
  if (text === undefined || HIDDEN.test(text) || LEADS_OUT.test(text) || text.includes('\\')) return false;
  const [prolog = ''] = PROLOG.exec(text) ?? [];
  if (ENCODING.test(prolog)) return false;
  const markup = text.slice(prolog.length).replaceAll(COMMENT, '').replace(DOCTYPE, '').trim();
  if (!/^<svg[\s>]/.test(markup)) return false;
  const tags = [...markup.matchAll(TAG)];
  return (
    !markup.replaceAll(TAG, '').includes('<') &&
    tags.every(([, , name = '', attributes = '']) => ELEMENTS.has(name) && areHarmless(attributes))
  );
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const areHarmless = (attributes: string): boolean =>
  [...attributes.matchAll(ATTRIBUTE)].every(([, name = '', one, other]) =>
    isHarmless(name, (one ?? other ?? '').trim()),
  );

function isHarmless(name: string, value: string): boolean {
  if (name === 'xmlns') return value === SVG;
  if (name === 'href' || name === 'xlink:href') return OWN_PART.test(value) || OWN_PICTURE.test(value);
  return name.includes(':') ? OF_OTHER_SPACES.test(name) : !/^on/i.test(name);
}
