// Parses a part of a workbook piece by piece. Names lose their prefix, because some programs write `<x:row>`.

import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';
import { tooLarge } from './zip-file.ts';

export type Attributes = Readonly<Record<string, string>>;

export type XmlHandlers = {
  readonly open?: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
};

/** The text of a cell has at most 32,767 characters; the parser keeps a text until it ends. */
const MOST_BETWEEN_TAGS = 16 * 1024 * 1024;

/** Yields after each piece. Throws E102 for XML that is damaged or declares a document type. */
export async function* parseXml(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  { open, close, text }: XmlHandlers,
): AsyncGenerator<undefined> {
  const parser = new SaxesParser();
  let sinceTag = 0;
  parser.on('doctype', () => {
    throw unreadable(file, 'it declares a document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    open?.(local(name), localNames(attributes));
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    close?.(local(name));
  });
  parser.on('text', (found) => text?.(found));
  parser.on('cdata', (found) => text?.(found));
  parser.on('error', (error) => {
    throw unreadable(file, errorMessage(error));
  });
  let decoder: TextDecoder | undefined;
  for await (const chunk of bytes) {
    decoder ??= new TextDecoder(chunk[0] === 0xff && chunk[1] === 0xfe ? 'utf-16le' : 'utf-8');
    sinceTag += chunk.length;
    if (sinceTag > MOST_BETWEEN_TAGS) throw tooLarge(file, 'has a text of more than 16 MiB');
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.close();
  yield;
}

/** Parses a small part. Does nothing if it is missing. */
export async function readXml(
  file: string,
  bytes: AsyncIterable<Uint8Array> | undefined,
  handlers: XmlHandlers,
): Promise<void> {
  if (bytes !== undefined) for await (const _ of parseXml(file, bytes, handlers));
}

const unreadable = (file: string, why: string): RunsheetError =>
  problem(
    'E102',
    { what: `${file} cannot be read as an Excel workbook: ${why}`, hint: 'save it again as .xlsx' },
    { place: { file } },
  );

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

function localNames(attributes: Attributes): Attributes {
  const found: Record<string, string> = {};
  for (const name in attributes) if (!name.startsWith('xmlns')) found[local(name)] = attributes[name] ?? '';
  return found;
}
