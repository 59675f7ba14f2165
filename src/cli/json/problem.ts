// An error as JSON. A sheet that was refused has several problems.

import { z } from 'zod';
import { EXIT, errorMessage, RunsheetError } from '../../errors/error.ts';
import { SheetRefused } from '../../sheet/sheet-refused.ts';
import { count, shaped, type ShapedFields } from './shape.ts';

const error = {
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable().describe('what helps, with the command'),
  exit_code: count,
  place: z
    .object({
      file: z.string(),
      line: count.nullable(),
      column: count.nullable().describe('counts fields; in JSON characters'),
      row: count.nullable(),
      column_name: z.string().nullable(),
      excerpt: z.string().nullable(),
    })
    .nullable()
    .describe('where in a sheet'),
};

export const problemSchema = z.object({
  error: z.object({
    ...error,
    problems: z.array(z.object(error)).describe('the first problems of a refused sheet'),
    total: count.describe('how many problems a refused sheet has; otherwise 1'),
    errors_file: z.string().nullable().describe('lists every problem of a refused sheet'),
  }),
});

export function problemJson(thrown: unknown): z.infer<typeof problemSchema> {
  const document =
    thrown instanceof SheetRefused
      ? { problems: thrown.problems.map(oneOf), total: thrown.total, errors_file: thrown.errorsFile }
      : { problems: [], total: 1 };
  return shaped(problemSchema, { error: { ...oneOf(thrown), ...document } });
}

function oneOf(thrown: unknown): ShapedFields<z.infer<z.ZodObject<typeof error>>> {
  if (!(thrown instanceof RunsheetError))
    return { code: 'E000', message: errorMessage(thrown), exit_code: EXIT.unexpected };
  const { code, message, hint, exit, place } = thrown;
  return {
    code,
    message,
    hint,
    exit_code: exit,
    place: place && { ...place, column_name: place.columnName },
  };
}
