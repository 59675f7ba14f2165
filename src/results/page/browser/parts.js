// The libraries that draw the page, and small parts that several views have. Text only ever becomes text: nothing here takes markup.

import htm from 'htm';
import { h } from 'preact';
import { useEffect, useLayoutEffect, useRef as usePreactRef, useState } from 'preact/hooks';
import { count, decoded } from './text.js';

/** @typedef {import('preact').ComponentChildren} Children */
/** @typedef {readonly [value: string, label: string]} Choice */

export { render } from 'preact';
export { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
export const html = /** @type {any} */ (htm).bind(h);
/** What changes without drawing again. @type {(first?: unknown) => { current: any }} */
export const useRef = (first = null) => usePreactRef(first);

/** The width of an element, now and when it changes. @param {{ current: HTMLElement | null }} box */
export function useWidth(box) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (box.current === null) return undefined;
    const watching = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    watching.observe(box.current);
    setWidth(box.current.clientWidth);
    return () => watching.disconnect();
  }, []);
  return width;
}

/** Hears an event of the window. @type {(types: readonly string[], hear: (event: any) => void) => void} */
export function useWindow(types, hear) {
  const latest = useRef();
  latest.current = hear;
  useEffect(() => {
    const own = (event) => latest.current(event);
    for (const type of types) addEventListener(type, own, { passive: type === 'scroll' });
    return () => types.forEach((type) => removeEventListener(type, own));
  }, []);
}

/** Opens what the address names, now and when it changes. @param {(name: string) => void} open */
export function useNamed(open) {
  const look = () => open(decoded(location.hash.slice(1)));
  useEffect(look, []);
  useWindow(['hashchange'], look);
}

/** `name`: its classes; `of`: what a screen reader says. @param {{ name?: string, of?: string, children?: Children, [other: string]: unknown }} props */
export const Button = ({ name = 'button', of, children, ...rest }) =>
  html`<button type="button" class=${name} aria-label=${of} ...${rest}>${children}</button>`;

/** The colour of an outcome. @param {string} outcome */
export const toneOf = (outcome) => ({ '--tone': `var(--${outcome})` });

/** Copies a text; the button says so for a moment. @param {{ label: string, text: string, of?: string, name?: string }} props */
export function Copy({ label, text, of, name }) {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied');
      setTimeout(() => say(''), 1_200);
    } catch {
      // A browser may give the clipboard to no page of a folder.
      globalThis.prompt('Copy this text:', text);
    }
  };
  const own = { name, of: said === '' ? of : undefined, title: text.slice(0, 200), onClick: copy };
  return html`<${Button} ...${own}>${said || label}<//>`;
}

/** Saves a file that the page made. @type {(name: string, content: Blob) => void} */
export function save(name, content) {
  const href = URL.createObjectURL(content);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** @param {{ href: string, text: string, name?: string }} props */
export const NewTab = ({ href, text, name }) =>
  html`<a class=${name} href=${href} target="_blank" rel="noopener">${text}</a>`;

/** Names and what they have. @param {{ id?: string, name?: string, entries: readonly (readonly [name: Children, value: Children, note?: Children])[] }} props */
export const Terms = ({ id, name, entries }) =>
  html`<dl id=${id} class=${name} tabindex=${id && innerWidth <= 640 ? 0 : undefined}>
    ${entries.map(
      ([term, value, note]) =>
        html`<div><dt>${term}</dt><dd>${value}${note && html`<small>${note}</small>`}</dd></div>`,
    )}
  </dl>`;

/** @param {{ title: string, isEmpty?: boolean, head?: string, children?: Children }} props */
export const Section = ({ title, isEmpty = false, head = 'h3', children }) =>
  isEmpty ? null : html`<section><${head}>${title}<//>${children}</section>`;

/** `lines`: a head, and what stands in its cells, with the outcome that colours it. @param {{ heads: readonly Children[], lines: readonly (readonly [head: string, ...cells: { text: Children, outcome?: string }[]])[] }} props */
export const Lines = ({ heads, lines }) =>
  html`<table class="lines">
    <thead><tr>${heads.map((one) => (one === '' ? html`<td></td>` : html`<th scope="col">${one}</th>`))}</tr></thead>
    <tbody>
      ${lines.map(
        ([head, ...cells]) =>
          html`<tr><th scope="row">${head}</th>${cells.map(({ text, outcome = '' }) => html`<td class="tone" style=${toneOf(outcome)}>${text}</td>`)}</tr>`,
      )}
    </tbody>
  </table>`;

/** `/` goes to it. @param {{ what: string, text: string, onText: (text: string) => void }} props */
export function Search({ what, text, onText }) {
  const box = useRef();
  useWindow(['keydown'], (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select');
    if (event.key !== '/' || isTyping || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    box.current?.focus();
  });
  return html`<input type="search" id="search" ref=${box} placeholder=${what} aria-label=${what} title="key /"
    autocomplete="off" spellcheck=${false} value=${text} onInput=${({ target }) => onText(target.value.trimStart())} />`;
}

/** Which of them is chosen. @param {{ label: string, all: readonly (readonly [name: string, label: string, many: number])[], chosen: string, choose: (name: string) => void, isOutcome?: boolean }} props */
export const Chips = ({ label, all, chosen, choose, isOutcome = false }) =>
  html`<span id="outcomes" class="wrap" role="group" aria-label=${label}>
    ${all.map(
      ([name, text, many]) =>
        html`<${Button} key=${name} name="button chip" data-choice=${name} aria-pressed=${name === chosen}
          onClick=${() => choose(name)}>${isOutcome && name !== '' && html`<i style=${toneOf(name)}></i>`}${text} <small>${count(many)}</small><//>`,
    )}
  </span>`;

/** A list of choices; groups have choices of their own. @param {{ id: string, label: string, options: readonly (Choice | { label: string, options: readonly Choice[] })[], value: string, onValue: (value: string) => void }} props */
export const Choices = ({ id, label, options, value, onValue }) =>
  html`<select id=${id} aria-label=${label} value=${value} onChange=${({ target }) => onValue(target.value)}>
    ${options.map((one) =>
      'label' in one ? html`<optgroup label=${one.label}>${one.options.map(option)}</optgroup>` : option(one),
    )}
  </select>`;

/** @param {Choice} choice */
const option = ([value, label]) => html`<option value=${value}>${label}</option>`;
