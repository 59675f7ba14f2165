// Numbers with the signs of other keyboards and languages: `２０`, `−1`, `1 024`, `7‚5`.

const ASCII = /^[!-~]*$/;
const MINUS = /^[\u2010-\u2013\u2212]/;
/** Marks that look like a comma, and the decimal mark of Arabic. */
const COMMA = /[\u201a\u060c]/g;
const ARABIC_POINT = /\u066b/g;
const DIGIT = /\p{Nd}/gu;
/** `1 024`, `1’024.5` */
const GROUPED = /^([-+]?\d{1,3})((?:[ '’]\d{3})+)(?!\d)/;
const NUMBER = /^[-+]?(?:\d[\d.,]*|[.,]\d+)\s?[%\p{L}]*$/u;

/** The number in digits and signs of ASCII, without blanks between thousands; any other text as it is. */
export function plainNumber(text: string): string {
  if (ASCII.test(text)) return text;
  const plain = text
    .normalize('NFKC')
    .replace(MINUS, '-')
    .replaceAll(COMMA, ',')
    .replaceAll(ARABIC_POINT, '.')
    .replaceAll(DIGIT, digitOf)
    .replace(GROUPED, (_, first: string, groups: string) => first + groups.replaceAll(/\D/g, ''));
  return NUMBER.test(plain) ? plain : text;
}

/** Digits of a script follow each other from 0 to 9, and no other digit precedes them. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}

/** How often something is done: `4`, `x4`, `4x`. */
export function countIn(text: string): number | undefined {
  const [, before, behind] = /^(?:[x×]\s?(\d{1,6})|(\d{1,6})(?:\.0+)?(?:\s?[x×])?)$/i.exec(text) ?? [];
  const digits = before ?? behind;
  return digits === undefined ? undefined : Number(digits);
}

/** Normalizes `7,5` and `1,200` by the stated meaning of commas. */
export function withoutCommas(text: string, decimalComma: boolean | undefined): string {
  if (decimalComma === undefined || !text.includes(',')) return text;
  if (decimalComma) return text.replace(/^(-?\d+),(\d+)(?=\s?%?$)/, '$1.$2');
  return IN_THOUSANDS.test(text) ? text.replaceAll(',', '') : text;
}

export const IN_THOUSANDS = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?\s?%?$/;

/** 12.5% is 0.125 to the digit. */
export function fraction(percent: string): string {
  const value = Number(percent.replace(/\s?%$/, ''));
  return Number.isFinite(value) ? String(Number((value / 100).toPrecision(15))) : percent;
}
