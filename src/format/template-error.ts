import {KcriError} from '../base/errors.js';

/** A template that can't be read, or that does not fit the data. */
export class TemplateError extends KcriError {
  readonly code = 'TEMPLATE';
}

/**
 * Does a part of a template's work. What is too much for the engine, a stack too deep or a text too long, is the
 * template's fault: a TemplateError.
 */
export function withinLimits<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TemplateError(`the template is too large to fill in (${error.message})`, {cause: error});
  }
}
