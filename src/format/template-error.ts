import {KcriError} from '../base/errors.js';

/** A template that can't be read, or that does not fit the data. */
export class TemplateError extends KcriError {
  readonly code = 'TEMPLATE';
}
