import {KcriError} from '../base/errors.js';

/** Error of an invalid template, or of one that does not match the data. */
export class TemplateError extends KcriError {
  readonly code = 'TEMPLATE';
}

/**
 * Runs a part of a template's evaluation. Converts errors of the engine's limits, such as stack depth and string
 * length, to TemplateError.
 */
export function withinLimits<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TemplateError(`the template is too large (${error.message})`, {cause: error});
  }
}
