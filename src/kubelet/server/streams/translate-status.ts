import {parseJsonObject} from '../../../base/parse-json-object.js';

/**
 * Returns the Status for the client of a translated session for that of the runtime, both as JSON. As in a kubelet, the
 * runtime's failures become internal errors of the translation; exit codes and success remain (StreamTranslatorHandler).
 */
export function translateStatus(status: string): string {
  const {status: outcome, reason, message} = parseJsonObject(status);
  const hasRun = outcome === 'Success' || reason === 'NonZeroExitCode';
  return hasRun ? status : internalError(typeof message === 'string' ? message : status);
}

/** Returns the Status of an internal error as JSON (errors.NewInternalError). */
export function internalError(message: string): string {
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: {causes: [{message}]},
    code: 500,
  });
}
