// Decodes what the page carries: compressed columns as base64.

/** @typedef {Readonly<Record<string, Uint8Array | Uint32Array | readonly string[]>>} Columns */

/**
 * Not through a Blob: its bytes would travel to the browser's process and back, which waits for the processor where others have it.
 * @param {string} base64 of raw deflate
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflated(base64) {
  const { readable, writable } = new DecompressionStream('deflate-raw');
  const writer = writable.getWriter();
  const content = new Response(readable).arrayBuffer();
  await Promise.all([writer.write(bytesOf(base64)), writer.close(), content]);
  return content;
}

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
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
