// HTML as a tagged template: inserted values are escaped, unless they were created here.

import { htmlText } from '../../errors/outside-text.ts';

/** Markup that needs no more escaping. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}
type Part = Html | string | number | false | undefined | readonly Part[];

export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, index) => text + markupOf(parts[index])).join(''));

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (typeof part === 'object') return part.map(markupOf).join('');
  return htmlText(String(part));
}
