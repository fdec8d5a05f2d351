import {CriError, toJson, type CallObserver, type MessageTypes} from '../../cri/index.js';
import {systemClock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {HiddenValues} from './hidden-values.js';
import {maskedText, withoutSecrets} from './secrets.js';

/**
 * Shows each call: a line with the request, one with each message of the answer, one with how it failed, in
 * gRPC's own words. Secrets are masked, those that are `hidden` and what looks like one.
 */
export function debugLog(write: (line: string) => void, hidden: HiddenValues): CallObserver {
  const oneLine = (name: keyof MessageTypes, message: unknown): string =>
    JSON.stringify(hidden.maskData(withoutSecrets(toJson(name, message as MessageTypes[typeof name]))));
  return ({method, request, endpoint}) => {
    const startedAt = systemClock.now();
    const took = (): string => `${systemClock.now() - startedAt}ms`;
    write(`> ${method.rpc} ${oneLine(method.request, request)}`);
    return {
      received: (message) => {
        write(`< ${method.rpc} ${oneLine(method.response, message)} (${took()})`);
      },
      ended: (error) => {
        if (error === undefined) return;
        const where = error instanceof CriError ? ` (${endpoint}, ${took()})` : ` (${took()})`;
        write(`! ${method.rpc} ${hidden.mask(maskedText(messageOf(error)))}${where}`);
      },
    };
  };
}
