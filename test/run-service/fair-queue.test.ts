import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairQueue } from '../../src/run-service/fair-queue.ts';

type Item = { readonly number: number; readonly owner: string };
type Act = Item | 'next' | { readonly leaves: Item };

const OWNERS = ['ann', 'ben', 'cleo'];

it('a fair queue serves the owner who was served longest ago, and the items of each owner in order', () => {
  const owner = fc.constantFrom(...OWNERS);
  const item = fc.record({ number: fc.nat(5), owner });
  const act: fc.Arbitrary<Act> = fc.oneof(
    { weight: 3, arbitrary: item },
    { weight: 3, arbitrary: fc.constant('next' as const) },
    { weight: 1, arbitrary: fc.record({ leaves: item }) },
  );
  fc.assert(
    fc.property(fc.array(act, { minLength: 20, maxLength: 120 }), (acts) => {
      const queue = new FairQueue<string, Item>();
      const model = new Model();
      for (const step of acts)
        expect([resultOf(queue, step), queue.size, queue.first]).toEqual([
          model.resultOf(step),
          model.waiting.length,
          model.first,
        ]);
      const ahead = queue.ahead(200);
      expect(ahead).toEqual(Array.from({ length: queue.size }, () => queue.next()));
      expect(ahead).toEqual(Array.from({ length: model.waiting.length }, () => model.resultOf('next')));
    }),
    { numRuns: 300 },
  );
});

const keyOf = ({ number, owner }: Item): string => `${owner} ${number}`;

function resultOf(queue: FairQueue<string, Item>, act: Act): unknown {
  if (act === 'next') return queue.next();
  if ('leaves' in act) return queue.leave(keyOf(act.leaves), act.leaves);
  if (!queue.leave(keyOf(act), act)) queue.join(keyOf(act), act);
  return undefined;
}

/** The same with a plain array. */
class Model {
  waiting: readonly Item[] = [];
  /** The owners that were served, most recent first. */
  #served: readonly string[] = [];

  /** The owners with items, in the order in which they began to wait. */
  #owners: readonly string[] = [];

  get first(): Item | undefined {
    const rankOf = (owner: string): number => this.#served.toReversed().indexOf(owner);
    const [next] = this.#owners.toSorted((a, b) => rankOf(a) - rankOf(b));
    return this.waiting.find(({ owner }) => owner === next);
  }

  resultOf(act: Act): unknown {
    const result = this.#afterOf(act);
    const still = new Set(this.waiting.map(({ owner }) => owner));
    this.#owners = [...new Set([...this.#owners, ...still])].filter((owner) => still.has(owner));
    return result;
  }

  #afterOf(act: Act): unknown {
    const item = act === 'next' ? this.first : 'leaves' in act ? act.leaves : act;
    const isHere = this.waiting.some((waiting) => item !== undefined && keyOf(waiting) === keyOf(item));
    this.waiting = this.waiting.filter((waiting) => item === undefined || keyOf(waiting) !== keyOf(item));
    if (act === 'next') {
      if (item !== undefined)
        this.#served = [item.owner, ...this.#served.filter((owner) => owner !== item.owner)];
      return item;
    }
    if ('leaves' in act) return isHere;
    if (!isHere) this.waiting = [...this.waiting, act];
    return undefined;
  }
}
