// Makes elements. Text only ever becomes text: nothing here takes markup.

/** @typedef {Node | string | undefined | false} Child */
/** @typedef {(Child | Properties | readonly Child[])[]} Given */
/** @typedef {Record<string, unknown>} Properties names with a dash are attributes; `style` has properties of its own */
/**
 * @template {string} W
 * @typedef {W extends `${infer T extends keyof HTMLElementTagNameMap}.${string}` ? HTMLElementTagNameMap[T]
 *   : W extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[W] : HTMLElement} ElementOf
 */

const SVG = new Set(['svg', 'path', 'line']);

/**
 * @template {string} W
 * @param {W} what the tag, and classes after points: `p.note`
 * @param {Given} given
 * @returns {ElementOf<W>}
 */
export function make(what, ...given) {
  const [tag = '', ...classes] = what.split('.').filter(Boolean);
  const element = SVG.has(tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  element.classList.add(...classes);
  fill(element, ...given);
  return /** @type {ElementOf<W>} */ (/** @type {unknown} */ (element));
}

/** Puts children in the place of what an element has, and sets properties. @type {(element: Element, ...given: Given) => void} */
export function fill(element, ...given) {
  element.replaceChildren();
  for (const one of given.flat())
    if (typeof one === 'string' || one instanceof Node) element.append(one);
    else if (one) set(element, one);
}

/** @type {(element: Element, properties: Properties) => void} */
export const set = (element, { style = {}, ...properties }) => {
  const isSvg = element instanceof SVGElement;
  for (const [name, value] of Object.entries(properties))
    if (value === undefined) continue;
    else if (isSvg || name === 'role' || name.includes('-'))
      element.setAttribute(name, /** @type {string} */ (value));
    else Object.assign(element, { [name]: value });
  if (element instanceof HTMLElement)
    for (const [name, value] of Object.entries(/** @type {object} */ (style)))
      element.style.setProperty(name, value);
};

/** @param {string} id */
export function at(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/** @type {(what: string, onclick: () => void, ...given: Given) => HTMLButtonElement} */
export const button = (what, onclick, ...given) =>
  make(`button.${what}`, { type: 'button', onclick }, ...given);

/** @type {(href: string, what: string, text: string) => HTMLAnchorElement} */
export const newTab = (href, what, text) =>
  make(`a.${what}`, { href, target: '_blank', rel: 'noopener' }, text);

/** Copies a text; the button says so for a moment.
 * @type {(label: string, text: string, what?: string) => HTMLButtonElement}
 */
export function copyButton(label, text, what = 'button') {
  const one = button(what, () => {
    void copyText(text).then((isCopied) => {
      one.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
      setTimeout(() => (one.textContent = label), 1_200);
    });
  });
  one.textContent = label;
  one.title = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return one;
}

/** @type {(text: string) => Promise<boolean>} */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that was opened from a folder may have no clipboard.
    const area = make('textarea', { value: text, style: { position: 'fixed', opacity: '0' } });
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}

/** A list of names and what they have.
 * @type {(what: string, entries: readonly (readonly [name: Child, ...value: Child[]])[]) => HTMLDListElement}
 */
export const termList = (what, entries) =>
  make(
    `dl.${what}`,
    entries.map(([name, ...value]) => make('div', make('dt', name), make('dd', value))),
  );

/** @type {(title: string, list: HTMLElement) => HTMLElement} */
export const section = (title, list) =>
  make('section', { hidden: list.childElementCount === 0 }, make('h3', title), list);

/** @type {(heads: readonly Child[], lines: readonly (readonly Child[])[]) => HTMLTableElement} */
export const tableOf = (heads, lines) =>
  make('table', [
    make(
      'thead',
      make(
        'tr',
        heads.map((one) => make('th', { scope: 'col' }, one)),
      ),
    ),
    make(
      'tbody',
      lines.map(([name, ...cells]) => make('tr', make('th', { scope: 'row' }, name), cells)),
    ),
  ]);
