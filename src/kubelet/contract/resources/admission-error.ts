import {KcriError} from '../../../base/errors.js';

/** Reason of its own why a manager of the node does not admit a pod (admission.Error). */
export class AdmissionError extends KcriError {
  readonly code = 'ADMISSION';
  /** Reason of the rejection, such as `TopologyAffinityError`. */
  readonly reason: string;

  constructor(reason: string, message: string, hint: string) {
    super(message, {hint});
    this.reason = reason;
  }
}
