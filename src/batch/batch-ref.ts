// How a batch is named.

/** Its name, and the birth mark that tells it from every other batch of that name. */
export type BatchName = { readonly batch: string; readonly mark: string };

/** And where its files are. */
export type BatchRef = BatchName & { readonly folder: string };
