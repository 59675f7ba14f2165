import { problem, type RunsheetError } from '../errors/error.ts';

/** A file that another process replaced while this one worked on it. */
export const replacedMeanwhile = (place: string): RunsheetError =>
  problem('E612', {
    place,
    reason: 'another process has replaced it meanwhile',
    hint: 'nothing is lost: repeat the same command',
  });
