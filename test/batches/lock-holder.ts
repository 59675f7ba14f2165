// Holds the lock of a deployment until it is killed: node lock-holder.ts <places> <deployment>.

import { lockPlaces } from '../../src/batches/places-lock.ts';

const [places = '', deployment = ''] = process.argv.slice(2);
await lockPlaces(places, deployment);
process.send?.('held');
setInterval(() => undefined, 60_000);
