// Makes elements. Text only ever becomes text: nothing here takes markup.

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string | Record<string, string | number | boolean | Function | undefined>} [given] its class, or its properties; names with a dash are attributes
 * @param {(Node | string | undefined)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  const properties = typeof given === 'string' ? { className: given } : given;
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, value.toString());
    else Object.assign(element, { [name]: value });
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 */
export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** @param {string} id */
export function at(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no ${id}`);
  return element;
}

/**
 * A button with a name for those who do not see it.
 * @param {string} label
 * @param {() => void} onclick
 * @param {string} [className]
 */
export const button = (label, onclick, className = 'button') =>
  make('button', { type: 'button', className, onclick }, label);

/**
 * Copies a text; the button says so for a moment.
 * @param {string} label
 * @param {string} text
 */
export function copyButton(label, text) {
  const one = button(label, () => {
    void copyText(text).then((isCopied) => {
      one.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
      setTimeout(() => (one.textContent = label), 1_200);
    });
  });
  one.title = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return one;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that was opened from a folder may have no clipboard.
    const area = make('textarea', { value: text, className: 'unseen' });
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}
