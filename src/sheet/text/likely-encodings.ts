// Ranks the encodings that a text may have which is no UTF-8. A reading counts if its words look like those of a language. Among
// several such readings, the statistics of chardet decide; if they are close, only the owner of the text knows.

import { analyse } from 'chardet';
import { TextDecoder } from 'node:util';
import type { SheetSource } from '../sheet-source.ts';
import { shortened } from '../../errors/outside-text.ts';
import { FITS, hasPlainWords, type Fit } from './word-shapes.ts';

export type Reading = { readonly label: string; readonly text: string };

/** The most likely first. `isSure`: no other reading is nearly as likely. */
export type RankedReadings = { readonly readings: readonly Reading[]; readonly isSure: boolean };

type Encoding = {
  readonly label: string;
  /** The names that chardet gives it. */
  readonly names: readonly string[];
  readonly fit: Fit;
  /** Counts if no encoding fits: names of several languages stand in one sheet. */
  readonly loose?: Fit;
  /** Whether a pair of bytes stands for one of its usual characters. */
  readonly isUsual?: (lead: number, trail: number) => boolean;
};

/** The first counts of two that read the bytes alike. */
const ENCODINGS: readonly Encoding[] = [
  { label: 'windows-1252', names: ['windows-1252', 'ISO-8859-1'], fit: FITS.western, loose: FITS.anyWestern },
  { label: 'windows-1250', names: ['windows-1250', 'ISO-8859-2'], fit: FITS.central, loose: FITS.anyCentral },
  { label: 'windows-1254', names: ['windows-1254', 'ISO-8859-9'], fit: FITS.turkish },
  { label: 'windows-1251', names: ['windows-1251'], fit: FITS.cyrillic },
  { label: 'koi8-r', names: ['KOI8-R'], fit: FITS.cyrillic },
  { label: 'koi8-u', names: ['KOI8-R'], fit: FITS.cyrillic },
  { label: 'windows-1253', names: ['windows-1253', 'ISO-8859-7'], fit: FITS.greek },
  { label: 'windows-1255', names: ['windows-1255', 'ISO-8859-8'], fit: FITS.hebrew },
  { label: 'windows-1256', names: ['windows-1256', 'ISO-8859-6'], fit: FITS.arabic },
  {
    label: 'gbk',
    names: ['GB18030'],
    fit: FITS.chinese,
    isUsual: (lead, trail) => lead >= 0xa1 && lead <= 0xf7 && trail >= 0xa1,
  },
  { label: 'big5', names: ['Big5'], fit: FITS.chinese, isUsual: (lead) => lead >= 0xa1 && lead <= 0xc6 },
  { label: 'euc-kr', names: ['EUC-KR'], fit: FITS.korean },
  { label: 'shift_jis', names: ['Shift_JIS'], fit: FITS.japanese },
];

const WESTERN = 'windows-1252';
const ENOUGH = 0.9;

/** The lead, in chardet's confidence of at most 100, over each other reading. Most sheets of such bytes are western. */
const leadOf = (label: string): number => (label === WESTERN ? 5 : 15);

export function rankedReadings(sample: Uint8Array): RankedReadings {
  const strict = readingsOf(sample, ({ fit }) => fit);
  const likely = strict.length > 0 ? strict : readingsOf(sample, ({ loose }) => loose);
  const plain = likely.find(({ label, text }) => label === WESTERN && hasPlainWords(text));
  if (plain !== undefined) return { readings: [plain], isSure: true };
  const matches = analyse(sample);
  const confidenceOf = ({ names }: Encoding): number =>
    Math.max(0, ...matches.filter(({ name }) => names.includes(name)).map(({ confidence }) => confidence));
  const ranked = likely
    .map((reading) => ({ reading, confidence: confidenceOf(reading.encoding) }))
    .toSorted((a, b) => b.confidence - a.confidence);
  const [first, second] = ranked;
  const isSure =
    first !== undefined &&
    (second === undefined || first.confidence >= second.confidence + leadOf(first.reading.label));
  return { readings: ranked.map(({ reading }) => reading), isSure };
}

function readingsOf(sample: Uint8Array, fitOf: (encoding: Encoding) => Fit | undefined) {
  const texts = new Set<string>();
  return ENCODINGS.flatMap((encoding) => {
    const fit = fitOf(encoding);
    const text = fit && decodedAs(encoding.label, sample);
    if (text === undefined || texts.has(text) || fit === undefined || fit(text) < ENOUGH) return [];
    if (!isUsual(encoding, sample)) return [];
    texts.add(text);
    return [{ label: encoding.label, text, encoding }];
  });
}

/** Undefined if bytes stand for no character, for a control or for one of private use. The last character of a long sample may be cut. */
function decodedAs(label: string, bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: bytes.length >= MOST });
    return /[\u0080-\u009f\ue000-\uf8ff]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function isUsual({ isUsual: isPairUsual }: Encoding, bytes: Uint8Array): boolean {
  if (isPairUsual === undefined) return true;
  let [pairs, usual] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0;
    if (lead <= ASCII) continue;
    at += 1;
    pairs += 1;
    if (isPairUsual(lead, bytes[at] ?? 0)) usual += 1;
  }
  return usual >= pairs * ENOUGH;
}

const ASCII = 0x7f;
const LF = 0x0a;
const MOST = 1 << 16;

/** Lines with bytes beyond ASCII, some of which are not UTF-8. */
export type ForeignLines = {
  /** Up to 64 KiB of them. */
  readonly sample: Uint8Array;
  readonly utf8: number;
  readonly foreign: number;
  /** The number of the first line that is not UTF-8. */
  readonly firstForeign: number;
};

export async function foreignLines(source: SheetSource): Promise<ForeignLines> {
  const lines: Uint8Array[] = [];
  let [number, size, utf8, foreign, firstForeign] = [0, 0, 0, 0, 0];
  for await (const line of byteLines(source)) {
    number += 1;
    if (!line.some((byte) => byte > ASCII)) continue;
    if (isUtf8(line)) utf8 += 1;
    else foreign += 1;
    if (foreign === 1) firstForeign ||= number;
    lines.push(line.subarray(0, MOST - size));
    size += lines.at(-1)?.length ?? 0;
    if (size === MOST && foreign > 0) break;
  }
  return { sample: Buffer.concat(lines), utf8, foreign, firstForeign };
}

/** The first 64 KiB of each line. No encoding of sheets has the byte of a line feed in another character, except for UTF-16. */
async function* byteLines(source: SheetSource): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  let length = 0;
  const take = (bytes: Uint8Array): void => {
    if (length < MOST) begun.push(bytes.subarray(0, MOST - length));
    length += bytes.length;
  };
  for await (const part of source.open()) {
    const chunk = part as Uint8Array;
    for (let from = 0, end = 0; from < chunk.length; from = end) {
      const feed = chunk.indexOf(LF, from);
      end = feed < 0 ? chunk.length : feed + 1;
      take(chunk.subarray(from, end));
      if (feed < 0) break;
      yield Buffer.concat(begun);
      [begun, length] = [[], 0];
    }
  }
  if (length > 0) yield Buffer.concat(begun);
}

function isUtf8(line: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(line, { stream: line.length === MOST });
    return true;
  } catch {
    return false;
  }
}

const MAX_READINGS = 3;
const MAX_CELL = 40;

/** `"红色的狐狸": --encoding gbk; …`: the first cell in which readings differ, as each of them has it. */
export function readingsText(readings: readonly Reading[]): string {
  const shown = readings
    .slice(0, MAX_READINGS)
    .map(({ label, text }) => ({ label, lines: text.split('\n') }));
  const at =
    shown[0]?.lines.findIndex((line, index) =>
      shown.every((reading, nth) => nth === 0 || reading.lines[index] !== line),
    ) ?? -1;
  const texts = shown.map(
    ({ label, lines }) =>
      `if it reads ${JSON.stringify(shortened(cellIn(lines[Math.max(0, at)] ?? ''), MAX_CELL))}: --encoding ${label}`,
  );
  return texts.join('; ');
}

/** The first cell of a line that is not plain. */
const cellIn = (line: string): string =>
  line
    .split(/[,;\t|"]/)
    .find((cell) => /[\u0080-\uffff]/.test(cell))
    ?.trim() ?? line.trim();
