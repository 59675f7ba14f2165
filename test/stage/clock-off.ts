// Loaded before a process: its clock is off by so many milliseconds.

const OFF_MS = Number(process.env['CLOCK_OFF_MS']);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given: readonly []) {
    super(...(given.length === 0 ? ([RealDate.now() + OFF_MS] as unknown as []) : given));
  }

  static override now(): number {
    return RealDate.now() + OFF_MS;
  }
} as DateConstructor;
