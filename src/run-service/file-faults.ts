// Why a file of a run does not come. What the file is at fault for ends a row some day; what its host is at fault for passes.

/** `tries` is how often it is worth a try, one after the other, before the fault counts: 1 where another gains nothing. */
class Fault extends Error {
  readonly tries: number;

  constructor(reason: string, tries: number) {
    super(reason);
    this.tries = tries;
  }
}

/** The file, or the run that should have it: it is gone, refused, too large. */
export class FileFault extends Fault {
  override readonly name = 'FileFault';
}

/** The host of the file, or the run service: it is away, slow or errs. */
export class HostFault extends Fault {
  override readonly name = 'HostFault';
  readonly host: string;

  constructor(host: string, reason: string, tries: number) {
    super(reason, tries);
    this.host = host;
  }
}

/** Links may have expired, and hosts have moments: a few tries within some seconds. */
export const FEW_TRIES = 5;
export const ONE_TRY = 1;
