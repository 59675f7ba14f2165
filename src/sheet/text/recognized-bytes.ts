// Recognises by its first bytes what is no sheet, and the encoding of text.

import { TextDecoder } from 'node:util';
import type { Correction } from '../../errors/error.ts';

type Foreign = { readonly is: string; readonly hint: string; readonly correction?: Correction };

const begins = (head: Uint8Array, ...bytes: number[]) => bytes.every((byte, at) => head[at] === byte);

/** Finds a zip file, gzip, a pointer of Git LFS or a web page in place of a sheet. */
export function packedIn(head: Uint8Array): Foreign | undefined {
  if (begins(head, 0x50, 0x4b, 3, 4))
    return {
      is: 'is an Excel workbook or a zip file',
      hint: 'give --format xlsx',
      correction: { add: [['--format', 'xlsx']] },
    };
  if (begins(head, 0x1f, 0x8b))
    return { is: 'is compressed with gzip', hint: 'unpack it first, with gunzip' };
  if (Buffer.from(head.subarray(0, 50)).toString('latin1').startsWith('version https://git-lfs'))
    return { is: 'is a pointer of Git LFS, not the sheet', hint: 'get the sheet itself: git lfs pull' };
  if (WEB_PAGE.test(Buffer.from(head.subarray(0, SAMPLE)).toString('latin1')))
    return {
      is: 'is a web page, not a sheet',
      hint: 'download the sheet itself, as .xlsx or .csv; a link that needs a sign-in gives a page',
    };
  return undefined;
}

const WEB_PAGE = /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html|head|script|table|meta|body)\b/i;

/** Whether it is a zip file, compressed, or a web page. */
export const isPacked = (head: Uint8Array): boolean => packedIn(head) !== undefined;

const SAMPLE = 4096;

/** Finds an encoding that is not the declared one. */
export function otherEncodingIn(head: Uint8Array, declared: string): Foreign | undefined {
  const sample = head.subarray(0, SAMPLE);
  const not = `not ${declared.toUpperCase()}`;
  if (isUtf32(sample))
    return { is: `is UTF-32, ${not}`, hint: 'save it as UTF-8, for example: iconv -f UTF-32 -t UTF-8' };
  const label = utf16Of(sample);
  if (label !== undefined && label !== declared) return { is: `is UTF-16, ${not}`, ...encodedIn(label) };
  // The commas and line ends of UTF-16 have zeros, whatever its language.
  const isPlain =
    declared.startsWith('utf-16') && sample.length >= 4 && !sample.includes(0) && isUtf8(sample);
  if (!isPlain) return undefined;
  const hint = 'remove --encoding, or give --encoding utf-8';
  return { ...encodedIn('utf-8'), is: `is ${not}: it looks like UTF-8`, hint };
}

const encodedIn = (label: string): Pick<Foreign, 'hint' | 'correction'> => ({
  hint: `add --encoding ${label}`,
  correction: { add: [['--encoding', label]] },
});

/** Text in UTF-32 has zeros in at least one of each four bytes, at the same place, and western text in three. */
export function isUtf32(sample: Uint8Array): boolean {
  if (begins(sample, 0xff, 0xfe, 0, 0) || begins(sample, 0, 0, 0xfe, 0xff)) return true;
  const length = sample.length - (sample.length % 4);
  const isZero = (from: number): boolean =>
    sample.subarray(0, length).every((byte, at) => at % 4 !== from || byte === 0);
  return length > 0 && ((isZero(3) && isZero(2)) || (isZero(0) && isZero(1)));
}

/** The label of UTF-16 text; undefined for other text. */
export function utf16Of(sample: Uint8Array): string | undefined {
  if (begins(sample, 0xff, 0xfe)) return 'utf-16le';
  if (begins(sample, 0xfe, 0xff)) return 'utf-16be';
  if (!sample.includes(0)) return undefined;
  const zeros = (parity: number) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length;
  // Western text in UTF-16 has a zero in nearly every second byte; other text has them in its commas and line ends.
  const enough = isUtf8(sample) ? sample.length / 4 : 0;
  if (zeros(1) > enough && zeros(0) === 0) return 'utf-16le';
  if (zeros(0) > enough && zeros(1) === 0) return 'utf-16be';
  return undefined;
}

/** The text of the first bytes of a sheet, in UTF-16 or with the letters of ASCII. */
export const headText = (head: Uint8Array): string =>
  new TextDecoder(utf16Of(head.subarray(0, SAMPLE)) ?? 'utf-8').decode(head);

/** Whether these bytes can be the beginning of a text in UTF-8. */
function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}
