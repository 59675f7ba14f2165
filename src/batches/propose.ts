// Proposes a new batch: every command, program and workflow that creates a batch comes through here. A proposal holds the copy of the
// sheet and everything learned about it; its caller disposes of it. Stages: copy the sheet, look for a batch of the same bytes
// (offline), ask the service, then lay out the rows and compare them with other batches (`draft-stages.ts`). Nothing is bought or uploaded
// until the proposal is carried out.

import { dirname } from 'node:path';
import type { Config } from '../host/settings/config.ts';
import { problem } from '../errors/error.ts';
import { definedOnly } from '../options/defined-only.ts';
import { keptIn } from '../options/table.ts';
import { LOCAL } from '../host/local-address.ts';
import { countToSend } from '../store/batch-file.ts';
import { locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { createParams, type BatchRequest } from './batch-request.ts';
import { checkRequest, checkSettings, type Reached, type Where } from './batch-spec.ts';
import { copyAgain, copySheet, type CopyParams, type SheetCopy } from './copy-sheet.ts';
import { Incoming, preparingIn, type Preparing } from './incoming-folder.ts';
import { NewBatch } from './new-batch.ts';
import type { CreatedBatch } from './make-batch.ts';
import type { CreateParams } from './draft-stages.ts';
import type { DraftBatch } from './laid-out-sheet.ts';
import type { LongComparison } from './long-comparison.ts';
import { addressPages } from './files/addressed-pages.ts';
import { LocalFiles, type Uploading } from './files/local-files.ts';
import { isOwnBatch } from './known-places.ts';
import { readFromSheet, SheetOfFiles, type FromRequest, type FromSheet } from './from/from-sheet.ts';
import {
  QuestionsOpen,
  unanswered,
  type Answers,
  type ChangedDeployment,
  type EarlierBatches,
  type Patch,
  type Question,
  type RowsElsewhere,
} from './questions.ts';
import { withAgreed, withStated } from './agreed-options.ts';
import { findBatchOfResults } from './reuse/batch-of-results.ts';
import { changedBefore } from './reuse/changed-deployment.ts';
import { findUnchanged } from './reuse/reuse.ts';
import type { Proposed } from './settle.ts';

export type ProposalSource =
  /** `-` reads a stream. */
  | { readonly path: string; readonly copying: Omit<CopyParams, keyof Preparing> }
  | { readonly from: Omit<FromRequest, keyof Preparing | 'options'> };

type KnownBatch = { readonly batch: string; readonly mark: string; readonly folder: string };

export type Needed = Reached & {
  readonly batches: { withContent(content: string): Promise<readonly KnownBatch[]> };
};

export type ProposalContext = {
  readonly config: Config;
  /** A plan is never carried out and needs no server except the local run service. */
  readonly isPlan?: boolean;
  /** Whether a file lists every problem of a refused sheet (default: yes). */
  readonly listsErrors?: boolean | undefined;
  /** Connects to the servers, or starts them, when first needed: a refused sheet needs none. */
  readonly servers: () => Promise<Needed>;
  readonly isCluster: Where['isCluster'];
  /** Reports how the rows of another batch become a sheet. */
  readonly onFrom?: (from: FromSheet) => void;
  readonly onUpload?: (
    from: FromSheet,
    done?: { readonly uploaded: number; readonly endsAt: number | undefined },
  ) => void;
  /** Reports the progress of uploading local files. */
  readonly onUploading?: (uploading: Uploading) => void;
  /** Reports why a comparison with other batches takes long. */
  readonly onComparing?: (why: LongComparison) => void;
  readonly signal?: AbortSignal;
};

type ProposalInput = {
  readonly request: BatchRequest;
  readonly source: ProposalSource;
  readonly around: ProposalContext;
};

export class Proposal implements Proposed<CreatedBatch>, AsyncDisposable {
  #input: ProposalInput;
  readonly #incoming: Incoming;
  #copy: SheetCopy | undefined;
  #from: FromSheet | undefined;
  #files: SheetOfFiles | undefined;
  #local: LocalFiles | undefined;
  #results: BatchFolder | undefined;
  #unchanged: BatchFolder | undefined;
  #changed: ChangedDeployment | undefined;
  #new: NewBatch | undefined;
  #answers: Answers;
  #again: boolean;

  private constructor(input: ProposalInput, incoming: Incoming) {
    [this.#input, this.#incoming] = [whereMoved(input), incoming];
    this.#answers = input.request.answers ?? {};
    this.#again = input.request.again;
  }

  /** Throws the errors of the request, the sheet and the service; open decisions are in `questions`. */
  static async of(input: ProposalInput): Promise<Proposal> {
    const { request, around } = input;
    checkRequest(request);
    await checkSettings(request.settings, around);
    const proposal = new Proposal(input, await Incoming.make(preparingIn(around.config)));
    try {
      await proposal.#read();
      return proposal;
    } catch (error) {
      await proposal[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** An existing batch of the same request or the same rows. */
  get existing(): BatchFolder | undefined {
    return this.#unchanged ?? this.#new?.same;
  }

  /** The batch to create; undefined if a batch of the same bytes exists, or while a question prevents the layout. */
  get draft(): DraftBatch | undefined {
    return this.#new?.draft;
  }

  get shown(): unknown {
    return this.existing === undefined ? this.draft : undefined;
  }

  get earlier(): EarlierBatches {
    return this.#unchanged === undefined ? (this.#new?.earlier ?? {}) : { same: this.#unchanged.batch };
  }

  get ofBatch(): BatchFolder | undefined {
    return this.#results;
  }

  get questions(): readonly Question[] {
    if (this.#unchanged !== undefined) return [];
    const own: Question[] = [];
    if (this.#results !== undefined) {
      const { batch, file } = this.#results;
      own.push({ id: 'ofBatch', sheet: this.#copy?.name ?? '', batch, file });
    }
    if (this.#changed !== undefined && !this.#again && this.existing === undefined)
      own.push({ id: 'changed', ...this.#changed });
    return [...unanswered(own, this.#answers), ...(this.#new?.questions ?? [])];
  }

  /** Adds answers and redoes only the stages that they change. */
  async with(...patches: readonly Patch[]): Promise<Proposal> {
    await this.#restore();
    for (const patch of patches) {
      if ('into' in patch) throw new Error('rows that go into a batch are another request');
      this.#answers = { ...this.#answers, ...patch.answers };
      this.#again ||= patch.again ?? false;
      const { options, stated } = patch;
      if (options !== undefined) this.#readAs((own) => withAgreed(own, options));
      if (stated !== undefined) this.#readAs((own) => withStated(own, stated));
      if (patch.settings !== undefined) await this.#limit(patch.settings);
      await this.#new?.answer(patch.answers, this.#again);
    }
    if (this.#new === undefined && this.#unchanged === undefined && this.questions.length === 0)
      await this.#layOut();
    return this;
  }

  /** Creates the batch. Throws {@link QuestionsOpen} while a question is open, including one that a faster command has raised. */
  async carryOut(): Promise<CreatedBatch> {
    const { around } = this.#input;
    if (this.#unchanged !== undefined) return { ...this.#unchanged, laidOut: undefined };
    await this.#restore();
    if (this.questions.length > 0 || this.#new === undefined) throw new QuestionsOpen(this.questions);
    if (this.#new.same === undefined) {
      const { batches } = await around.servers();
      await this.#upload();
      this.#new.addElsewhere(await this.#onCluster({ batches }));
    }
    return this.#new.carryOut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#drop();
    await this.#incoming[Symbol.asyncDispose]();
  }

  /** Disposes of everything derived from the copy of the sheet. */
  #drop(): void {
    this.#new?.[Symbol.dispose]();
    this.#files?.[Symbol.dispose]();
    this.#local?.[Symbol.dispose]();
    [this.#new, this.#files, this.#local] = [undefined, undefined, undefined];
  }

  /** Reads the sheet again if its copy was removed while the user was deciding. */
  async #restore(): Promise<void> {
    if (this.#unchanged !== undefined || !(await this.#incoming.restore())) return;
    const isLaidOut = this.#new !== undefined;
    this.#drop();
    this.#copy = await this.#copied(this.#copy);
    if (isLaidOut) await this.#layOut();
  }

  async #copied(before?: SheetCopy): Promise<SheetCopy | undefined> {
    const { request, source, around } = this.#input;
    const preparing = preparingIn(around.config);
    const { folder } = this.#incoming;
    if ('from' in source) {
      const isOwn = isOwnBatch(around.config, source.from.batchFolder.file);
      const fromRequest = { ...preparing, ...source.from, isOwn, options: request.options };
      this.#from = await readFromSheet(fromRequest, folder);
      const { copy } = this.#from;
      if (before !== undefined && before.sha256 !== copy.sha256) throw problem('E107', { name: copy.name });
      around.onFrom?.(this.#from);
      return copy;
    }
    const copying = { ...preparing, ...source.copying };
    return before === undefined
      ? copySheet(source.path, copying, folder)
      : copyAgain(before, source.path, copying, folder);
  }

  async #read(): Promise<void> {
    const { request, source, around } = this.#input;
    this.#copy = await this.#copied();
    // A plan shows the contents of the sheet even if a batch of it exists.
    const isNew = this.#again || request.madeFor !== undefined || (around.isPlan && 'path' in source);
    this.#unchanged = isNew ? undefined : await this.#findUnchanged();
    if (this.#unchanged !== undefined && !around.isPlan) return;
    if ('path' in source && !this.#again && this.#answers.earlier === undefined)
      this.#results = await this.#findResults();
    // A sheet of results has their columns, which only the user can map.
    if (this.questions.length === 0 || around.isPlan) await this.#layOut();
  }

  async #limit(limit: { readonly maxCostNano: number }): Promise<void> {
    const { request } = this.#input;
    this.#input = { ...this.#input, request: { ...request, settings: { ...request.settings, ...limit } } };
    await this.#new?.limit(limit.maxCostNano);
  }

  /** Reads the sheet with other options and drops the layout of the previous ones. */
  #readAs(change: (options: BatchRequest['options']) => BatchRequest['options']): void {
    const { request } = this.#input;
    this.#input = { ...this.#input, request: { ...request, options: change(request.options) } };
    this.#new?.[Symbol.dispose]();
    this.#new = undefined;
  }

  #findUnchanged(): Promise<BatchFolder | undefined> {
    const { request, around } = this.#input;
    const { options, name, service, deployment } = request;
    const unchanged = {
      copy: this.#copy as SheetCopy,
      options,
      base: service.base,
      ...(name === undefined ? {} : { name }),
      ...(this.#from === undefined ? {} : { request: this.#from.from.request }),
    };
    return findUnchanged(around.config.out, unchanged, deployment);
  }

  async #findResults(): Promise<BatchFolder | undefined> {
    const { request, around } = this.#input;
    const { options } = request;
    const results = await findBatchOfResults({
      out: around.config.out,
      copy: this.#copy as SheetCopy,
      reading: { ...keptIn('reading', options), ...definedOnly({ sheet: options.sheet }) },
      deployment: request.deployment,
    });
    // Rows cannot be added to a batch with a ladder.
    return results?.file.sheet.options.ladder === undefined ? results : undefined;
  }

  /** Starts a local service before asking it. Checks the pool first, because a batch cannot change its pool later. */
  async #layOut(): Promise<void> {
    const { request, around } = this.#input;
    const { config, isPlan = false } = around;
    if (request.service.base === LOCAL) await around.servers();
    if (!isPlan) await checkSettings(request.settings, { ...around, reach: around.servers });
    const params = await createParams(config, this.#copy as SheetCopy, request);
    const common = {
      ...params,
      places: config.places,
      home: (await around.isCluster()) ? undefined : config.home,
      again: this.#again,
      answers: this.#answers,
      onComparing: around.onComparing,
      listsErrors: around.listsErrors,
      ...(around.signal && { signal: around.signal }),
    };
    if (this.#from !== undefined) this.#files = await SheetOfFiles.of(config, this.#from, common);
    const { beside } = this.#copy as SheetCopy;
    const { deadlineAt } = request.settings;
    this.#local ??= new LocalFiles({
      config,
      service: params.service,
      beside,
      deadlineAt,
      signal: around.signal,
    });
    const files = this.#local;
    const newParams: CreateParams = { ...common, files, ...this.#files?.params };
    this.#new = await NewBatch.of(newParams);
    if (request.madeFor === undefined) this.#changed = await changedBefore(config, newParams);
  }

  /** Batches of the same rows that workers of the cluster run in other places. A rehearsal costs nothing, so it skips the check. */
  async #onCluster({ batches }: Pick<Needed, 'batches'>): Promise<readonly RowsElsewhere[]> {
    const { config, isCluster } = this.#input.around;
    const { draft, compared } = this.#new as NewBatch;
    const isAnswered = this.#again || this.#answers.elsewhere === 'again';
    if (draft === undefined || isAnswered || draft.file.service.rehearsal || !(await isCluster())) return [];
    const sameContent = await batches.withContent(draft.content);
    return sameContent
      .filter(({ mark, batch, folder }) => !compared.has(mark) && folder !== locationOf(config.out, batch))
      .map(({ batch, folder }) => ({ batch, out: dirname(folder), rows: countToSend(draft.file.sheet) }));
  }

  /** Uploads files only now, and writes their addresses into the rows. */
  async #upload(): Promise<void> {
    const { draft } = this.#new as NewBatch;
    const hasResults = await this.#uploadResults();
    await this.#local?.upload(this.#input.around.onUploading);
    const hasLocal = this.#local?.found !== undefined;
    if (draft === undefined || !(hasResults || hasLocal)) return;
    const { layout, file } = draft;
    await addressPages(
      { layout, pages: file.sheet.pages, file: file.sheet.name },
      (sha256) => this.#local?.addressOf(sha256) ?? this.#files?.addressOf(sha256),
    );
  }

  /** Whether rows have files of the batch from which they were made. */
  async #uploadResults(): Promise<boolean> {
    const { onUpload } = this.#input.around;
    const [from, files] = [this.#from, this.#files];
    if (files === undefined || from?.isAddressed !== true) return false;
    onUpload?.(from);
    const { uploaded, endsAt, copy } = await files.upload();
    onUpload?.(from, { uploaded, endsAt });
    this.#new?.takeCopy(copy);
    return true;
  }
}

/** Moves the condition of a sheet made from results to the results, where it can use all their columns. */
function whereMoved({ request, source, around }: ProposalInput): ProposalInput {
  if ('path' in source) return { request, source, around };
  const { where, ...options } = request.options;
  const from = where === undefined ? source.from : { where, ...source.from };
  return { request: { ...request, options }, source: { from }, around };
}

export const propose = (
  request: BatchRequest,
  source: ProposalSource,
  around: ProposalContext,
): Promise<Proposal> => Proposal.of({ request, source, around });
