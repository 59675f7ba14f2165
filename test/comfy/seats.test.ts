// How many runs a server gets at the same time.

import { expect, it } from 'vitest';
import { SeatCount } from '../../src/run-service/executors/queueing/seats.ts';
import { UsualTimes } from '../../src/run-service/executors/queueing/usual-times.ts';

const MINUTE = 60_000;

it('a server whose seats grow gets one run more whenever all are taken, until it is full', () => {
  const seats = new SeatCount(() => ({ kind: 'grown', first: 2 }), new UsualTimes());
  seats.took(1, 0);
  expect(seats.count).toBe(2);
  for (const load of [2, 3, 4]) seats.took(load, 0);
  expect([seats.count, seats.atOnce]).toEqual([5, 5]);
  seats.full(4, 0);
  for (let load = 0; load < 9; load += 1) seats.took(load, MINUTE - 1);
  expect(seats.count).toBe(4);
  seats.took(4, MINUTE);
  expect(seats.count).toBe(5);
  seats.full(0, MINUTE);
  expect(seats.count).toBe(1);
});

it('a server has the seats that are given, or one and those ahead', () => {
  const fixedSeats = new SeatCount(() => ({ kind: 'given', count: 20 }), new UsualTimes());
  fixedSeats.took(20);
  fixedSeats.full(3);
  expect([fixedSeats.count, fixedSeats.atOnce]).toEqual([20, 20]);
  const ahead = new SeatCount(() => ({ kind: 'ahead' }), new UsualTimes());
  expect([ahead.count, ahead.atOnce]).toEqual([2, 1]);
});
