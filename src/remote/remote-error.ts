import {KcriError} from '../base/errors.js';

/** Error of a connection to a node through ssh that could not be opened, or that was lost. */
export class RemoteError extends KcriError {
  readonly code = 'REMOTE';
}
