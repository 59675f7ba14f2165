// Tells a fault of one object from a fault of its bucket: other batches of the place can still be used.

import { isRunsheetError } from '../errors/error.ts';

/** The cause of an E612 that other objects of the bucket do not have. */
export class ObjectFault extends Error {
  override readonly name = 'ObjectFault';
}

export const isOfOneObject = (error: unknown): boolean =>
  isRunsheetError(error, 'E612') && error.cause instanceof ObjectFault;
