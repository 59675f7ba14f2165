// What both pages choose with: the search, chips of which one is chosen, lists of choices; and the facts in the head.

import { at, button, make, termList } from './dom.js';
import { count } from './text.js';

/** `/` goes to the search.
 * @param {(text: string) => void} change
 */
export function makeSearch(change) {
  const search = /** @type {HTMLInputElement} */ (at('search'));
  search.oninput = () => change(search.value.trim());
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select');
    if (event.key !== '/' || isTyping || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    search.focus();
  });
}

/** What is typed stays as it is. @param {string} text */
export function drawSearch(text) {
  const search = /** @type {HTMLInputElement} */ (at('search'));
  if (document.activeElement !== search) search.value = text;
}

/** @type {(all: readonly (readonly [name: string, label: string, rows: number])[], chosen: string, choose: (name: string) => void) => void} */
export function drawChips(all, chosen, choose) {
  const focused = document.activeElement?.getAttribute('data-choice');
  at('outcomes').replaceChildren(
    ...all.map(([name, label, rows]) => {
      const pressed = { 'data-choice': name, 'aria-pressed': name === chosen };
      return button('button.chip', () => choose(name), pressed, label, make('small', count(rows)));
    }),
  );
  for (const chip of at('outcomes').querySelectorAll('button'))
    if (chip.getAttribute('data-choice') === focused) chip.focus();
}

/** @typedef {[value: string, label: string]} Choice */

/** A list of choices, which stays while it is open. Groups have choices of their own.
 * @type {(id: string, options: readonly (Choice | { label: string, options: readonly Choice[] })[], value: string, onChange: (value: string) => void) => void}
 */
export function drawChoices(id, options, value, onChange) {
  const select = /** @type {HTMLSelectElement} */ (at(id));
  const option = (/** @type {Choice} */ [value_, label]) => make('option', { value: value_ }, label);
  const all = options.map((one) =>
    'label' in one ? make('optgroup', { label: one.label }, one.options.map(option)) : option(one),
  );
  if (document.activeElement !== select || select.childElementCount !== all.length)
    select.replaceChildren(...all);
  select.value = value;
  select.onchange = () => onChange(select.value);
}

/** @param {readonly [name: string, value: string, note?: string][]} facts */
export const drawFacts = (facts) =>
  at('facts').replaceChildren(
    ...termList(
      '',
      facts.map(([name, value, note]) => [name, value, note && make('small', note)]),
    ).children,
  );
