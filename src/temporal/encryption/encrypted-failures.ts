import { failuresThat } from './failures.ts';

/** The SDK finds it by this name. */
export const failureConverter = failuresThat({ encodeCommonAttributes: true });
