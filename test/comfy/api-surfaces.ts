// The differences between the surfaces of the Comfy API v2: labels, lists, files.

import { filtersIn, labelsFrom } from './api-labels.ts';
import { jobShown, listItem, Refused, type Progress, type StoredJob } from './api-shapes.ts';

/** `old-deployment`: its gateway is older than labels, keeps none, and ignores filters. */
export type Mode = 'deployment' | 'old-deployment' | 'cloud' | 'proxy';

type KnownJobs = readonly (readonly [StoredJob, Progress])[];

export type Surface = {
  readonly hasHealth: boolean;
  /** Whether the content of an asset is elsewhere, under a signed address. */
  readonly redirects: boolean;
  /** Whether it hands the name of a file to ComfyUI only after `content_type` was sent with it. */
  readonly needsContentType: boolean;
  /** The stored form of a submission's labels. Throws `Refused`. */
  readonly kept: (metadata: unknown) => unknown;
  /** Throws `Refused`. */
  readonly list: (base: string, jobs: KnownJobs, query: URLSearchParams) => object;
};

const MAX_METADATA_BYTES = 1_024;

const hosted = { hasHealth: false, redirects: true, needsContentType: true };

export const SURFACES: Readonly<Record<Mode, Surface>> = {
  deployment: { ...hosted, kept: labelsFrom, list: (_, jobs, query) => page(filtered(jobs, query), query) },
  'old-deployment': { ...hosted, kept: () => undefined, list: (_, jobs, query) => page(jobs, query) },
  cloud: {
    ...hosted,
    kept: (metadata) => {
      if (metadata === undefined || metadata === null) return undefined;
      throw new Refused(422, 'metadata_not_supported', 'labels are not supported here');
    },
    list: () => {
      throw new Refused(501, 'not_implemented', 'jobs are not listed here');
    },
  },
  proxy: {
    hasHealth: true,
    redirects: false,
    needsContentType: false,
    kept: (metadata) => {
      if (metadata === undefined || metadata === null) return undefined;
      if (typeof metadata !== 'string')
        throw new Refused(422, 'invalid_request', "'metadata' must be a string (opaque label).");
      if (Buffer.byteLength(metadata) > MAX_METADATA_BYTES)
        throw new Refused(422, 'invalid_request', "'metadata' exceeds 1024 UTF-8 bytes.");
      return metadata;
    },
    list: (base, jobs, query) => {
      const newest = jobs.slice(0, limitIn(query));
      return { jobs: newest.map(([job, progress]) => proxyJob(base, job, progress)), truncated: false };
    },
  },
};

/** The proxy knows no times, and its jobs have no metrics. */
export function proxyJob(base: string, job: StoredJob, progress: Progress): Record<string, unknown> {
  const { metrics: _, ...shown } = jobShown(base, job, progress);
  return { ...shown, started_at: null, completed_at: null, outputs_reused: false };
}

function filtered(jobs: KnownJobs, query: URLSearchParams): KnownJobs {
  const filters = filtersIn(query);
  return jobs.filter(([{ metadata }]) =>
    filters.every(([key, value]) => (metadata as Record<string, string> | undefined)?.[key] === value),
  );
}

/** The cursor names the last job of the page before. */
function page(jobs: KnownJobs, query: URLSearchParams): object {
  const limit = limitIn(query);
  const cursor = query.get('cursor');
  const before = cursor === null ? -1 : jobs.findIndex(([{ id }]) => cursorOf(id) === cursor);
  if (cursor !== null && before < 0) throw new Refused(400, 'invalid_cursor');
  const shown = jobs.slice(before + 1, before + 1 + limit);
  const last = shown.at(-1)?.[0].id;
  const isMore = before + 1 + limit < jobs.length;
  return {
    jobs: shown.map(([job, progress]) => listItem(job, progress)),
    ...(isMore && last !== undefined && { next_cursor: cursorOf(last) }),
  };
}

const cursorOf = (id: string): string => Buffer.from(`after ${id}`).toString('base64url');

const LISTED = { usual: 50, most: 100 };

function limitIn(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? LISTED.usual);
  if (!Number.isInteger(limit) || limit < 1 || limit > LISTED.most)
    throw new Refused(400, 'invalid_request', `'limit' must be between 1 and ${LISTED.most}.`);
  return limit;
}
