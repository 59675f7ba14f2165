// Writes the addresses of uploaded files into the pages of a layout, where each row has a mark until then. The content of a file is
// its identity, so keys, hashes and comparisons stay valid, and nothing is read or compared again.

import { problem } from '../../errors/error.ts';
import { hasMarks, withAddresses } from '../../service-client/contract/file-inputs.ts';
import { PAGE_BYTES, pageName, PAGE_ROWS, PageSizes } from '../../sheet/pages.ts';
import type { Store } from '../../store/store.ts';

type Layout = {
  readonly layout: Store;
  readonly pages: number;
  /** The name of the sheet. */
  readonly file: string;
};

/**
 * `addressOf` returns the address of the file with this content, or undefined if this sheet names no such file. Throws E108 if the addresses make
 * a page too large, E504 if a mark remains, and any error of `addressOf`.
 */
export async function addressPages(
  { layout, pages, file }: Layout,
  addressOf: (sha256: string) => string | undefined,
  mostBytes = PAGE_BYTES,
): Promise<void> {
  for (let page = 1; page <= pages; page += 1) {
    const name = pageName(page);
    const marked = (await layout.read(name)) ?? '';
    const addressed = withAddresses(marked, addressOf);
    if (hasMarks(addressed)) throw problem('E504', { what: `${file} has rows whose files have no address` });
    if (addressed === marked) continue;
    refuseOverfull(addressed, page, file, mostBytes);
    await layout.write(name, addressed);
  }
}

function refuseOverfull(text: string, page: number, file: string, mostBytes: number): void {
  if (Buffer.byteLength(text) <= mostBytes) return;
  const sizes = new PageSizes(mostBytes);
  let row = (page - 1) * PAGE_ROWS;
  for (const line of text.split('\n')) {
    row += 1;
    const overfull = sizes.add(row, `${line}\n`);
    if (overfull)
      throw problem('E108', { ...overfull, row, most: sizes.mostWords }, { place: { file, row } });
  }
}
