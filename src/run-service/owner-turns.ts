// Round robin by owner: never served owners come first, then those served longest ago.

export class OwnerTurns {
  #turns = 0;
  readonly #lastTurn = new Map<string, number>();

  served(owner: string): void {
    this.#turns += 1;
    this.#lastTurn.set(owner, this.#turns);
  }

  /** Negative if `a` is served before `b`. */
  compare(a: string, b: string): number {
    return (this.#lastTurn.get(a) ?? 0) - (this.#lastTurn.get(b) ?? 0);
  }
}

/** The first `most` items of these lines in round-robin order; the lines are in the order of their owners' turns. */
export function dealt<Item>(lines: readonly (readonly Item[])[], most: number): readonly Item[] {
  const longest = Math.max(0, ...lines.map(({ length }) => length));
  const rounds = Array.from({ length: Math.min(longest, most) }, (_, round) =>
    lines.flatMap((line) => line.slice(round, round + 1)),
  );
  return rounds.flat().slice(0, most);
}
