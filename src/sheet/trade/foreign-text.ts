// Refuses texts that are no tables, by their content. Read as lines, each of their lines would be bought.

import { extname } from 'node:path';
import { problem } from '../../errors/error.ts';
import { headText } from '../text/sheet-text.ts';

type ForeignText = { readonly what: string; readonly hint: string };

/** Throws E104. */
export function refuseForeignText(file: string, head: Uint8Array): void {
  const foreign = foreignIn(file, headText(head).trimStart());
  if (foreign !== undefined) throw problem('E104', foreign, { place: { file } });
}

const AS_CSV = 'save it as CSV, JSON or JSONL: a list of objects, one for each row';

function foreignIn(file: string, text: string): ForeignText | undefined {
  if (/^\{[^]*"url"\s*:\s*"https:\/\/docs\.google\.com\//.test(text.slice(0, 2000)) && text.length < 2000)
    return {
      what: `${file} is a shortcut to a Google sheet, without its rows`,
      hint: 'in Google Sheets: File > Download > Comma-separated values (.csv), or give the link of the published sheet',
    };
  if (/^\{\s*"\d+"\s*:\s*"[^]*?"\s*,\s*"\d+"\s*:\s*"/.test(text))
    return {
      what: `${file} has texts by number, such as the keyframes of Deforum, which are one animation`,
      hint: 'if each text is a row of its own, write them as a list: ["a fox", "an owl"]',
    };
  return isYaml(file, text) ? { what: `${file} is YAML`, hint: AS_CSV } : undefined;
}

/** Whether its name says so, or it begins with a list of mappings. */
function isYaml(file: string, text: string): boolean {
  if (/^\.ya?ml$/.test(extname(file).toLowerCase())) return true;
  const [first = '', ...lines] = text.replace(/^---\s*\n/, '').split(/\r\n|\n/);
  return /^- [\w-]+:(?:\s|$)/.test(first) && lines.some((line) => /^ {2,}[\w-]+:(?:\s|$)/.test(line));
}
