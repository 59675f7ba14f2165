// Writes texts in encodings that Node only reads.

const tables = new Map<string, ReadonlyMap<string, Uint8Array>>();

/** Character → its bytes: every single byte, and every pair, is decoded once. */
function tableOf(label: string): ReadonlyMap<string, Uint8Array> {
  const table = new Map<string, Uint8Array>();
  const decoder = new TextDecoder(label, { fatal: true });
  const put = (...bytes: number[]): void => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes));
      if (Array.from(text).length === 1 && !table.has(text)) table.set(text, Uint8Array.from(bytes));
    } catch {
      // Some bytes stand for nothing.
    }
  };
  for (let lead = 0; lead <= 0xff; lead += 1) put(lead);
  for (let lead = 0x81; lead <= 0xfe; lead += 1)
    for (let trail = 0x40; trail <= 0xfe; trail += 1) put(lead, trail);
  return table;
}

export function encoded(text: string, label: string): Buffer {
  const table = tables.get(label) ?? tableOf(label);
  tables.set(label, table);
  return Buffer.concat(
    Array.from(text, (letter) => {
      const bytes = table.get(letter);
      if (bytes === undefined) throw new Error(`${label} has no ${letter}`);
      return bytes;
    }),
  );
}
