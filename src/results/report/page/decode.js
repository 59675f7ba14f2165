// Decodes what the page carries: compressed columns as base64.

/** @typedef {Readonly<Record<string, Uint8Array | Uint32Array | readonly string[]>>} Columns */

/**
 * @param {string} base64 of raw deflate
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflated(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).arrayBuffer();
}

/** All columns of the page; their elements are removed, because their text takes as much memory as the columns.
 * @returns {Promise<Columns>}
 */
export async function readColumns() {
  /** @type {Promise<[string, Uint8Array | Uint32Array | readonly string[]]>[]} */
  const reading = [];
  for (const element of document.querySelectorAll('script.column')) {
    const { name = '', bytes } = /** @type {HTMLElement} */ (element).dataset;
    reading.push(columnIn(element.textContent ?? '', Number(bytes)).then((column) => [name, column]));
    element.remove();
  }
  return Object.fromEntries(await Promise.all(reading));
}

/**
 * @param {string} base64
 * @param {number} bytesEach 0: lines of text
 */
async function columnIn(base64, bytesEach) {
  const buffer = await inflated(base64);
  if (bytesEach === 0) return new TextDecoder().decode(buffer).split('\n');
  return bytesEach === 1 ? new Uint8Array(buffer) : new Uint32Array(buffer);
}
