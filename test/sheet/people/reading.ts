// Reads a sheet as `run` does, and gives its rows and the guesses about it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { withCopy } from '../../../src/batches/copy-sheet.ts';
import type { CreateParams } from '../../../src/batches/draft-stages.ts';
import { draftOf } from '../../batches/create.ts';
import type { InputType } from '../../../src/service-client/contract/deployment.ts';
import { guessText } from '../../../src/sheet/guesses/guess.ts';
import { readPage, type SheetRow } from '../../../src/sheet/pages.ts';
import type { SheetFormat } from '../../../src/sheet/formats.ts';
import type { SheetOptions } from '../../../src/sheet/sheet-source.ts';
import { ASKED } from '../../batches/create.ts';
import { input } from '../laying.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

export const INPUTS = [
  input('prompt', 'string', { required: true }),
  input('seed', 'seed'),
  input('cfg', 'float'),
  input('image', 'image'),
  input('denoise', 'float', { max: 1 }),
];

type Read = { readonly rows: readonly string[]; readonly guesses: readonly string[] };

type Reading = Pick<CreateParams, 'answers'> & {
  /** undefined if they are not known. */
  readonly inputTypes?: InputType[] | undefined;
  /** The value of --format. */
  readonly format?: SheetFormat;
  /** Gets the sentences of the guesses, without the flags that a command adds. */
  readonly sentences?: string[];
};

/** The rows as JSON, and the guesses; those to confirm begin with a question mark. */
export async function readAt(
  path: string,
  options: Partial<SheetOptions>,
  { answers = { guesses: 'accept' }, sentences, format, ...more }: Reading = {},
): Promise<Read> {
  const inputTypes = 'inputTypes' in more ? more.inputTypes : INPUTS;
  const out = freshFolder();
  const { format: _, ...sheetOptions } = { format: 'csv', ...ASKED.options, ...options };
  const { sheet } = options;
  return withCopy(
    path,
    { out, stdin: Readable.from([]), ...(sheet && { sheet }), ...(format && { format }) },
    async (copy) => {
      const { laidOut, layout } = await draftOf({
        ...ASKED,
        options: sheetOptions,
        deployment: { ...ASKED.deployment, inputTypes },
        copy,
        out,
        answers: { ...ASKED.answers, ...answers },
      });
      sentences?.push(...(laidOut.guesses ?? []).map(({ text }) => text));
      const rows: readonly SheetRow[] = await readPage(layout, 1);
      return {
        rows: rows.map(({ key, gpu, inputs }) =>
          [
            /^[0-9a-f]{16}$/.test(key) ? '' : `${key} `,
            JSON.stringify(inputs),
            gpu === undefined ? '' : ` ${gpu}`,
          ].join(''),
        ),
        guesses: (laidOut.guesses ?? []).map(
          (guess) => `${guess.sure === 'confirm' ? '? ' : ''}${guessText(guess)}`,
        ),
      };
    },
  );
}

export async function read(
  name: string,
  bytes: string | Uint8Array,
  options: Partial<SheetOptions> = {},
  reading: Reading = {},
): Promise<Read> {
  const folder = freshFolder();
  writeFileSync(join(folder, name), bytes);
  return readAt(join(folder, name), options, reading);
}
