// The cards of the pairs: more are added when the end comes near the window, and only cards near it have pictures.

import { at } from './dom.js';
import { cardOfPair, fillCard } from './pair-card.js';

/** @import { ComparisonFacts, ShownPair } from '../comparison-page.ts' */

const PAIRS_EACH = 60;

export class PairGrid {
  /** @type {readonly ShownPair[]} */
  order = [];
  #facts;
  #open;
  /** @type {Map<Element, ShownPair>} */
  #pairOf = new Map();
  #near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const pair = this.#pairOf.get(target);
        if (pair !== undefined) fillCard(target, isIntersecting ? pair : undefined, this.#facts);
      }
    },
    { rootMargin: '600px' },
  );

  /**
   * @param {ComparisonFacts} facts
   * @param {(place: number) => void} open
   */
  constructor(facts, open) {
    this.#facts = facts;
    this.#open = open;
    const end = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) this.#add();
      },
      { rootMargin: '1200px' },
    );
    end.observe(at('more'));
  }

  /** @param {readonly ShownPair[]} order */
  show(order) {
    this.order = order;
    this.#near.disconnect();
    this.#pairOf.clear();
    at('pairs').replaceChildren();
    this.#add();
  }

  /** @param {number} place */
  focus(place) {
    while (at('pairs').children.length <= place) this.#add();
    const card = at('pairs').children[place];
    if (card instanceof HTMLElement) card.focus();
  }

  #add() {
    const from = at('pairs').children.length;
    for (const [nth, pair] of this.order.slice(from, from + PAIRS_EACH).entries()) {
      const card = cardOfPair(pair);
      this.#pairOf.set(card, pair);
      card.onclick = (event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.#open(from + nth);
      };
      at('pairs').append(card);
      this.#near.observe(card);
    }
    at('more').hidden = at('pairs').children.length >= this.order.length;
  }
}
