// Takes the keys from a list of S3. What is listed is read, shown and removed, so a list with keys that were not asked for, such as
// those of another team, is refused.

import type { S3Client } from './s3-client.ts';
import { textOf, type Texts } from './s3-xml.ts';

type List = {
  /** The outermost element of the answer. */
  readonly root: string;
  readonly texts: Texts;
  /** What was asked for. */
  readonly prefix: string;
};

/** The keys, or the prefixes of keys, at a place in the answer. Throws E612 if one of them does not begin with the prefix. */
export function keysAt(client: S3Client, { root, texts, prefix }: List, at: string): readonly string[] {
  const isEncoded = textOf(texts, `${root}/EncodingType`) === 'url';
  const keys = (texts.get(at) ?? []).map((text) => (isEncoded ? decoded(client, text) : text));
  const other = keys.find((key) => !key.startsWith(prefix));
  if (other === undefined) return keys;
  throw client.unexpected(`its list of ${JSON.stringify(prefix)} has another key, ${JSON.stringify(other)}`);
}

/** As forms encode text: XML cannot contain most control characters, and a plus is a blank. */
function decoded(client: S3Client, text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw client.unexpected(`its list has a key that cannot be decoded, ${JSON.stringify(text)}`, error);
  }
}

/** Whether a key has characters that XML cannot contain or would change. */
export const hasControls = (key: string): boolean => /\p{Cc}/u.test(key);
