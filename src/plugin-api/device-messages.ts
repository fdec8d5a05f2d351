import {decodeMessage, encodeMessage} from '../cri/codec.js';
import {SchemaSet} from '../cri/message-schema.js';
import {WireError} from '../cri/wire-format.js';
import {ENUMS, MESSAGES} from './gen/device-plugin/schema.js';
import type {ContainerAllocateResponse} from './gen/device-plugin/types.js';

/** Schemas of the device plugin API. */
export const DEVICE_SCHEMAS = new SchemaSet({messages: MESSAGES, enums: ENUMS});

const ALLOCATION = 'ContainerAllocateResponse';

/** Returns the bytes of a container's allocation, as checkpoints hold it. */
export function encodeAllocation(response: ContainerAllocateResponse): Buffer {
  return encodeMessage(DEVICE_SCHEMAS.message(ALLOCATION), {...response});
}

/** Reads a container's allocation; undefined if the bytes are not one. */
export function decodeAllocation(bytes: Uint8Array): ContainerAllocateResponse | undefined {
  try {
    return decodeMessage(DEVICE_SCHEMAS.message(ALLOCATION), Buffer.from(bytes)) as ContainerAllocateResponse;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
