// Extra result columns 'sent: <input>' with the text that a --set template produced for the row.

import { cellText } from '../sheet/sheet-record.ts';
import { ownColumns, sentColumn } from '../sheet/result-columns.ts';
import { namesInTemplates } from '../sheet/templates.ts';
import type { BatchFile } from '../store/batch-file.ts';

type BatchSheet = Pick<BatchFile, 'sheet'>;

/** The inputs with a text of cells. */
export const templatedInputs = ({ sheet: { columns, inputs, options } }: BatchSheet): readonly string[] =>
  inputs.flatMap(({ input, kind, from }) => {
    if ('column' in from || kind === 'json') return [];
    const text = Object.hasOwn(options.set, input) ? (options.set[input] ?? '') : '';
    return namesInTemplates([text], columns).size > 0 ? [input] : [];
  });

/** The columns before those of results: the sheet's own, then a text of each template. */
export const leadingColumns = (file: BatchSheet): readonly string[] => [
  ...ownColumns(file.sheet.columns),
  ...templatedInputs(file).map(sentColumn),
];

/** The texts of a row, in the order of {@link leadingColumns}. */
export const sentTexts = (
  templated: readonly string[],
  inputs: Readonly<Record<string, unknown>>,
): readonly string[] => templated.map((input) => cellText(inputs[input]));
