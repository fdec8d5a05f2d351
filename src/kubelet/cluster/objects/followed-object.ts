import type {KcriError} from '../../../base/errors.js';
import type {DataObject} from './object-reference.js';

/** An object of the API server that pods refer to, and the detection of its changes. */
export interface FollowedObject {
  /** Last known state of the object; undefined if it does not exist, or is not known. */
  readonly object: DataObject | undefined;
  /** Reason why nothing is known about the object; undefined if it is known, or known to be missing. */
  readonly failure: KcriError | undefined;
  /**
   * Resolves when the state of the object is known as well as it can be now. Rejects with the
   * signal's reason and programming errors. */
  load(signal: AbortSignal): Promise<void>;
  /** Called when another pod starts to refer to the object. */
  referenced(): void;
  /** Stops requests about an object that has not been used for a while, until it is loaded again. */
  stopIfIdle(): void;
  /** Ends all requests about the object. */
  stop(): void;
}
