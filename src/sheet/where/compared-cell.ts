// Compares a cell with the number or date of a condition. Numbers are read as for inputs, also with a
// currency and thousands separators. An unreadable number is refused, because a row must not be left out by
// mistake.

import { problem, RunsheetError, type Correction } from '../../errors/error.ts';
import { NOTHING_WORDS, isErrorWord, MAY_BE_THOUSANDS } from '../parse-cell.ts';
import { shortened } from '../sheet-record.ts';

/** A cell that may meet the condition or not (E550). */
export class UnclearCell extends RunsheetError {
  readonly column: string;

  constructor(column: string, what: string, hint: string, correction?: Correction) {
    const { message, exit } = problem('E550', { what: `--where: ${what}` });
    super('E550', message, { exit, hint, correction });
    this.column = column;
  }
}

/** The right side of a comparison: a text, a number or a date. */
export type ComparedValue =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'number'; readonly text: string; readonly number: Numeric }
  | { readonly is: 'date'; readonly text: string };

/** `plain`: digits with a decimal point, and `isPercent` if hundredths are meant. */
type Numeric = { readonly plain: string; readonly isPercent: boolean };

/** An integer that a double holds. */
const SHORT = /^-?\d{1,15}$/;
const PLAIN = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$/;
const OTHER_DATE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/;

/** `isQuoted`: a text, unless it is a date. */
export function valueOf(text: string, isQuoted: boolean): ComparedValue {
  if (DATE.test(text)) return { is: 'date', text };
  const number = isQuoted ? undefined : PLAIN.test(text) ? numeric(text) : numberIn(text, undefined);
  return typeof number === 'object' ? { is: 'number', text, number } : { is: 'text', text };
}

/** A date such as `11/21/2026`, whose order is ambiguous. */
export const isOtherDate = (text: string): boolean => OTHER_DATE.test(text) && !DATE.test(text);

export type ComparedCell = {
  readonly column: string;
  readonly text: string;
  /** Whether the order counts, and not only whether both are equal. */
  readonly isOrdered: boolean;
  readonly decimalComma: boolean | undefined;
};

/** Below, at or above 0; NaN for a number and something else, which are neither equal nor in an order. Throws {@link UnclearCell}. */
export function orderOf(cell: ComparedCell, value: ComparedValue): number {
  const { text } = cell;
  if (text === value.text) return 0;
  if (value.is === 'text') return text < value.text ? -1 : 1;
  // The fast path for nearly all cells.
  if (value.is === 'number' && !value.number.isPercent && SHORT.test(text) && SHORT.test(value.number.plain))
    return Number(text) - Number(value.number.plain);
  const own = text.trim();
  if (own === '' || NOTHING_WORDS.has(own.toLowerCase())) return Number.NaN;
  if (isErrorWord(own)) throw unclear(cell, 'is an error of a formula', 'correct the formula');
  return value.is === 'date' ? orderOfDates(cell, own, value.text) : orderOfNumbers(cell, own, value.number);
}

function orderOfDates(cell: ComparedCell, own: string, date: string): number {
  if (DATE.test(own)) {
    // A day without a time is the whole day.
    const [ownDate, wantedDate] = [own, date].map((text) => text.replace(' ', 'T').slice(0, date.length)) as [
      string,
      string,
    ];
    return ownDate === wantedDate ? 0 : ownDate < wantedDate ? -1 : 1;
  }
  if (isOtherDate(own) || (cell.isOrdered && /\d/.test(own)))
    throw unclear(cell, 'is no date such as 2026-11-21', 'write the dates of the column as 2026-11-21');
  return Number.NaN;
}

function orderOfNumbers(cell: ComparedCell, own: string, number: Numeric): number {
  const cellNumber = numberIn(own, cell.decimalComma);
  if (cellNumber === 'unclear') {
    const hint =
      'if commas separate thousands: --no-decimal-comma; if they are decimal commas: --decimal-comma';
    throw unclear(cell, 'is 1000 times more in some countries', hint, { add: [['--no-decimal-comma']] });
  }
  if (cellNumber === undefined) {
    if (!cell.isOrdered || !/\d/.test(own)) return Number.NaN;
    const hint = 'correct the cell; or leave such rows out before: --where "column != \'text\' and …"';
    throw unclear(cell, 'is no number', hint);
  }
  if (cellNumber.isPercent && !number.isPercent && Math.abs(Number(number.plain)) > 1) {
    const hint = `write it as a percentage too: ${number.plain}%`;
    throw unclear(cell, `is compared with ${number.plain}, which is ${Number(number.plain) * 100} %`, hint);
  }
  // Seeds may have 64 bits.
  if ([cellNumber, number].every(({ plain, isPercent }) => !isPercent && /^-?\d+$/.test(plain))) {
    const [ownInteger, wantedInteger] = [BigInt(cellNumber.plain), BigInt(number.plain)];
    return ownInteger < wantedInteger ? -1 : Number(ownInteger > wantedInteger);
  }
  return fractionOf(cellNumber) - fractionOf(number);
}

const fractionOf = ({ plain, isPercent }: Numeric): number =>
  isPercent ? Number((Number(plain) / 100).toPrecision(15)) : Number(plain);

function unclear({ column, text }: ComparedCell, what: string, hint: string, correction?: Correction) {
  const shown = JSON.stringify(shortened(text));
  return new UnclearCell(column, `${shown} in column "${column}" ${what}`, hint, correction);
}

const CURRENCIES: ReadonlySet<string> = new Set([
  ...Intl.supportedValuesOf('currency'),
  ...'kr kr. Kč zł Ft lei Rs Rs. Fr.'.split(' '),
]);
const MARKED =
  /^([-+−]?)\s*([A-Z]{0,3}\p{Sc}|\p{L}{2,3}\.?)?\s*([-+−]?)(\d[\d.,'’\s]*|\.\d+)(\p{Sc}|\p{L}{2,3}\.?|%)?$/u;
/** Longer texts are no numbers. */
const LONGEST = 60;

/** The number in a cell, which may have a currency, a percent sign and separators; undefined for other texts. */
function numberIn(text: string, decimalComma: boolean | undefined): Numeric | 'unclear' | undefined {
  const own = text.trim();
  if (own.length > LONGEST) return undefined;
  if (PLAIN.test(own) && (decimalComma === false || !/\d\.\d/.test(own))) return numeric(own);
  const [, outer = '', before = '', inner = '', digits = '', after = ''] = MARKED.exec(own) ?? [];
  if (digits === '' || (outer !== '' && inner !== '')) return PLAIN.test(own) ? numeric(own) : undefined;
  const marks = [before, after].filter((mark) => mark !== '' && mark !== '%');
  if (!marks.every((mark) => CURRENCIES.has(mark) || /\p{Sc}$/u.test(mark))) return undefined;
  const plain = withPoint(digits.trim(), decimalComma, marks.length > 0);
  if (plain === undefined || plain === 'unclear') return plain;
  const sign = /^[-−]/.test(outer + inner) ? '-' : '';
  return { plain: sign + plain, isPercent: after === '%' };
}

const numeric = (plain: string): Numeric => ({ plain, isPercent: false });

/** Removes thousands separators and uses a decimal point. An amount of money has two decimals. */
function withPoint(digits: string, decimalComma: boolean | undefined, isMoney: boolean) {
  const own = /^\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?$/.test(digits)
    ? digits.replaceAll(/[\s'’]/g, '')
    : digits;
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(own)) return own.replaceAll(',', '');
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(own)) return own.replaceAll('.', '').replace(',', '.');
  const isGrouped = /^[1-9]\d{0,2}(?:,\d{3})+$/.test(own);
  if (isGrouped && (decimalComma === false || (decimalComma === undefined && isMoney)))
    return own.replaceAll(',', '');
  if (/^\d+,\d+$/.test(own))
    return decimalComma === true || (decimalComma === undefined && isMoney)
      ? own.replace(',', '.')
      : 'unclear';
  if (isGrouped) return 'unclear';
  if (/^[1-9]\d{0,2}(?:\.\d{3})+$/.test(own)) {
    if (decimalComma === true) return own.replaceAll('.', '');
    const isClear = decimalComma === false || !(isMoney || MAY_BE_THOUSANDS.test(own));
    if (!isClear) return 'unclear';
  }
  return PLAIN.test(own) ? own : undefined;
}
