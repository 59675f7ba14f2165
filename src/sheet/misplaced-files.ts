// Files that a column names without their folder or their ending: `DSC_0412` is fotos/DSC_0412.JPG. If all of them lie in one place, a
// template finds them.

import { type GivenFlag, RunsheetError } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { haveOptionalParts, templateIn } from './templates.ts';

/** The text around the name in the cell: a folder with its slash, and an ending with its dot. */
export type NearFile = { readonly before: string; readonly after: string };

type Column = {
  readonly input: string;
  /** Files by their place. */
  readonly places: Map<string, NearFile & { count: number }>;
  /** Whether a cell of the column gives its file as it is. */
  hasOthers: boolean;
  hasEmpty: boolean;
};

export class MisplacedFiles {
  readonly #columns = new Map<number, Column>();

  /** `place`: undefined for a cell that gives its file. */
  take(column: number, input: string, place: NearFile | 'empty' | undefined): void {
    const own = this.#columns.get(column) ?? { input, places: new Map(), hasOthers: false, hasEmpty: false };
    this.#columns.set(column, own);
    if (place === 'empty') own.hasEmpty = true;
    else if (place === undefined) own.hasOthers = true;
    else {
      const name = `${place.before}\n${place.after}`;
      own.places.set(name, { ...place, count: (own.places.get(name)?.count ?? 0) + 1 });
    }
  }

  /** A single error for all such cells of a column, with the flags that find the files; undefined if no flag does. */
  asOne(error: RunsheetError, names: readonly string[]): RunsheetError | undefined {
    const at = names.indexOf(error.place?.columnName ?? '');
    const { input = '', places, hasOthers, hasEmpty } = this.#columns.get(at) ?? {};
    const [place, ...furtherPlaces] = places?.values() ?? [];
    if (place === undefined || furtherPlaces.length > 0 || hasOthers === true) return undefined;
    const { before, after, count } = place;
    const text = `${before}{${names[at]}}${after}`;
    const template = hasEmpty === true ? `[${text}]` : text;
    if (!isReadAs(template, [before, at, after], names)) return undefined;
    const set: GivenFlag = ['--set', `${input}=${template}`];
    const add: readonly GivenFlag[] = names[at] === input ? [set, ['--drop', input]] : [set];
    const cells =
      count === 1
        ? `one cell of column "${names[at]}" lacks`
        : `${count} cells of column "${names[at]}" lack`;
    const parts = [
      before === '' ? [] : `the folder ${before}`,
      after === '' ? [] : `the ending ${after}`,
    ].flat();
    const message = `${cells} ${parts.join(' and ')} of ${count === 1 ? 'its file' : 'their files'}`;
    const flags = add
      .flatMap((flag) => flag)
      .map((word) => shellWord(word ?? ''))
      .join(' ');
    const { code, exit, place: spot } = error;
    return new RunsheetError(code, message, {
      exit,
      hint: `to find them: ${flags}`,
      place: spot,
      correction: { add },
    });
  }
}

/** Whether the template has exactly these parts: names of columns and folders may have braces and brackets of their own. */
function isReadAs(template: string, parts: readonly (string | number)[], names: readonly string[]): boolean {
  try {
    const [first, ...more] = templateIn(template, '--set', names, haveOptionalParts([template]));
    const own = typeof first === 'object' ? first.optional : [first, ...more];
    const isWhole = typeof first !== 'object' || more.length === 0;
    return isWhole && JSON.stringify(own) === JSON.stringify(parts.filter((part) => part !== ''));
  } catch (error) {
    if (error instanceof RunsheetError) return false;
    throw error;
  }
}
