// Joins a row of a table whose text is broken over lines without quotes: a line that ends within the text, and the next ones, which
// complete it to the width of the header.

import type { CsvRecord } from './csv-parser.ts';
import { joinedLine } from './list-texts.ts';

export type CompletedRecord = CsvRecord & {
  /** The lines of a broken row. */
  readonly pieces?: readonly CsvRecord[];
};

type BrokenAt = {
  /** Number of columns, and the place of the one whose text may be broken. */
  readonly width: number;
  readonly at: number;
  /** Whether a line is left out. */
  readonly isLeftOut: (line: number) => boolean;
};

/** A line that could be a row, or the beginning of one, goes on a text only if it begins like the rest of a sentence. */
const GOES_ON = /^(?:\s+\S|\p{Ll})/u;

/** No text is broken over more lines. */
const MAX_PIECES = 100;

/** `records`: those below the header. */
export async function* completedRows(
  records: AsyncIterable<CsvRecord>,
  { width, at, isLeftOut }: BrokenAt,
): AsyncGenerator<CompletedRecord> {
  let pieces: readonly CsvRecord[] = [];
  let total = 0;
  const isLine = ({ fault, raw, isEnclosed, line }: CsvRecord): boolean =>
    (fault ?? raw ?? isEnclosed) === undefined && !isLeftOut(line);
  const isNext = (record: CsvRecord): boolean => {
    const { fields, line } = record;
    const isWithin = at > 0 && at < width - 1 && fields.length < width;
    return (
      line === (pieces.at(-1)?.line ?? 0) + 1 &&
      isLine(record) &&
      pieces.length < MAX_PIECES &&
      total + fields.length - 1 <= width &&
      (isWithin || GOES_ON.test(fields[0] ?? ''))
    );
  };
  const completed = (): readonly CompletedRecord[] => {
    const joined = pieces.length > 1 && total === width ? [rowOf(pieces)] : pieces;
    pieces = [];
    return joined;
  };
  for await (const record of records) {
    const isFurther = pieces.length > 0 && isNext(record);
    if (!isFurther) yield* completed();
    if (!isFurther && !(width > 1 && record.fields.length === at + 1 && isLine(record))) yield record;
    else {
      pieces = [...pieces, record];
      total = (isFurther ? total - 1 : 0) + record.fields.length;
      if (isFurther && total === width && at < width - 1) yield* completed();
    }
  }
  yield* completed();
}

function rowOf(pieces: readonly CsvRecord[]): CompletedRecord {
  const [first = { line: 0, fields: [] }, ...further] = pieces;
  const fields = further.reduce(
    (above, { fields: [start = '', ...cells] }) => [
      ...above.slice(0, -1),
      joinedLine(above.at(-1) ?? '', start),
      ...cells,
    ],
    first.fields,
  );
  return { ...first, fields, pieces };
}
