import { failuresThat } from './failures.ts';

/** By its name the SDK finds it. */
export const failureConverter = failuresThat({ encodeCommonAttributes: true });
