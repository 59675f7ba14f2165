// The reasons why a file cannot be downloaded. A fault of the file fails the row for good; a fault of the host is temporary.

/** For expired links and short outages: a few tries within seconds. */
export const FEW_TRIES = 5;
export const ONE_TRY = 1;

/** `tries`: after how many consecutive tries the fault counts; 1 if a retry cannot help. */
class Fault extends Error {
  readonly tries: number;

  constructor(reason: string, tries: number) {
    super(reason);
    this.tries = tries;
  }
}

/** A fault of the file or of its run: gone, refused or too large. */
export class FileFault extends Fault {
  override readonly name = 'FileFault';
  /** Whether the host does not have the file. */
  readonly isAbsent: boolean;

  constructor(reason: string, tries: number, isAbsent = false) {
    super(reason, tries);
    this.isAbsent = isAbsent;
  }
}

/** A run that succeeded without output. The fault lies in the run, not in a host. */
export class EmptyRun extends FileFault {
  constructor() {
    super('the run succeeded but produced no file', FEW_TRIES);
  }
}

/** A fault of the file's host or of the run service: unreachable, slow or failing. */
export class HostFault extends Fault {
  override readonly name = 'HostFault';
  readonly host: string;

  constructor(host: string, reason: string, tries: number) {
    super(reason, tries);
    this.host = host;
  }
}
