import { laneOf, numberOf, type Lane, type Segment } from '../batch/state/lanes.ts';

/** A set of places of all lanes, one byte for each place. */
export class Places {
  readonly #lanes: readonly Uint8Array[];

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes.map(({ segments }) => new Uint8Array(lastIn(segments) + 1));
  }

  /** undefined if no lane has such a place. */
  has(place: number): boolean | undefined {
    const byte = this.#lanes[laneOf(place)]?.[numberOf(place)];
    return byte === undefined || numberOf(place) === 0 ? undefined : byte === 1;
  }

  add(place: number): void {
    const lane = this.#lanes[laneOf(place)];
    if (lane !== undefined) lane[numberOf(place)] = 1;
  }

  /** The highest number in the lane. */
  last(lane: number): number {
    return this.#lanes[lane]?.lastIndexOf(1) ?? 0;
  }
}

const lastIn = (segments: readonly Segment[]): number =>
  segments.reduce((most, { first, count }) => Math.max(most, first + count - 1), 0);
