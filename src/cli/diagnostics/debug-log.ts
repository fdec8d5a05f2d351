import {CriError, toJson, type CallObserver, type MessageTypes} from '../../cri/index.js';
import {systemClock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {ValueRedactor} from '../redaction/value-redactor.js';
import {maskSecretText, maskSecrets} from '../redaction/mask-secrets.js';

/**
 * Creates an observer that writes one line for the request of each call, one for each response message, and one for a
 * failure with gRPC's own message. Masks the secrets in `hidden` and texts that resemble a secret.
 */
export function createDebugLog(write: (line: string) => void, hidden: ValueRedactor): CallObserver {
  const oneLine = (name: keyof MessageTypes, message: unknown): string =>
    JSON.stringify(hidden.maskData(maskSecrets(toJson(name, message as MessageTypes[typeof name]))));
  return ({method, request, endpoint}) => {
    const startedAt = systemClock.monotonic();
    const took = (): string => `${systemClock.monotonic() - startedAt}ms`;
    write(`> ${method.rpc} ${oneLine(method.request, request)}`);
    return {
      received: (message) => {
        write(`< ${method.rpc} ${oneLine(method.response, message)} (${took()})`);
      },
      ended: (error) => {
        if (error === undefined) return;
        const where = error instanceof CriError ? ` (${endpoint}, ${took()})` : ` (${took()})`;
        write(`! ${method.rpc} ${hidden.mask(maskSecretText(messageOf(error)))}${where}`);
      },
    };
  };
}
