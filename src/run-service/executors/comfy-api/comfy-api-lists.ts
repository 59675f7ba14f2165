// The lists of a Comfy API: the newest jobs, which trigger earlier polls, and the jobs of one run. A list
// ends no run, because its items have no outputs.

import { z } from 'zod';
import { Unreachable, type Sent } from '../backend.ts';
import { problemIn, readIn } from './comfy-api-answers.ts';
import { filterFor, isOf, labelIn, type Labels } from './comfy-api-labels.ts';
import type { ServerAnswer } from '../http.ts';

/** The service refuses larger pages. */
export const MAX_LISTED = 100;
/** A bound above the number of pages that one run can fill. */
const MAX_PAGES = 20;

const itemSchema = z.object({
  id: z.string(),
  status: z.string().nullish().catch(undefined),
  metadata: z.unknown().optional(),
  created_at: z.string().nullish().catch(undefined),
});
export type Item = z.output<typeof itemSchema>;

const pageSchema = z.object({
  jobs: z
    .array(itemSchema.or(z.unknown().transform(() => undefined)))
    .nullish()
    .transform((jobs) => (jobs ?? []).filter((job) => job !== undefined)),
  next_cursor: z.string().nullish().catch(undefined),
});
type Page = z.output<typeof pageSchema>;

/** The vendor's demo accepts jobs from anybody and has no lists. */
const NO_LIST = { statuses: [404, 405, 501], codes: ['not_implemented', 'public_deployment_no_list'] };

export class Lists {
  readonly #jobs: string;
  readonly #read: (path: string) => Promise<ServerAnswer>;
  readonly #labels: Labels;
  /** undefined until it is known. */
  isThere: boolean | undefined;

  constructor(jobs: string, read: (path: string) => Promise<ServerAnswer>, labels: Labels) {
    [this.#jobs, this.#read, this.#labels] = [jobs, read, labels];
  }

  /** The newest jobs, at most `limit`; undefined for a service without lists. */
  async newest(limit: number): Promise<readonly Item[] | undefined> {
    return (await this.#page(`limit=${limit}`))?.jobs.slice(0, limit);
  }

  /** The job of a run; undefined if there is none. `isCertain`: all jobs of the run were searched. */
  async find(run: Sent): Promise<{ readonly item: Item | undefined; readonly isCertain: boolean }> {
    const filter = filterFor(run);
    const cursors = new Set<string>();
    for (let query = filter; cursors.size < MAX_PAGES;) {
      const page = await this.#page(query);
      const item = page?.jobs.find(({ metadata }) => isOf(metadata, run));
      // A gateway older than filters ignores them and would show all jobs, page after page.
      const isFiltered = page?.jobs.every(({ metadata }) => labelIn(metadata)?.run === run.id) === true;
      const cursor = page?.next_cursor;
      if (item !== undefined || !isFiltered || !cursor)
        return { item, isCertain: isFiltered && this.#labels.isKept };
      if (cursors.has(cursor)) throw new Unreachable('a list does not end');
      cursors.add(cursor);
      query = `${filter}&cursor=${encodeURIComponent(cursor)}`;
    }
    return { item: undefined, isCertain: false };
  }

  async #page(query: string): Promise<Page | undefined> {
    if (this.isThere === false) return undefined;
    const path = `${this.#jobs}?${query}`;
    const answer = await this.#read(path);
    const code = problemIn(answer)?.code;
    if (NO_LIST.statuses.includes(answer.status) || NO_LIST.codes.includes(code ?? '')) {
      this.isThere = false;
      return undefined;
    }
    const page = readIn(path, answer, pageSchema);
    this.isThere = true;
    for (const { metadata } of page.jobs) if (labelIn(metadata)) this.#labels.shown(metadata);
    return page;
  }
}
