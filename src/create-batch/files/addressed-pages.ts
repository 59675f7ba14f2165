// Writes the addresses of uploaded files into the pages of a layout. Until then a row has a mark where the address will be. Identity
// is the content of a file, so keys, hashes and comparisons stay valid, and nothing is read or compared again.

import { problem } from '../../errors/error.ts';
import { withAddresses } from '../../run-service/contract/file-inputs.ts';
import { PAGE_BYTES, pageName, PAGE_ROWS, PageSizes } from '../../sheet/pages.ts';
import type { Store } from '../../store/store.ts';

type Layout = {
  readonly layout: Store;
  readonly pages: number;
  /** The name of the sheet. */
  readonly file: string;
};

/**
 * `addressOf`: the address of the file with this content, undefined if it is no file of this sheet. Throws E108 if the addresses make a page too
 * large, and what `addressOf` throws.
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
