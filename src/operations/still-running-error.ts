import {KcriError} from '../base/errors.js';

/** A running container or ready PodSandbox cannot be removed without --force. */
export class StillRunningError extends KcriError {
  readonly code = 'STILL_RUNNING';

  /** `target` is the kind and the quoted name of the running object, such as `container "web"`. */
  constructor(target: string) {
    super(`${target} is running, please stop it first`, {hint: 'use --force to stop and remove it'});
  }
}
