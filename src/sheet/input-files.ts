// Local files that rows name. The layout has them read before the row.

import { type Media, isBeforeUpload, mediaOf } from '../service-client/contract/file-inputs.ts';
import { shellWord } from '../errors/outside-text.ts';
import { isWebAddress } from '../host/http/web-address.ts';
import type { NearFile } from './misplaced-files.ts';
import type { Feed } from './input-sources.ts';
import { columnsIn, type Template } from './templates.ts';
import { linkFrom, valueFrom } from './cell-parts.ts';
import { valuesIn } from './grid/expanded-rows.ts';
import { kindOf, takesFiles, type CellKind } from './parse-cell.ts';
import type { SheetRecord } from './sheet-record.ts';

/** Why a cell gives no file (E210). `isAbsent`: no file of this machine has that name; `near`: a file of that name has it in another place. */
export type NoFile = {
  readonly what: string;
  readonly hint: string;
  readonly isAbsent?: true;
  readonly near?: NearFile;
};

/** Files by their content. */
export type FilesFound = {
  readonly files: number;
  readonly bytes: number;
  /** Files that the service does not have yet. */
  readonly toUpload: { readonly files: number; readonly bytes: number };
  /** Files outside the sheet's folder, or hidden in it, that were never uploaded; the first of their paths. */
  readonly outside: { readonly files: number; readonly bytes: number; readonly first: readonly string[] };
};

export type InputFiles = {
  /** Reads a file once; returns a promise if the caller has to wait. `isOwn`: named by the command, not by the sheet. */
  read(path: string, isOwn: boolean): Promise<void> | undefined;
  /** The value to send for a file that was read. `media`: the required kind of content. */
  valueOf(path: string, media: Media | undefined): string | NoFile;
  /** Called when an address is only a part of the cell in this column, or its link. */
  taken(column: string): void;
  /** Called when the server's own file of this name is sent. `where`: the column or flag that names it. */
  atServer(where: string, name: string): void;
};

/** Reads the files of a record; undefined if no input takes any. */
export function filesAhead(
  feeds: readonly Feed[],
  files: InputFiles | undefined,
  nothings?: ReadonlySet<string>,
): ((record: SheetRecord) => Promise<void> | undefined) | undefined {
  const own = feeds.filter(({ kind }) => takesFiles(kind));
  if (files === undefined || own.length === 0) return undefined;
  return (record) => {
    const waiting = own.flatMap(({ kind, from }) => {
      if ('json' in from) return [];
      const [value, ownLink] =
        'column' in from
          ? [valueFrom(record, from), linkFrom(record, from)]
          : [filledTemplate(record, from.template, nothings)];
      return filesIn(kind, value, ownLink).flatMap(({ text, link }) => {
        const cell = fileCell(text, link);
        return ('path' in cell && files.read(cell.path, !isOfSheet(record, from))) || [];
      });
    });
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
  };
}

/** Whether the text contains a cell of the sheet; otherwise it stands in the options. */
function isOfSheet({ own = Infinity }: SheetRecord, from: Feed['from']): boolean {
  if ('column' in from) return from.column < own;
  return 'template' in from && columnsIn(from.template).some((column) => column < own);
}

/** The texts in a cell or option that name files, with their links; empty for inputs of another kind. */
export function filesIn(
  kind: CellKind,
  value: unknown,
  link?: string,
): readonly { readonly text: string; readonly link?: string | undefined }[] {
  if (kind === 'file') {
    const text = textOfValue(value);
    return text === undefined ? [] : [{ text, link }];
  }
  if (value === undefined || value === '[]') return [];
  const texts = valuesIn(value, false).filter((text) => typeof text === 'string');
  return texts.length === 1 ? texts.map((text) => ({ text, link })) : texts.map((text) => ({ text }));
}

/** The text with the cells of this row. `nothings`: words that mean that a cell is empty. */
export const filledTemplate = (
  { cells }: SheetRecord,
  template: Template,
  nothings: ReadonlySet<string> = NONE,
): string =>
  template
    .map((part) => {
      if (typeof part !== 'object') return filledPart(part, cells, nothings);
      const texts = part.optional.map((inner) => filledPart(inner, cells, nothings));
      const isLacking = part.optional.some(
        (inner, at) => typeof inner === 'number' && texts[at]?.trim() === '',
      );
      return isLacking ? '' : texts.join('');
    })
    .join('');

function filledPart(part: string | number, cells: readonly unknown[], nothings: ReadonlySet<string>): string {
  if (typeof part === 'string') return part;
  const cell = cells[part] ?? '';
  if (typeof cell !== 'string') return JSON.stringify(cell);
  return nothings.has(cell.trim()) ? '' : cell;
}

const NONE: ReadonlySet<string> = new Set();

/** Formats files for the input: a list is sent as text, unless the deployment declares otherwise. */
export function sentFiles(
  { kind, type }: Pick<Feed, 'kind' | 'type'>,
  addresses: readonly string[],
): unknown {
  if (kind === 'file') return addresses[0];
  return kindOf(type?.type ?? '') === 'json' ? addresses : JSON.stringify(addresses);
}

export type FileCell =
  /** `isTaken`: the address is not the whole text of the cell. */
  | { readonly address: string; readonly isTaken?: true }
  | { readonly path: string }
  | { readonly what: string; readonly hint: string; readonly isSeveral?: true };

/** `link`: the hyperlink of a workbook cell. */
export function fileCell(raw: string, link?: string): FileCell {
  const text = raw.trim();
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

/**
 * The value to send for a text that names a file. `atServer`: the server's own file, which a workflow names
 * by default; a local file of that name wins.
 */
export function fileFor(
  { text, cell }: { readonly text: string; readonly cell: FileCell },
  { type }: Pick<Feed, 'type'>,
  files: InputFiles | undefined,
): string | { readonly atServer: string } | NoFile {
  if ('address' in cell) return cell.address;
  const resolved = 'path' in cell ? (files?.valueOf(cell.path, mediaOf(type?.type ?? '')) ?? NO_FILES) : cell;
  if (typeof resolved === 'string') return resolved;
  const isElsewhere = !('path' in cell) || 'isAbsent' in resolved;
  return isElsewhere && text === type?.default ? { atServer: text } : resolved;
}

const NO_FILES: NoFile = {
  what: 'not an address',
  hint: 'give the address of the file: files of this machine are not uploaded here',
  isAbsent: true,
};

/** The text of a JSON cell; undefined for other values. */
function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const elements = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return elements.length > 0 && elements.every((element) => typeof element === 'string')
    ? elements.join(', ')
    : undefined;
}

const HINT = 'give an http address, or a file by its path from the folder of the sheet';

/** The fault of a text that names several files; undefined for any other text. */
export function severalFiles(path: string): (NoFile & { readonly isSeveral: true }) | undefined {
  const parts = valuesIn(path, false).map(String);
  const isSeveral = parts.length > 1 && parts.every((part) => /[^/\\]\.[a-z\d]{2,4}$/i.test(part));
  return isSeveral ? { ...SEVERAL, what: 'several files, and the input takes one' } : undefined;
}

/** Proposes the first file: a run of each is a purchase that the user has to ask for. */
export function listOfFiles(input: string, column: string) {
  const first = `${input}=${column}.0`;
  const hint = `to send the first of each row: --map ${shellWord(first)}; for a row of each: --split ${shellWord(column)}`;
  return { facts: { hint }, more: { correction: { add: [['--map', first]] } } } as const;
}

const SEVERAL = {
  what: 'several addresses, and the input takes one',
  hint: 'for a row of each: --split <column>',
  isSeveral: true,
} as const;

/** A picture may also stand in the cell itself. */
const isReadable = (text: string): boolean => isWebAddress(text) || /^data:[\w.+-]+\//i.test(text);

/** Counts addresses; an address may contain another. */
const countOf = (text: string) =>
  text.match(/(?:^|[\s,;|("'[])(?:https?:\/\/|data:\w|upload:\S)/gi)?.length ?? 0;

const FORMULA = /^=\s*(?:_xlfn\.)?(?:IMAGE|HYPERLINK)\(\s*"([^"]+)"/i;

/** `fox.png (https://…)`, as Airtable writes it, and `[fox](https://…)`, as Notion does. */
const NAMED = /\(((?:https?:\/\/|data:)[^\s()]+(?:\([^\s()]*\)[^\s()]*)?)\)$/i;

/** The links of workbooks are URLs, even those to files beside them. */
function pathIn(link: string): string {
  if (/^[a-z][a-z\d+.-]+:/i.test(link)) return link;
  try {
    return decodeURIComponent(link);
  } catch {
    return link;
  }
}

const taken = (cell: FileCell): FileCell => ('address' in cell ? { ...cell, isTaken: true } : cell);
