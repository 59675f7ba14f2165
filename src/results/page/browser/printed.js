// Prints the rows that are shown, once their pictures are there.

import { html, useEffect, useRef } from './parts.js';
import { kindOf } from './files.js';
import { count } from './text.js';

/** @import { Table } from './table.js' */

const PRINTED_MOST = 500;

/** @param {{ table: Table, rows: readonly number[], done: () => void }} props */
export function Printed({ table, rows, done }) {
  const box = useRef();
  const printed = async () => {
    await Promise.all(
      [...box.current.querySelectorAll('img')].map((image) => image.decode().catch(() => undefined)),
    );
    globalThis.print();
    done();
  };
  useEffect(() => void printed(), []);
  const rest = rows.length - PRINTED_MOST;
  const picture = (row, src) =>
    kindOf(src) === 'picture'
      ? html`<img src=${src} alt="" />`
      : html`<p>${table.reason[row] || table.outcomeName(row)}</p>`;
  const card = (row) =>
    html`<div>
      ${picture(row, table.file[row] ?? '')}<b>${table.title(row)}</b><p>${table.caption(row)}</p>
      <small>${table.factsText(row)}</small>
    </div>`;
  return html`<div id="printed" ref=${box}>
    ${rows.slice(0, PRINTED_MOST).map(card)}${rest > 0 && html`<p>and ${count(rest)} more rows</p>`}
  </div>`;
}
