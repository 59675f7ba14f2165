// The port to a vendor of hosted models.

import { VENDOR_FACTS, type Vendor } from '../../../options/facts/server-kind.ts';
import { KEY_LIVES_MS } from '../http.ts';
import type { Backend, Guarantee, Seats } from '../backend.ts';
import { answerFile } from './answer-files.ts';
import type { ReadRuns } from './read-runs.ts';
import { dataUri, SUBMIT } from './vendor-answers.ts';

/** `shownMs`: how long a list shows a run. `skewMs`: by how much the clock of the vendor may differ from ours. */
export const LIST = { shownMs: 3_600_000, skewMs: 300_000 };

/** The requests of one vendor. */
export type VendorApi = Pick<Backend, 'describe' | 'submit' | 'close' | 'refIn'> &
  Required<Pick<Backend, 'model'>> & {
    cancel(id: string): Promise<void>;
    /** The answer of a run that has ended; undefined if the vendor has deleted it. */
    outputOf(ref: string): Promise<unknown>;
  };

type HostedVendor = {
  readonly kind: Vendor;
  readonly url: string;
  readonly api: VendorApi;
  /** The runs that the vendor has accepted. */
  readonly runs: Pick<ReadRuns, 'accepted' | 'poll' | 'forget' | 'seats'>;
  /** A number that the user has set. */
  readonly seats?: number | undefined;
  readonly put?: Backend['put'];
};

export const hostedVendor = ({ kind, url, api, runs, seats, put = dataUri }: HostedVendor): Backend => ({
  kind,
  get guarantee() {
    return GUARANTEES[VENDOR_FACTS[kind].reveals]();
  },
  get seats(): Seats {
    return seats === undefined ? runs.seats : { kind: 'given', count: seats };
  },
  isPolled: true,
  mayBlock: true,
  describe: () => api.describe(),
  model: (name) => api.model(name),
  submit: async (run, work) => {
    const submitted = await api.submit(run, work);
    if (submitted.kind === 'accepted' && submitted.ref !== undefined) runs.accepted(run.id, submitted.ref);
    return submitted;
  },
  poll: (sent) => runs.poll(sent),
  cancel: (id) => api.cancel(id),
  forget: (id) => runs.forget(id),
  ...(api.refIn !== undefined && { refIn: api.refIn.bind(api) }),
  file: (ref) => answerFile(ref, url, (run) => api.outputOf(run)),
  put,
  close: () => api.close(),
});

const GUARANTEES: Readonly<Record<(typeof VENDOR_FACTS)[Vendor]['reveals'], () => Guarantee>> = {
  list: () => ({ lost: 'asked', gone: 'unknown', isSlow: true, forMs: LIST.shownMs - LIST.skewMs }),
  key: () => ({ lost: 'same-key', ms: KEY_LIVES_MS, provesAbsence: false, gone: 'unknown' }),
  webhook: () => {
    const boundMs = SUBMIT.queueMs + SUBMIT.slackMs;
    return { lost: 'told-or-unknown', boundMs, isAfterLimit: true, gone: 'unknown' };
  },
};
