import {KcriError} from '../../base/errors.js';

/** A template that can't be read, or that does not fit the data; the message has the shape of Go's. */
export class TemplateError extends KcriError {
  readonly code = 'TEMPLATE';
}
