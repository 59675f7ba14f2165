// What the number format of a cell says about its value: a date, a time, a percentage, or digits with leading zeros.

import { readXml } from './xml-events.ts';
import { tooLarge, type Zip } from './zip-file.ts';

export type NumberFormat =
  | { readonly is: 'date' | 'time' | 'percent' | 'plain' }
  | { readonly is: 'padded'; readonly digits: number };

const PLAIN: NumberFormat = { is: 'plain' };

/** Excel has at most 65,490 formats, each of at most 255 characters. */
const MOST_FORMATS = 100_000;
const MOST_CODE = 1000;

/** The format of each style index of a workbook. */
export async function numberFormats(file: string, zip: Zip, part: string): Promise<readonly NumberFormat[]> {
  const own = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let isCellFormat = false;
  await readXml(file, await zip.part(part), {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmt') own.set(Number(numFmtId), formatOfCode(formatCode));
      if (name === 'cellXfs') isCellFormat = true;
      if (name === 'xf' && isCellFormat)
        formats.push(builtIn(Number(numFmtId)) ?? own.get(Number(numFmtId)) ?? PLAIN);
      if (Math.max(own.size, formats.length) > MOST_FORMATS)
        throw tooLarge(file, `has more than ${MOST_FORMATS} formats`);
    },
    close: (name) => {
      if (name === 'cellXfs') isCellFormat = false;
    },
  });
  return formats;
}

const within = (id: number, from: number, to: number): boolean => id >= from && id <= to;

/** The formats that a workbook does not spell out. 27 to 36 and 50 to 58 are dates of East Asian languages. */
function builtIn(id: number): NumberFormat | undefined {
  if (within(id, 14, 17) || id === 22 || within(id, 27, 31) || id === 36 || within(id, 50, 58))
    return { is: 'date' };
  if (within(id, 18, 21) || within(id, 32, 35) || within(id, 45, 47)) return { is: 'time' };
  return id === 9 || id === 10 ? { is: 'percent' } : undefined;
}

/** Only the part for positive numbers counts; quoted text, colours and conditions do not. */
function formatOfCode(code: string): NumberFormat {
  // The patterns need the square of the length.
  if (code.length > MOST_CODE) return PLAIN;
  const [positive = ''] = code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';');
  if (/general/i.test(positive)) return PLAIN;
  if (/^0{2,}$/.test(positive)) return { is: 'padded', digits: positive.length };
  if (/[yd]/i.test(positive) || /^[^hs]*m[^hs]*$/i.test(positive)) return { is: 'date' };
  if (/[hs]/i.test(positive)) return { is: 'time' };
  return positive.includes('%') ? { is: 'percent' } : PLAIN;
}
