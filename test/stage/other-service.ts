// A run service that looks as if it had another clock, or lacked a part of its API. With another clock, all times in its answers and
// their Date header are changed.

import { openRelay, type Relay } from './relay.ts';

const TIME = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"/g;

/** `shown` maps a real time to the time of the other clock, both in milliseconds since 1970. */
export const openOtherClock = (base: string, shown: (at: number) => number): Promise<Relay> =>
  openRelay(base, async (_, pass) => {
    const answer = await pass();
    const body = String(answer.body).replaceAll(TIME, (time) =>
      JSON.stringify(new Date(shown(Date.parse(JSON.parse(time) as string)))),
    );
    const date = new Date(shown(Date.now())).toUTCString();
    return { ...answer, body, headers: { ...answer.headers, date } };
  });

/** The local service without its profile, which says that it is a rehearsal. */
export const openRealService = (base: string): Promise<Relay> =>
  openRelay(base, (request, pass) => pass(request.url.includes('/platform/profile') ? '/none' : request.url));
