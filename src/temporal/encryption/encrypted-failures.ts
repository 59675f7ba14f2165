import { failuresThat } from './failures.ts';

/** The SDK finds the converter by this name. */
export const failureConverter = failuresThat({ encodeCommonAttributes: true });
