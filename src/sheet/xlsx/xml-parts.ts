// Parses a part of a workbook piece by piece. Names lose their prefix, because some programs write `<x:row>`.

import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { tooLarge } from './zip-parts.ts';

export type Attributes = Readonly<Record<string, string>>;

type XmlHandlers = {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
};

/** Excel's own bound for the text of a cell is 32,767 characters. The parser keeps a tag or a text until it ends. */
const MAX_TEXT = 4 * 1024 * 1024;
/** A sheet nests about ten elements; the parser keeps those that are open. */
const MAX_DEPTH = 100;

/** Yields after each piece. Throws E102 for XML that is damaged or declares a document type. */
export async function* parseXml(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { open, close, text }: XmlHandlers,
): AsyncGenerator<undefined> {
  const parser = new SaxesParser();
  let sinceTag = 0;
  let depth = 0;
  parser.on('doctype', () => {
    throw unreadable(file, 'it declares a document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    depth += 1;
    if (depth > MAX_DEPTH) throw unreadable(file, `it nests more than ${MAX_DEPTH} elements`);
    open?.(local(name), localNames(attributes));
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    depth -= 1;
    close?.(local(name));
  });
  parser.on('text', (piece) => text?.(piece));
  parser.on('cdata', (piece) => text?.(piece));
  parser.on('error', () => {
    throw unreadable(file, `its XML is damaged in line ${parser.line}, column ${parser.column}`);
  });
  let decoder: TextDecoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8');
    sinceTag += chunk.length;
    if (sinceTag > MAX_TEXT) throw longText(file);
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.close();
  yield;
}

/** A text may come in pieces. Throws E102 if it becomes too long. */
export function joined(file: string, text: string, more: string): string {
  if (text.length + more.length > MAX_TEXT) throw longText(file);
  return text + more;
}

const longText = (file: string): RunsheetError => tooLarge(file, 'has a text of more than 4 MiB');

/** Five million shared texts. The file's size alone would allow ten times as many, if it has an incompressible part. */
const MAX_ELEMENTS = 8_000_000;

/** Parses a part that is no sheet. Does nothing if it is missing. Throws E102 also for too many elements. */
export async function readXml(
  file: string,
  bytes: AsyncIterable<Uint8Array> | undefined,
  handlers: XmlHandlers,
): Promise<void> {
  let elements = 0;
  const open: XmlHandlers['open'] = (name, attributes) => {
    elements += 1;
    if (elements > MAX_ELEMENTS)
      throw tooLarge(file, `has more than ${MAX_ELEMENTS} elements in a part that is no sheet`);
    handlers.open?.(name, attributes);
  };
  if (bytes !== undefined) for await (const _ of parseXml(file, bytes, { ...handlers, open }));
}

export const unreadable = (file: string, why: string): RunsheetError =>
  problem(
    'E102',
    { what: `${file} cannot be read as a workbook: ${why}`, hint: 'save it again as .xlsx' },
    { place: { file } },
  );

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function localNames(attributes: Attributes): Attributes {
  const byLocalName: Record<string, string> = {};
  for (const name in attributes)
    if (!name.startsWith('xmlns')) byLocalName[local(name)] = attributes[name] ?? '';
  return byLocalName;
}
