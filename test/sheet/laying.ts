// The ground for tests of sheets: a sheet from a text, laid out into a real folder that is removed when the test ends.

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type SheetPlace, RunsheetError } from '../../src/errors/error.ts';
import type { InputType } from '../../src/service-client/contract/deployment.ts';
import type { OrderOptions } from '../../src/sheet/sending-order.ts';
import type { SheetOptions } from '../../src/sheet/sheet-source.ts';
import { readPage, type SheetRow } from '../../src/sheet/pages.ts';
import { SheetRefused } from '../../src/sheet/sheet-refused.ts';
import type { ErrorsPlace } from '../../src/sheet/validation-errors.ts';
import { type LaidOut, layOut } from '../../src/sheet/sheet.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

export const PLAIN: SheetOptions = { format: 'csv', map: {}, set: {}, drop: [], types: {} };

export type Sheet = {
  readonly text: string | Uint8Array;
  readonly options?: Partial<SheetOptions>;
  readonly inputTypes?: readonly InputType[];
  readonly order?: OrderOptions;
  /** Bytes of a chunk of the stream. */
  readonly chunk?: number;
};

export const freshStore = (): Store => folderStore(freshFolder());

/** The list of what is wrong lies beside the pages here. */
export const errorsIn = (store: Store): ErrorsPlace => ({ store, file: ERRORS_FILE });

export const ERRORS_FILE = 'sheet-errors.csv';

export function opened(text: string | Uint8Array, chunk = 1 << 16): () => Readable {
  const bytes = Buffer.from(text);
  return () =>
    Readable.from(
      (function* () {
        for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
      })(),
    );
}

export function lay(sheet: Sheet, store: Store = freshStore()): Promise<LaidOut> {
  return layOut({
    source: { name: 'sheet.csv', open: opened(sheet.text, sheet.chunk) },
    options: { ...PLAIN, ...sheet.options },
    inputTypes: sheet.inputTypes,
    ...(sheet.order && { order: sheet.order }),
    store,
    errors: errorsIn(store),
  });
}

/** Every row of the pages that a sheet becomes. */
export async function rowsOf(sheet: Sheet): Promise<readonly SheetRow[]> {
  const store = freshStore();
  const { pages } = await lay(sheet, store);
  const rows: SheetRow[] = [];
  for (let page = 1; page <= pages; page += 1) rows.push(...(await readPage(store, page)));
  return rows;
}

/** The inputs of every row as JSON text, which shows digits and leaves nothing out. */
export async function inputsOf(sheet: Sheet): Promise<readonly string[]> {
  return (await rowsOf(sheet)).map(({ inputs }) => JSON.stringify(inputs));
}

export async function thrownBy(laying: Promise<unknown>): Promise<RunsheetError> {
  const error = await laying.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof RunsheetError) return error;
  throw new Error('the sheet was not refused', { cause: error });
}

export async function refusedBy(laying: Promise<unknown>): Promise<SheetRefused> {
  const error = await thrownBy(laying);
  if (error instanceof SheetRefused) return error;
  throw new Error(`thrown at once: ${error.code} ${error.message}`, { cause: error });
}

/** The problem, the sheet, its {@link spot} and the expected message. */
export type Unreadable = readonly [what: string, sheet: Sheet, where: string, message: RegExp];

/** Each of these sheets ends laying out, however its bytes arrive. */
export function unreadableWith(cases: readonly Unreadable[]): void {
  describe('a sheet cannot be read with', () => {
    it.each(cases)('%s', async (_, sheet, where, message) => {
      const error = await thrownBy(lay(sheet));
      expect([spot(error), error.message, error.exit]).toEqual([where, expect.stringMatching(message), 5]);
      expect(error.place?.file).toBe('sheet.csv');
    });

    it.each(cases.filter(([, { text }]) => text.length < 10_000))(
      '%s, however its bytes are split',
      async (_, sheet, where) => {
        // The first look at a file's bytes needs a first chunk.
        if (/-:-/.test(where)) return;
        for (const chunk of [1, 2, 3, 5, 8])
          expect(spot(await thrownBy(lay({ ...sheet, chunk })))).toBe(where);
      },
    );
  });
}

/** `E103 5:2` for a problem in field 2 of line 5. */
export function spot({
  code,
  place,
}: {
  readonly code: string;
  readonly place?: SheetPlace | undefined;
}): string {
  return `${code} ${place?.line ?? '-'}:${place?.column ?? '-'}`;
}

export function input(name: string, type: string, more: Partial<InputType> = {}): InputType {
  return { name, type, required: false, ...more };
}

export async function collected<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collectedItems: T[] = [];
  for await (const item of items) collectedItems.push(item);
  return collectedItems;
}
