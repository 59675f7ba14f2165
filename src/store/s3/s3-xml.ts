// Reads the responses of S3, which are small XML documents without attributes.

import { SaxesParser } from 'saxes';

/** The texts of the elements that have no children, by the names of their parent and their own: `Contents/Key`. */
export type Texts = ReadonlyMap<string, readonly string[]>;

/** Empty for text that is no XML, such as the page of a proxy. */
export function textsIn(xml: string): Texts {
  const byPath = new Map<string, string[]>();
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
  });
  parser.on('text', (more) => (text += more));
  parser.on('closetag', ({ name }) => {
    path.pop();
    const at = `${path.at(-1) ?? ''}/${name}`;
    const texts = byPath.get(at) ?? [];
    texts.push(text);
    byPath.set(at, texts);
    text = '';
  });
  try {
    // Servers send blanks while they work.
    parser.write(xml.trimStart()).close();
  } catch {
    return new Map();
  }
  return byPath;
}

/** The outermost element; undefined for text that is no XML. */
export const rootIn = (body: Uint8Array): string | undefined =>
  [...textsIn(Buffer.from(body).toString()).keys()].find((at) => at.startsWith('/'))?.slice(1);

/** The first text at this path; undefined if there is none. */
export const textOf = (texts: Texts, at: string): string | undefined => texts.get(at)?.[0];
