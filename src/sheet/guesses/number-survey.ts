// Collects how people wrote the numbers of a column: decimal commas, percentages and units.

import { isClock, PERCENT, WITH_UNIT } from '../parse-cell.ts';
import { plainNumber } from '../number-signs.ts';
import { cellText, type SheetRecord } from '../sheet-record.ts';

export type NumberSurvey = {
  /** Cells with a decimal comma; whether one of them may be thousands; whether other cells are no numbers. */
  commas: number;
  isAmbiguous: boolean;
  others: number;
  points: number;
  /** A cell such as `1024px`; '' if cells have different units. */
  unit?: string;
  percent: number;
};

/** Adds the number of a cell to the survey of its column. */
export function takeNumber(
  numbers: Map<string, NumberSurvey>,
  { cells, marks }: SheetRecord,
  column: number,
  { name, nothings }: { readonly name: string; readonly nothings: ReadonlySet<string> },
): void {
  const text = plainNumber(cellText(cells[column]).trim());
  if (text === '' || nothings.has(text)) return;
  const survey = numbers.get(name) ?? {
    commas: 0,
    isAmbiguous: false,
    others: 0,
    points: 0,
    percent: 0,
  };
  numbers.set(name, survey);
  if (marks?.get(column)?.is === 'percent' || PERCENT.test(text)) survey.percent += 1;
  const unit = unitIn(text);
  if (unit !== '') survey.unit = unit === unitIn(survey.unit ?? text) ? (survey.unit ?? text) : '';
  if (/^-?\d+,\d+$/.test(text)) {
    survey.commas += 1;
    survey.isAmbiguous ||= /,\d{3}$/.test(text);
  } else if (/^-?\d*\.\d+$/.test(text)) {
    survey.points += 1;
    survey.isAmbiguous ||= /^-?\d+\.\d{3}$/.test(text);
  } else if (!/^-?\d+$/.test(text) && !PERCENT.test(text)) survey.others += 1;
}

/** The first letter identifies the unit: `5s`, `8 sec`; `0:05` is in seconds. */
const unitIn = (text: string): string =>
  isClock(text) ? 's' : (WITH_UNIT.exec(text)?.[2]?.charAt(0).toLowerCase().replace(/["″”]/, 's') ?? '');
