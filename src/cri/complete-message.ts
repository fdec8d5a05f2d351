import type {Init} from './call-options.js';
import {decode, encode} from './codec.js';
import type {MessageTypes} from './gen/types.js';

/** Returns a message with the default values of absent fields, as if it had been received; sub-messages stay absent. */
export function completeMessage<Name extends keyof MessageTypes>(
  name: Name,
  message: Init<MessageTypes[Name]>,
): MessageTypes[Name] {
  return decode(name, encode(name, message));
}
