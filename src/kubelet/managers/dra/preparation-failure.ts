import {messageOf} from '../../../base/errors.js';
import type {PreparationFailure} from '../../contract/node-manager.js';

/** Returns the event of a pod whose claims cannot be prepared. */
export function preparationFailure(error: unknown): PreparationFailure {
  return {
    reason: 'FailedPrepareDynamicResources',
    message: `Failed to prepare dynamic resources: ${messageOf(error)}`,
  };
}
