// What stands in the cell of an input that takes a file: an address that the run service reads, or a file of this machine.

import { isBeforeUpload } from '../run-service/contract/file-inputs.ts';

export type FileCell =
  /** `isTaken`: it is not the text of the cell. */
  | { readonly address: string; readonly isTaken?: true }
  | { readonly path: string }
  | { readonly what: string; readonly hint: string; readonly isSeveral?: true };

/** `link`: what the cell points to, in a workbook. */
export function fileCell(given: string, link?: string): FileCell {
  const text = given.trim();
  if ((isReadable(text) && countOf(text) === 1) || isBeforeUpload(text)) return { address: text };
  if (link !== undefined) return taken(fileCell(pathIn(link)));
  const [, formula] = FORMULA.exec(text) ?? [];
  if (formula !== undefined) return taken(fileCell(formula));
  if (countOf(text) > 1) return SEVERAL;
  const [, named] = NAMED.exec(text) ?? [];
  if (named !== undefined) return taken(fileCell(named));
  const [scheme] = /^[a-z][a-z\d+.-]+(?=:)/i.exec(text) ?? [];
  if (scheme !== undefined && !/^file$/i.test(scheme))
    return { what: `an address with ${scheme}:, which the run service does not read`, hint: HINT };
  return { path: text };
}

/** The cell of a JSON sheet; undefined if it is no text. */
export function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return all.length > 0 && all.every((one) => typeof one === 'string') ? all.join(', ') : undefined;
}

const HINT = 'give an http address, or a file by its path from the folder of the sheet';

const SEVERAL: FileCell = {
  what: 'several addresses, and the input takes one',
  hint: 'for a row of each: --split <column>',
  isSeveral: true,
};

/** A picture may also stand in the cell itself. */
const isReadable = (text: string): boolean => /^(?:https?:\/\/[^\s/]|data:[\w.+-]+\/)/i.test(text);

/** Where addresses begin; one may be a part of another. */
const countOf = (text: string): number =>
  text.match(/(?:^|[\s,;|("'[])(?:https?:\/\/|data:\w)/gi)?.length ?? 0;

const FORMULA = /^=\s*(?:_xlfn\.)?(?:IMAGE|HYPERLINK)\(\s*"([^"]+)"/i;

/** `fox.png (https://…)`, as Airtable writes it, and `[fox](https://…)`, as Notion does. */
const NAMED = /\(((?:https?:\/\/|data:)[^\s()]+(?:\([^\s()]*\)[^\s()]*)?)\)$/i;

/** The links of workbooks are URLs, also those to files beside them. */
function pathIn(link: string): string {
  if (/^[a-z][a-z\d+.-]+:/i.test(link)) return link;
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

const taken = (cell: FileCell): FileCell => ('address' in cell ? { ...cell, isTaken: true } : cell);
