import {SystemError} from '../../../base/errors.js';

/** Failure of a manager of the node that rejects the pod with a reason of its own (admission.Error). */
export class AdmissionError extends SystemError {
  /** Reason of the pod's status, such as `SMTAlignmentError`. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
